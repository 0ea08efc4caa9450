"""``rnnbounds experiment feed-forward``: whether feed-forward models do what recurrent ones do."""

from collections.abc import Iterable, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import Network, projection, recurrent_network
from rnnbounds.experiments.page import mean_score, score_text
from rnnbounds.experiments.record import Outcome, Run, Setting, group_runs, select_runs
from rnnbounds.experiments.tasks import TextTask, load_texts
from rnnbounds.experiments.trainer import Plan, part_losses
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.reading.adapters import load_model

RECURRENT, CORES = ("RNN", "LSTM"), ("TCN", "gated convolution", "windowed attention")
WORSE = 0.05  # relative: what still counts as doing as well


class Sizes(Setting, frozen=True, kw_only=True):
    """An LSTM of `states` units and whatever has as many parameters; `window` of the truncated."""

    tasks: tuple[str, ...] = ("words", "characters")
    states: int = 48
    steps: int = 300
    rates: tuple[float, ...] = (0.005, 0.03)
    window: int = 31


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


class WindowedAttention(torch.nn.Module):
    """Two residual layers of attention with two heads, each over its last 16 inputs, with a learned
    weight for each distance; they see 31 inputs."""

    window, heads = 16, 2

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.first = torch.nn.Linear(inputs, units)
        self.mixed = torch.nn.ModuleList(torch.nn.Linear(units, 3 * units) for _ in range(2))
        self.out = torch.nn.ModuleList(torch.nn.Linear(units, units) for _ in range(2))
        self.distance = torch.nn.Parameter(torch.zeros(2, self.heads, self.window))

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, d) -> (N, T, n)."""
        h: Tensor = self.first(x)
        steps = torch.arange(x.shape[1], device=x.device)
        away = steps[:, None] - steps
        seen = (away >= 0) & (away < self.window)
        for mixed, out, distance in zip(self.mixed, self.out, self.distance, strict=True):
            q, k, v = (part.unflatten(2, (self.heads, -1)).transpose(1, 2)
                       for part in mixed(h).chunk(3, 2))  # fmt: skip
            bias = distance[:, away.clamp(0, self.window - 1)].masked_fill(~seen, -torch.inf)
            read = scaled_dot_product_attention(q, k, v, attn_mask=bias)
            h = h + torch.relu(out(read.transpose(1, 2).flatten(2)))
        return h


def make_network(kind: str, task: TextTask, seed: int, units: int) -> Network:
    """A network of that kind; units are even, for two heads."""
    if kind in RECURRENT:
        return recurrent_network(kind, task, units, seed)
    if kind == CORES[2]:
        return Network(task, lambda d: WindowedAttention(d, units), units, seed)
    return Network(task, lambda d: Convolutions(d, units, kind == CORES[1]), units, seed)


def nearest_size(kind: str, task: TextTask, seed: int, parameters: int) -> Network:
    """The network of an even number of units whose parameters are the least beyond so many."""
    units = 2
    while (network := make_network(kind, task, seed, units)).size < parameters:
        units += 2
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
    project = projection(False, 1.0)
    trained, rate = job.search_rates(make, task, Plan(steps=s.steps), s.rates, project=project)
    models: dict[str, torch.nn.Module] = {unit.model: trained.model}
    if unit.model in RECURRENT:
        cut = TruncatedNetwork(trained.model, s.window).to(job.device)
        models[f"truncated {unit.model}"] = cut
    for name, model in models.items():
        score = task.score(float(part_losses(model, task, "held out")[0]))
        figures = {f"held out, {task.unit}": score, "parameters": trained.model.size}
        family = "recurrent" if name in RECURRENT else "feed-forward"
        yield job.make_run(figures, model=name, variant=family, notes={"rate": rate})


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
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
    "recurrent one. The best are chosen by that score, of five models and of two.",
    setting=Sizes(),
    units=lambda setting: all_units(
        setting.tasks, (*RECURRENT, *CORES), ("trained",), setting.each_seed
    ),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: load_texts(setting.tasks),
)
