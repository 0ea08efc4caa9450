"""``rnnbounds experiment weights-apart``: weights trained in full and truncated, during descent."""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import Network, projection, recurrent_network
from rnnbounds.experiments.page import Chart, worst_text
from rnnbounds.experiments.record import Outcome, Run, Setting, make_curve
from rnnbounds.experiments.tasks import TextTask, load_texts
from rnnbounds.experiments.trained import RULE, WAYS, is_at_most, tally_seeds
from rnnbounds.experiments.trainer import Plan

RULES: dict[str, Literal["constant", "1/t"]] = {"constant steps": "constant", "steps α/t": "1/t"}
CLOSE = 1e-2  # as a part of how far training moved the weights


class Sizes(Setting, frozen=True, kw_only=True):
    """In float64 and by gradient descent. Constant steps are `rate`; steps α/t have the α for which
    all steps add up to the same. `ks`: the truncations; every `every` steps weights are compared.
    """

    tasks: tuple[str, ...] = ("characters",)
    cells: tuple[str, ...] = ("RNN", "LSTM")
    ks: tuple[int, ...] = (2, 4, 8, 16, 32)
    states: int = 32
    steps: int = 200
    every: int = 10
    rate: float = 0.1
    lam: float = 0.95


class LastForecast(TextTask):
    """The forecast at the last time of a sequence alone."""

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Of the task, its last targets."""
        x, y = super().batch(seed, step)
        return x, y[:, -1]


class TruncatedReader(torch.nn.Module):
    """A network that reads the last k inputs, and what its recurrent weights were on the way."""

    def __init__(self, network: Network, k: int) -> None:
        super().__init__()
        self.network, self.k = network, k
        self.path = [self.recurrent]

    @property
    def recurrent(self) -> Tensor:
        """A copy of the recurrent weights, flat."""
        return self.network.core.get_parameter("weight_hh_l0").detach().cpu().flatten().clone()

    def forward(self, ids: Tensor) -> Tensor:
        """The readout (N, p) after the last k steps."""
        states = self.network.core(self.network.embed(ids[:, -self.k :]))[0]
        outputs: Tensor = self.network.readout(states[:, -1])
        return outputs


def run_unit(job: Job) -> Iterable[Run]:
    """One start, trained on whole sequences and on their last k inputs for every k."""
    s, task = job.setting, job.data[job.unit.task]
    way, _, rule = job.unit.variant.partition(", ")
    sum_of_steps = math.fsum(1 / t for t in range(1, s.steps + 1))
    rate = s.rate * (s.steps / sum_of_steps if RULES[rule] == "1/t" else 1)
    plan = Plan(steps=s.steps, rate=rate, optimiser="sgd", schedule=RULES[rule], clip=math.inf,
                every=s.every, keep="last")  # fmt: skip
    project = projection(way == "stable", s.lam)

    def path(k: int) -> Tensor:
        network = recurrent_network(job.unit.model, task, s.states, job.unit.seed).double()
        project(network)
        model = TruncatedReader(network, k)
        job.train(
            model, LastForecast(**vars(task)), plan, project=lambda cut: project(cut.network),
            observe=lambda cut, step: cut.path.append(cut.recurrent),
        )  # fmt: skip
        return torch.stack(model.path)

    full = path(task.parts["training"][0].shape[1])
    moved = float((full[-1] - full[0]).norm())
    steps = [*range(0, s.steps, s.every), s.steps]
    figures, curves, ends = {"moved": moved}, {}, []
    for k in s.ks:
        distances = (path(k) - full).norm(dim=1).tolist()
        curves[f"k = {k}"] = make_curve(steps, distances)
        ends.append(distances[-1])
        figures[f"k = {k}: apart/moved"] = distances[-1] / moved
    yield job.make_run(figures, curves | {"at the end": make_curve(s.ks, ends)})


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
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
    question="A network is trained from one start, on the same batches in the same order, on whole "
    "sequences and on their last k inputs: how far are its recurrent weights (‖·‖_F) apart during "
    "descent?",
    conclusion="weights of a stable model that is trained by truncation stay close to those of "
    "full training, and the closer the larger k is; the proof asks for steps α/t",
    source="Miller & Hardt, Stable Recurrent Models, Proposition 4 and its figure",
    rule="it holds if, of stable networks and by both rules of steps, the weights at the largest k "
    f"end at most {CLOSE:g} of the way that full training moved them apart. {RULE}",
    setting=Sizes(),
    units=lambda setting: all_units(
        setting.tasks, setting.cells, [f"{way}, {rule}" for rule in RULES for way in WAYS],
        setting.each_seed,
    ),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: load_texts(setting.tasks),
    charts=(
        Chart(title="At the end", curves=("at the end",), x="inputs k", y="‖W − Wᵏ‖", log_y=True),
    ),
)  # fmt: skip
