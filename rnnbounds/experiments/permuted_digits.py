"""``rnnbounds experiment permuted-digits``: images pixel by pixel, in a random order."""

from collections.abc import Sequence
from typing import Any

import torch

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.record import Holds, Outcome, Run, make_setting, score_text, select_runs
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
    rnn, urnn = (select_runs(runs, model=kind) for kind in KINDS)
    gaps = [(u.figures[END] or 0.0) - (r.figures[END] or 0.0) for u in urnn for r in rnn]
    holds: Holds = "holds" if min(gaps) > 0 else "does not hold" if max(gaps) < 0 else "undecided"
    shares = f"URNN {score_text(urnn)} %, RNN {score_text(rnn)} %"
    return Outcome(holds, f"Of the test images are named: {shares}.")


EXPERIMENT = Experiment(
    name="permuted-digits",
    conclusion="a URNN keeps long memories better than an RNN of the same size (Emami et al.)",
    rule="networks read pixels one by one, in one random order; it holds if at the end every URNN "
    "names more of the test images than every RNN with as many hidden units, does not hold if "
    "every one names fewer, and is undecided else.",
    setting=make_setting(hidden=64, steps=2000),
    units=lambda setting: all_units(setting, ["permuted digits"], KINDS),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: load_digits(setting.seed),
)
