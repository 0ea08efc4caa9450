"""``rnnbounds experiment urnn``: can a URNN learn a contractive network from twice the states?"""

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from statistics import fmean, pstdev
from typing import Any

import torch
from torch.nn.functional import mse_loss

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.record import Holds, Outcome, Run, make_setting, select_runs
from rnnbounds.experiments.trainer import Data, falling_rates, part_loss, seeded_generator

STATES, INPUTS, OUTPUTS = 4, 2, 2  # of teachers
EPSILON, ON, CLOSE = 0.01, 0.6, 0.02  # the share of time that a unit is on, and how closely
NOISES = {"noise at 15 dB": 15, "noise at 20 dB": 20}
TEST, CHECK = "test R²", "validation R²"


@torch.no_grad()
def draw_data(setting: Any, decibels: float, seed: int) -> Data:
    """Outputs of a contractive ReLU network with noise of that signal-to-noise ratio, standardised:
    W = I − ε AᵀA/‖A‖², A and all other weights Gaussian. Each unit's bias is moved until it is on
    for the share of time that is wanted."""
    generator = seeded_generator(0, 1, seed)
    normal = partial(torch.randn, generator=generator)
    teacher = Student("RNN", STATES, INPUTS, OUTPUTS, generator)
    A, bias = normal(STATES, STATES), teacher.core.get_parameter("bias_ih_l0")
    teacher.W.copy_(torch.eye(STATES) - EPSILON * A.mT @ A / torch.linalg.matrix_norm(A, 2) ** 2)
    for part in (teacher.U, bias, teacher.readout.weight):
        part.copy_(normal(part.shape))
    x = normal(setting.sequences, setting.length, INPUTS)
    for i in range(1000):
        away = ON - (teacher.states(x) > 0).float().mean((0, 1))
        if bool((away.abs() <= CLOSE).all()):
            break
        bias.add_(2 / (1 + i / 20) * away)
    y = teacher(x)
    size = y.var((0, 1)).mean().sqrt()
    y = (y - y.mean((0, 1))) / size + normal(y.shape) / 10 ** (decibels / 20)
    return Data.split(x, y, loss=mse_loss)


def run_unit(job: Job) -> Run:
    """One student: R² = 1 − Σ(y − ŷ)²/Σ(y − mean)² of two parts."""
    unit, units = job.unit, int(job.unit.variant)
    task = job.data[unit.task, unit.seed]
    generator = seeded_generator(0, 2, unit.seed, units)
    student = Student(unit.model, units, INPUTS, OUTPUTS, generator)
    job.train(student, task, falling_rates(job.setting.steps), project=Student.project)
    figures = {}
    for name, part in ((TEST, "held out"), (CHECK, "validation")):
        variance = task.parts[part][1].var((0, 1), correction=0).mean()
        figures[name] = 1 - part_loss(student, task, part) / float(variance)
    return job.make_run(figures)


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Each RNN of n units against the URNN of at most 2n that does best on validation: "undecided"
    is within the RNN's standard deviation."""
    answers, worst = [], (math.inf, "")

    def values(task: str, kind: str, n: int, name: str) -> list[float]:
        some = select_runs(runs, task=task, model=kind, variant=str(n))
        return [-math.inf if (value := run.figures[name]) is None else value for run in some]

    for task, n in product(NOISES, setting.hidden):
        sizes = [m for m in setting.hidden if m <= 2 * n]
        best = max(sizes, key=lambda m: fmean(values(task, "URNN", m, CHECK)))
        rnns, urnn = values(task, "RNN", n, TEST), fmean(values(task, "URNN", best, TEST))
        rnn = fmean(rnns)
        spread = pstdev(rnns) if math.isfinite(rnn) else 0.0
        answers.append(2 if urnn >= rnn else 1 if urnn >= rnn - spread else 0)
        line = f"{task}, n = {n}, {urnn:.4f} against {rnn:.4f} ± {spread:.4f}"
        worst = min(worst, (urnn - rnn, line))
    holds: Holds = ("does not hold", "undecided", "holds")[min(answers)]
    summary = (
        f"In {answers.count(2)} of {len(answers)} cases the URNN reached the RNN's R² with at most "
        f"twice the states, in the worst, {worst[1]}."
    )
    return Outcome(holds, summary)


EXPERIMENT = Experiment(
    name="urnn",
    title="Learning contractive networks with unitary ones",
    question="A contractive ReLU network with n states has a unitary equivalent with 2n; can one "
    "be learned from data? RNN and URNN students, by number of units, start alike from I; W of the "
    "URNN goes to the nearest orthogonal matrix after every step.",
    conclusion="a URNN with twice the states learns as well as an RNN",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, experiments",
    rule="for every noise and every RNN of n units the URNN of at most 2n units that does best on "
    "validation has a mean test R² of at least the RNN's. Undecided where it lacks less than the "
    "RNN's standard deviation.",
    setting=make_setting(sequences=60, length=400, hidden=(2, 4, 8), steps=400),
    units=lambda s: all_units(NOISES, KINDS, map(str, s.hidden), s.each_seed),
    work=run_unit,
    judge=judge_runs,
    load=lambda s: (
        {(task, seed): draw_data(s, NOISES[task], seed) for task in NOISES for seed in s.each_seed},
        {"teachers": "drawn from the seeds"},
    ),
)
