"""``rnnbounds experiment weights-apart``: weights trained in full and truncated, during descent."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rnnbounds.experiments.engine.experiment import Experiment, Job, Unit, all_units
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import Outcome, Run, make_curve
from rnnbounds.experiments.engine.scores import worst_text
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.networks.recurrent import (
    Network,
    no_projection,
    recurrent_network,
    stable_projection,
)
from rnnbounds.experiments.stable.trained import (
    RULE,
    WAYS,
    BaseSizes,
    is_at_most,
    load_data,
    tally_seeds,
)
from rnnbounds.experiments.tasks.task import Task

Schedule = Literal["constant", "1/t"]
RULES: dict[str, Schedule] = {"constant steps": "constant", "steps α/t": "1/t"}
CLOSE = 1e-2  # as a part of how far training moved the weights


class Sizes(BaseSizes, frozen=True, kw_only=True):
    """In float64 and by gradient descent. Constant steps are `rate`; steps α/t have the α for which
    all steps add up to the same. `ks`: the truncations; every `every` steps weights are compared.
    """

    tasks: tuple[str, ...] = ("characters",)
    ks: tuple[int, ...] = (2, 4, 8, 16, 32)
    states: int = 32
    steps: int = 200
    every: int = 10
    rate: float = 0.1


class LastForecast:
    """The forecast at the last time of a sequence alone."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Of the task, its last targets."""
        x, y = self.task.batch(seed, step)
        return x, y[:, -1]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """The ends of all sequences, as long as those that are trained on."""
        length = self.task.parts["training"].x.shape[1]
        for x, y in self.task.batches(part):
            yield x[:, -length:], y[:, -1]

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy."""
        return cross_entropy(outputs, y)


class TruncatedReader(torch.nn.Module):
    """A network that reads the last k inputs, and what its recurrent weights were on the way."""

    path: Tensor

    def __init__(self, network: Network, k: int, looks: int) -> None:
        super().__init__()
        self.network, self.k = network, k
        self.register_buffer("path", self.recurrent.repeat(looks + 1, 1))

    @property
    def recurrent(self) -> Tensor:
        """The recurrent weights, flat."""
        return dict(self.network.core.named_parameters())["weight_hh_l0"].detach().flatten()

    def forward(self, x: Tensor) -> Tensor:
        """Map inputs x (N, T, d) to the readout (N, p) after their last k steps."""
        outputs: Tensor = self.network.readout(
            self.network.core(self.network.core_inputs(x[:, -self.k :]))[0][:, -1]
        )
        return outputs


def list_units(setting: Sizes) -> list[Unit]:
    """Every task, cell, rule of steps, way and seed."""
    ways = [f"{way}, {rule}" for rule in RULES for way in WAYS]
    return all_units(setting.tasks, setting.cells, ways, setting.each_seed)


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """One start, trained on whole sequences and on their last k inputs for every k."""
    s, task = job.setting, job.data[job.unit.task]
    way, _, rule = job.unit.variant.partition(", ")
    rate = s.rate
    if RULES[rule] == "1/t":
        rate *= s.steps / math.fsum(1 / t for t in range(1, s.steps + 1))
    plan = Plan(
        steps=s.steps, rate=rate, optimiser="sgd", schedule=RULES[rule], clip=None, every=s.every,
        keep="last",
    )  # fmt: skip
    project = stable_projection(s.lam, task.bound) if way == "stable" else no_projection

    def trained(k: int) -> Tensor:
        network = recurrent_network(job.unit.model, task, s.states, job.unit.seed).double()
        project(network)
        model = TruncatedReader(network, k, s.steps // s.every)

        def note(model: TruncatedReader, step: int) -> None:
            model.path[step // s.every] = model.recurrent

        job.train(
            model, LastForecast(task), plan, name=f"{k}", project=lambda cut: project(cut.network),
            observe=note,
        )  # fmt: skip
        return model.path.cpu()

    full = trained(task.parts["training"].x.shape[1])
    moved = float((full[-1] - full[0]).norm())
    steps = range(0, s.steps + 1, s.every)
    figures, curves, ends = {"moved": moved}, {}, []
    for k in s.ks:
        distances = (trained(k) - full).norm(dim=1).tolist()
        curves[f"k = {k}"] = make_curve(steps, distances)
        ends.append(distances[-1])
        figures[f"k = {k}: apart/moved"] = distances[-1] / moved
    curves["at the end"] = make_curve(s.ks, ends)
    yield job.make_run(figures, curves)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether the weights of stable networks end close at the largest k."""
    first, last = (f"k = {k}: apart/moved" for k in (min(setting.ks), max(setting.ks)))
    stable_runs, free_runs = ([run for run in runs if run.variant.startswith(way)] for way in WAYS)
    holds, _, missed = tally_seeds(
        stable_runs,
        lambda run: is_at_most(run, last, min(CLOSE, run.figures[first] or 0.0)),
    )
    summary = (
        f"The farthest that recurrent weights at k = {max(setting.ks)} end from those of full "
        f"training, as a part of how far they moved: {worst_text(stable_runs, last)}; of free "
        f"networks {worst_text(free_runs, last)}.{missed}"
    )
    return Outcome(holds, summary)


EXPERIMENT = Experiment(
    name="weights-apart",
    title="How far truncated training ends from full training",
    question=(
        "A network is trained from one start, on the same batches in the same order, on whole "
        "sequences and on their last k inputs: how far are its recurrent weights (‖·‖_F) apart "
        "during descent?"
    ),
    conclusion=(
        "weights of a stable model that is trained by truncation stay close to those of full "
        "training, and the closer the larger k is; the proof asks for steps α/t"
    ),
    source="Miller & Hardt, Stable Recurrent Models, Proposition 4 and its figure",
    rule=(
        f"it holds if, of stable networks and by both rules of steps, the weights at the largest k "
        f"end at most {CLOSE:g} of the way that full training moved them apart, and no farther "
        f"than at the smallest k. {RULE} Free ones are shown beside."
    ),
    setting=Sizes(),
    full=Sizes(states=128, steps=5000, every=100, all_data=True),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    takes_data=True,
    charts=(
        Chart(title="At the end", curves=("at the end",), x="inputs k", y="‖W − Wᵏ‖", log_y=True),
        *(
            Chart(title=f"During descent, k = {k}", curves=(f"k = {k}",), x="step", y="‖W − Wᵏ‖",
                  log_y=True)
            for k in (4, 16)
        ),
    ),
)  # fmt: skip
