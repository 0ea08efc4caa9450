"""``rnnbounds experiment weights-apart``: weights trained in full and truncated, during descent."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments import engine, networks
from rnnbounds.experiments.engine import Job, Outcome, Run
from rnnbounds.experiments.networks import Network, recurrent_network
from rnnbounds.experiments.trainer import Data, cross_entropy

RATE = 0.1
CLOSE = 1e-2  # as a part of how far training moved the weights


def run_unit(job: Job) -> Run:
    """One start, trained in float64 on whole sequences and on their last k inputs for every k: the
    forecast at the last time alone."""
    unit, s, task = job.unit, job.setting, job.data[job.unit.task]
    x, y = task.parts["training"]

    def ends(k: int) -> tuple[Tensor, Tensor]:
        stable = unit.variant == "stable"
        model = recurrent_network(unit.model, task, s.states, unit.seed, stable).double()
        model.project()
        start = model.core.get_parameter("weight_hh_l0").detach().clone()
        data = Data(
            parts={"training": (x[:, -k:], y[:, -1])},
            loss=lambda outputs, target: cross_entropy(outputs[:, -1], target),
        )
        options = {"project": Network.project, "optimiser": torch.optim.SGD, "clip": math.inf}
        job.train(model, data, [RATE] * s.steps, **options)
        return start, model.core.get_parameter("weight_hh_l0").detach().cpu()

    start, full = ends(x.shape[1])
    moved = float((full - start).norm())
    apart = {k: float((ends(k)[1] - full).norm()) for k in s.ks}
    figures = {f"k = {k}: apart/moved": distance / moved for k, distance in apart.items()}
    return job.make_run(figures, {"‖W − Wᵏ‖_F": engine.make_curve(s.ks, list(apart.values()))})


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Judge whether the weights of stable networks end close at the largest k."""
    last = f"k = {max(setting.ks)}: apart/moved"
    stable, free = (engine.select_runs(runs, variant=way) for way in networks.WAYS)
    words = f"end that close; of free networks the farthest are {engine.worst_text(free, last)}"
    return networks.judge_limit(stable, last, CLOSE, words)


EXPERIMENT = networks.make_experiment(
    name="weights-apart",
    conclusion="weights of a stable model that is trained by truncation stay close to those of "
    "full training, and the closer the larger k is (Miller & Hardt, Proposition 4)",
    rule="it holds if, of stable networks, the weights at the largest k end at most "
    f"{CLOSE:g} of the way that full training moved them apart. {networks.RULE}",
    setting=engine.make_setting(
        tasks=("characters",), cells=("RNN", "LSTM"), ks=(2, 4, 8, 16, 32), states=32, steps=200
    ),
    work=run_unit,
    judge=judge_runs,
)
