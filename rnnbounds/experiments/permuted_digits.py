"""``rnnbounds experiment permuted-digits``: images pixel by pixel, in a random order."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import torch

from rnnbounds.experiments import record
from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.record import Outcome, Run
from rnnbounds.experiments.tasks import load_digits
from rnnbounds.experiments.trainer import falling_rates

END = "test accuracy, %"


def run_unit(job: Job) -> Run:
    """One network: the share of the test images that it names."""
    s, (x, digits), seed = job.setting, job.data.parts["held out"], job.unit.seed
    reader = Student(job.unit.model, (1, s.hidden, 10), seed, torch.nn.init.orthogonal_)
    job.train(reader, job.data, falling_rates(s.steps, 0.003), project=Student.project)
    named = reader.cpu()(x)[:, -1].argmax(-1)
    return job.make_run({END: 100 * (named == digits).double().mean()})


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """The URNN beside the RNN of the same size."""
    rows = {kind: record.select_runs(runs, model=kind) for kind in KINDS}
    ends = {kind: [run.figures[END] or 0.0 for run in some] for kind, some in rows.items()}
    best = sorted(KINDS, key=lambda kind: -fmean(ends[kind]))
    shares = ", ".join(f"{kind} {record.score_text(rows[kind])} %" for kind in best)
    holds: record.Holds = "does not hold" if max(ends["URNN"]) < min(ends["RNN"]) else "undecided"
    if min(ends["URNN"]) > max(ends["RNN"]):
        holds = "holds"
    return Outcome(holds, f"Of the test images are named: {shares}.")


EXPERIMENT = Experiment(
    name="permuted-digits",
    title="Digits, pixel by pixel in a random order",
    conclusion="a URNN keeps long memories better than an RNN of the same size (Emami et al.)",
    rule="networks read pixels one by one, in one random order; it holds if at the end every URNN "
    "names more of the test images than every RNN with as many hidden units, does not hold if "
    "every one names fewer, and is undecided else.",
    setting=record.make_setting(hidden=64, steps=2000),
    units=lambda setting: all_units(setting, ["permuted digits"], KINDS),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: load_digits(setting.seed),
)
