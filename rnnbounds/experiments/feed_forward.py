"""``rnnbounds experiment feed-forward``: whether a feed-forward model does what an LSTM does."""

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.experiments import engine
from rnnbounds.experiments.engine import Experiment, Job, Outcome, Run, all_units
from rnnbounds.experiments.networks import Network, recurrent_network
from rnnbounds.experiments.trainer import TextTask, falling_rates, load_texts, part_loss

MODELS = ("LSTM", "TCN")
WORSE = 0.05  # relative: what still counts as doing as well


class Convolutions(torch.nn.Module):
    """Causal residual ReLU convolutions of width 3 with dilations 1, 2, 4 and 8, a TCN: an output
    sees the last 31 inputs."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        widths = (inputs, units, units, units)
        self.layers = torch.nn.ModuleList(
            torch.nn.Conv1d(width, units, 3, dilation=2**i) for i, width in enumerate(widths)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, d) -> (N, T, n)."""
        h: Tensor = x.mT
        for i, layer in enumerate(self.layers):
            z = torch.relu(layer(pad(h, (2 * 2**i, 0))))
            h = z + h if i else z
        return h.mT


def make_network(kind: str, task: TextTask, states: int, seed: int) -> Network:
    """An LSTM, or the TCN whose parameters are the least beyond its."""
    recurrent = recurrent_network("LSTM", task, states, seed)
    if kind == "LSTM":
        return recurrent
    sizes = (Network(task, partial(Convolutions, units=n), n, seed) for n in count(1))
    return next(network for network in sizes if network.size >= recurrent.size)


def run_unit(job: Job) -> Run:
    """One model: its score and its size."""
    s, unit, task = job.setting, job.unit, job.data[job.unit.task]
    network = make_network(unit.model, task, s.states, unit.seed)
    job.train(network, task, falling_rates(s.steps), project=Network.project)
    score = task.score(part_loss(network, task, "held out"))
    return job.make_run({f"held out, {task.unit}": score, "parameters": network.size})


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """The TCN beside the LSTM, task by task."""
    fits, words = [], []
    for task in setting.tasks:
        lstm, tcn = (engine.select_runs(runs, task=task, model=model) for model in MODELS)
        fits.append(engine.mean_score(tcn) <= (1 + WORSE) * engine.mean_score(lstm))
        words.append(f"{task}: {engine.score_text(tcn)} against {engine.score_text(lstm)}")
    summary = (
        f"The TCN is at most {100 * WORSE:g} % worse than the LSTM in {sum(fits)} of {len(fits)} "
        f"tasks ({'; '.join(words)})."
    )
    return Outcome("holds" if all(fits) else "does not hold", summary)


EXPERIMENT = Experiment(
    name="feed-forward",
    conclusion="feed-forward models do as well as recurrent ones on sequences (Miller, When "
    "Recurrent Models Don't Need to be Recurrent, 2018)",
    rule="it holds if on every task the mean held-out score of a TCN that sees 31 inputs is at "
    f"most {100 * WORSE:g} % worse than that of an LSTM with as many parameters.",
    setting=engine.make_setting(tasks=("words", "characters"), states=48, steps=300),
    units=lambda s: all_units(s, s.tasks, MODELS),
    work=run_unit,
    judge=judge_runs,
    load=lambda s: load_texts(s.tasks),
)
