"""``rnnbounds experiment permuted-digits``: images pixel by pixel, in a random order."""

from collections.abc import Sequence
from typing import Any

import torch

from rnnbounds.experiments import engine
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.trainer import falling_rates, load_digits

END = "test accuracy, %"


def run_unit(job: engine.Job) -> engine.Run:
    """One network: the share of the test images that it names."""
    s, (x, digits), seed = job.setting, job.data.parts["held out"], job.unit.seed
    reader = Student(job.unit.model, (1, s.hidden, 10), seed, torch.nn.init.orthogonal_)
    job.train(reader, job.data, falling_rates(s.steps, 0.003), project=Student.project)
    named = reader.cpu()(x)[:, -1].argmax(-1)
    return job.make_run({END: 100 * (named == digits).double().mean()})


def judge_runs(runs: Sequence[engine.Run], setting: Any) -> engine.Outcome:
    """The URNN beside the RNN of the same size."""
    rnn, urnn = (engine.select_runs(runs, model=kind) for kind in KINDS)
    gaps = [(u.figures[END] or 0.0) - (r.figures[END] or 0.0) for u in urnn for r in rnn]
    holds: engine.Holds = (
        "holds" if min(gaps) > 0 else "does not hold" if max(gaps) < 0 else "undecided"
    )
    shares = f"URNN {engine.score_text(urnn)} %, RNN {engine.score_text(rnn)} %"
    return engine.Outcome(holds, f"Of the test images are named: {shares}.")


EXPERIMENT = engine.Experiment(
    name="permuted-digits",
    conclusion="a URNN keeps long memories better than an RNN of the same size (Emami et al.)",
    rule="networks read pixels one by one, in one random order; it holds if at the end every URNN "
    "names more of the test images than every RNN with as many hidden units, does not hold if "
    "every one names fewer, and is undecided else.",
    setting=engine.make_setting(hidden=64, steps=2000),
    units=lambda setting: engine.all_units(setting, ["permuted digits"], KINDS),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: load_digits(setting.seed),
)
