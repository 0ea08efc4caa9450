"""``rnnbounds experiment feed-forward``: whether feed-forward models do what recurrent ones do."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import Network, projection, recurrent_network
from rnnbounds.experiments.page import mean_score, score_text
from rnnbounds.experiments.record import Outcome, Run, group_runs, make_setting, select_runs
from rnnbounds.experiments.tasks import TextTask, load_texts
from rnnbounds.experiments.trainer import Plan, part_loss
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.reading.adapters import load_model

RECURRENT, CORES = ("RNN", "LSTM"), ("TCN", "gated convolution")
WORSE = 0.05  # relative: what still counts as doing as well


class Convolutions(torch.nn.Module):
    """Causal convolutions of width 3 with dilations 1, 2, 4 and 8, which see 31 inputs: residual
    ReLU (a TCN), or gated by a sigmoid."""

    def __init__(self, inputs: int, units: int, gated: bool) -> None:
        super().__init__()
        widths, self.gated = (inputs, units, units, units), gated
        self.layers = torch.nn.ModuleList(
            torch.nn.Conv1d(width, units * (1 + gated), 3, dilation=2**i)
            for i, width in enumerate(widths)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, d) -> (N, T, n)."""
        h: Tensor = x.mT
        for i, layer in enumerate(self.layers):
            z = layer(pad(h, (2 * 2**i, 0)))
            z = torch.nn.functional.glu(z, 1) if self.gated else torch.relu(z)
            h = z if h.shape != z.shape or self.gated else h + z
        return h.mT


def make_network(kind: str, task: TextTask, seed: int, units: int) -> Network:
    """A network of that kind."""
    if kind in RECURRENT:
        return recurrent_network(kind, task, units, seed)
    return Network(task, lambda d: Convolutions(d, units, kind == CORES[1]), units, seed)


def nearest_size(kind: str, task: TextTask, seed: int, parameters: int) -> Network:
    """The network whose parameters are the least beyond so many."""
    units = 1
    while (network := make_network(kind, task, seed, units)).size < parameters:
        units += 1
    return network


class TruncatedNetwork(torch.nn.Module):
    """A network whose trained recurrent core is cut to its last k inputs; weights are copied."""

    def __init__(self, network: Network, k: int) -> None:
        super().__init__()
        loaded = load_model(network.core)
        self.network = network
        self.core = FeedForward(loaded.weights, cell=loaded.name, k=k).float()

    def forward(self, ids: Tensor) -> Tensor:
        """Every output from its window alone."""
        outputs: Tensor = self.network.readout(self.core(self.network.embed(ids)))
        return outputs


def run_unit(job: Job) -> Iterable[Run]:
    """A model trained at every rate, the best of which is kept; and cut, if it is recurrent."""
    s, unit, task = job.setting, job.unit, job.data[job.unit.task]
    target = recurrent_network("LSTM", task, s.states, unit.seed).size
    make = partial(nearest_size, unit.model, task, unit.seed, target)
    project = projection(False)
    network = job.search_rates(make, task, Plan(steps=s.steps), s.rates, project=project)
    models: dict[str, torch.nn.Module] = {unit.model: network}
    if unit.model in RECURRENT:
        models[f"truncated {unit.model}"] = TruncatedNetwork(network, s.window).to(job.device)
    for name, model in models.items():
        score = task.score(part_loss(model, task, "held out"))
        figures = {f"held out, {task.unit}": score, "parameters": network.size}
        family = "recurrent" if name in RECURRENT else "feed-forward"
        yield job.make_run(figures, model=name, variant=family)


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """The best of each family, task by task."""
    fits, words = [], []
    for task in dict.fromkeys(run.task for run in runs):
        best = [
            min(group_runs(select_runs(runs, task=task, variant=family)).values(), key=mean_score)
            for family in ("feed-forward", "recurrent")
        ]
        fits.append(mean_score(best[0]) <= (1 + WORSE) * mean_score(best[1]))
        words.append(f"{task}: " + " against ".join(f"{some[0].model} {score_text(some)}"
                                                    for some in best))  # fmt: skip
    summary = (
        f"The best feed-forward model is at most {100 * WORSE:g} % worse than the best recurrent "
        f"one in {sum(fits)} of {len(fits)} tasks ({'; '.join(words)})."
    )
    return Outcome("holds" if all(fits) else "does not hold", summary)


EXPERIMENT = Experiment(
    name="feed-forward",
    title="Feed-forward models in place of recurrent ones",
    question="Do feed-forward models with a window do what recurrent models of as many parameters "
    "do?",
    conclusion="feed-forward models do as well as recurrent ones on sequences",
    source="Miller, When Recurrent Models Don't Need to be Recurrent (2018)",
    rule="it holds if on every task the best feed-forward model (truncated recurrent ones are "
    f"among them) has a mean held-out score at most {100 * WORSE:g} % worse than the best "
    "recurrent one. The best are chosen by that score, of four models and of two.",
    setting=make_setting(
        tasks=("words", "characters"), states=48, steps=300, rates=(0.005, 0.03), window=31
    ),
    units=lambda setting: all_units(
        setting.tasks, (*RECURRENT, *CORES), ("trained",), setting.each_seed
    ),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: load_texts(setting.tasks),
)
