"""``rnnbounds experiment urnn``: can a URNN learn a contractive network from twice the states?"""

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

import torch
from torch.nn.functional import mse_loss

from rnnbounds.experiments import engine
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.trainer import Data, falling_rates, part_loss, seeded_generator

SIZES = (2, 4, 2)  # inputs, states and outputs of teachers
EPSILON = 0.01
TEST, CHECK = "test R²", "validation R²"


@torch.no_grad()
def draw_data(setting: Any, seed: int, make: type[Student] = Student) -> Data:
    """Outputs of a contractive network with noise, standardised: W = I − ε AᵀA/‖A‖², A and all
    other weights Gaussian."""
    normal = partial(torch.randn, generator=seeded_generator(seed, 1))
    teacher = make("RNN", SIZES, seed)
    for part in teacher.parameters():
        part.copy_(normal(part.shape))
    A = teacher.W.clone()
    teacher.W.copy_(torch.eye(len(A)) - EPSILON * A.mT @ A / torch.linalg.matrix_norm(A, 2) ** 2)
    x = normal((setting.sequences, setting.length, SIZES[0]))
    y = teacher(x)
    y = (y - y.mean((0, 1))) / y.var((0, 1)).mean().sqrt()
    return Data.split(x, y + normal(y.shape) / 10 ** (setting.decibels / 20), loss=mse_loss)


def run_unit(job: engine.Job, make: type[Student] = Student) -> engine.Run:
    """One student: R² = 1 − Σ(y − ŷ)²/Σ(y − mean)² of two parts."""
    unit, data = job.unit, draw_data(job.setting, job.unit.seed, make)
    student = make(unit.model, (SIZES[0], int(unit.variant), SIZES[2]), unit.seed)
    job.train(student, data, falling_rates(job.setting.steps), project=Student.project)
    figures = {}
    for name, part in ((TEST, "held out"), (CHECK, "validation")):
        variance = data.parts[part][1].var((0, 1), correction=0).mean()
        figures[name] = 1 - part_loss(student, data, part) / float(variance)
    return job.make_run(figures)


def score(runs: Sequence[engine.Run], kind: str, n: int, name: str) -> float:
    """The mean of a figure of the students of n units; −∞ if one is unknown."""
    some = engine.select_runs(runs, model=kind, variant=str(n))
    return fmean(-math.inf if (v := run.figures[name]) is None else v for run in some)


def judge_runs(runs: Sequence[engine.Run], setting: Any) -> engine.Outcome:
    """Each RNN of n units against the URNN of at most 2n that does best on validation."""
    reached, words = [], []

    for n in setting.hidden:
        sizes = [m for m in setting.hidden if m <= 2 * n]
        best = max(sizes, key=lambda m: score(runs, "URNN", m, CHECK))
        urnn, rnn = score(runs, "URNN", best, TEST), score(runs, "RNN", n, TEST)
        reached.append(urnn >= rnn)
        words.append(f"n = {n}, {urnn:.4f} against {rnn:.4f}")
    summary = (
        f"In {sum(reached)} of {len(reached)} cases the URNN reached the RNN's R² with at most "
        f"twice the states: {'; '.join(words)}."
    )
    return engine.Outcome("holds" if all(reached) else "does not hold", summary)


EXPERIMENT = engine.Experiment(
    name="urnn",
    conclusion="a URNN with twice the states learns as well as an RNN (Emami et al., Input-Output "
    "Equivalence of Unitary and Contractive RNNs)",
    rule="it holds if for every RNN of n units the URNN of at most 2n units that does best on "
    "validation has a mean test R² of at least the RNN's.",
    setting=engine.make_setting(
        sequences=60, length=400, hidden=(2, 4, 8), steps=400, decibels=15.0
    ),
    units=lambda s: engine.all_units(s, ["a contractive ReLU network"], KINDS, map(str, s.hidden)),
    work=run_unit,
    judge=judge_runs,
)
