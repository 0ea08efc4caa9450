"""``rnnbounds experiment weights-apart``: weights trained in full and truncated, during descent."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import Network, projection, recurrent_network
from rnnbounds.experiments.record import Outcome, Run, make_curve, make_setting, worst_text
from rnnbounds.experiments.tasks import load_texts
from rnnbounds.experiments.trained import CELLS, RULE, WAYS, is_at_most, tally_seeds
from rnnbounds.experiments.trainer import Data

RULES, RATE = ("constant steps", "steps α/t"), 0.1
CLOSE = 1e-2  # as a part of how far training moved the weights


class LastForecast(Network):
    """A network that forecasts at the last time of a sequence alone."""

    def forward(self, ids: Tensor) -> Tensor:
        """(N, T) -> (N, p)."""
        return super().forward(ids)[:, -1]


def run_unit(job: Job) -> Run:
    """One start, trained in float64 on whole sequences and on their last k inputs for every k. The
    steps α/t have the α for which all of them add up to the same as the constant ones."""
    s, task = job.setting, job.data[job.unit.task]
    way, _, rule = job.unit.variant.partition(", ")
    shares = [1.0 if rule == RULES[0] else 1 / t for t in range(1, s.steps + 1)]
    rates = [RATE * s.steps * share / math.fsum(shares) for share in shares]
    project = projection(way == "stable")
    x, y = task.parts["training"]

    def ends(k: int) -> tuple[Tensor, Tensor]:
        model = recurrent_network(job.unit.model, task, s.states, job.unit.seed, LastForecast)
        project(model.double())
        weight = model.core.get_parameter("weight_hh_l0")
        start = weight.detach().clone()
        data = Data(parts={"training": (x[:, -k:], y[:, -1])})
        job.train(model, data, rates, project=project, optimiser=torch.optim.SGD, clip=math.inf)
        return start, model.core.get_parameter("weight_hh_l0").detach().cpu()

    start, full = ends(x.shape[1])
    moved = float((full - start).norm())
    apart = {k: float((ends(k)[1] - full).norm()) for k in s.ks}
    figures = {f"k = {k}: apart/moved": distance / moved for k, distance in apart.items()}
    return job.make_run(figures, {"‖W − Wᵏ‖_F": make_curve(s.ks, list(apart.values()))})


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Judge whether the weights of stable networks end close at the largest k."""
    last = f"k = {max(setting.ks)}: apart/moved"
    stable, free = ([run for run in runs if run.variant.startswith(way)] for way in WAYS)
    holds, _, missed = tally_seeds(stable, is_at_most(last, CLOSE))
    summary = (
        f"The farthest that recurrent weights at k = {max(setting.ks)} end from those of full "
        f"training, as a part of how far they moved: {worst_text(stable, last)}; of free "
        f"networks {worst_text(free, last)}.{missed}"
    )
    return Outcome(holds, summary)


EXPERIMENT = Experiment(
    name="weights-apart",
    title="How far truncated training ends from full training",
    question="A network is trained by gradient descent from one start, on the same batches, on "
    "whole sequences and on their last k inputs: how far apart do its recurrent weights end?",
    conclusion="weights of a stable model that is trained by truncation stay close to those of "
    "full training, and the closer the larger k is; the proof asks for steps α/t",
    source="Miller & Hardt, Stable Recurrent Models, Proposition 4 and its figure",
    rule="it holds if, of stable networks and by both rules of steps, the weights at the largest k "
    f"end at most {CLOSE:g} of the way that full training moved them apart. {RULE}",
    setting=make_setting(
        tasks=("characters",), cells=CELLS, ks=(2, 4, 8, 16, 32), states=32, steps=200
    ),
    units=lambda s: all_units(
        s.tasks, s.cells, [f"{way}, {rule}" for rule in RULES for way in WAYS], s.each_seed
    ),
    work=run_unit,
    judge=judge_runs,
    load=lambda s: load_texts(s.tasks),
)
