"""How long networks take, interleaved: one round measures each once, and medians are told."""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from rnnbounds.bench.clock import Clock
from rnnbounds.experiments.networks.feedforward import TruncatedNetwork
from rnnbounds.experiments.networks.recurrent import Network
from rnnbounds.experiments.tasks.task import Task

ROUNDS, LENGTH, STEPS = 5, 512, 8  # of the whole sequence, and of single steps
KINDS = ("training step, s", "whole sequence, s", "one step, s")


def measure_speeds(
    networks: Mapping[str, Network | TruncatedNetwork], task: Task, device: str
) -> dict[str, dict[str, float]]:
    """Seconds of each kind for each network: a descent on a batch, `LENGTH` outputs at once, and
    one output more where the past is known: a state, or the last inputs of a window."""
    x, y = (part.to(device) for part in task.batch(0, 0))
    sequence = torch.cat([x] * -(-LENGTH // x.shape[1]), 1)[:1, :LENGTH]
    jobs: dict[str, dict[str, Callable[[], object]]] = {kind: {} for kind in KINDS}
    for name, model in networks.items():
        if isinstance(model, Network):
            jobs[KINDS[0]][name] = partial(training_step, model, task, x, y)
        jobs[KINDS[1]][name] = partial(forward_only, model, sequence)
        jobs[KINDS[2]][name] = make_stepper(model, sequence)
    seconds: dict[str, dict[str, float]] = {name: {} for name in networks}
    for kind, timed in jobs.items():
        timing = Clock(device, ROUNDS, sample=0.0).time_interleaved(list(timed.values()))
        for side, name in enumerate(timed):
            seconds[name][kind] = timing.seconds(side) / (STEPS if kind == KINDS[2] else 1)
    return seconds


def training_step(model: Network, task: Task, x: Tensor, y: Tensor) -> None:
    """Forward and backward."""
    model.zero_grad()
    task.loss(model(x), y).backward()  # type: ignore[no-untyped-call]


@torch.no_grad()
def forward_only(model: torch.nn.Module, x: Tensor) -> Tensor:
    """Forward alone."""
    outputs: Tensor = model(x)
    return outputs


def make_stepper(model: Network | TruncatedNetwork, x: Tensor) -> Callable[[], None]:
    """`STEPS` outputs one after the other, each from what the model has to know of the past."""
    network = model if isinstance(model, Network) else model.network
    core = model.core
    with torch.no_grad():
        vectors = network.core_inputs(x)

    @torch.no_grad()
    def stateful() -> None:
        state = None
        for t in range(STEPS):
            h, state = core(vectors[:, t : t + 1], state)
            network.readout(h)

    @torch.no_grad()
    def windowed() -> None:
        for t in range(STEPS):
            network.readout(core(vectors[:, t : t + window])[:, -1:])

    if isinstance(core, torch.nn.RNNBase):
        return stateful
    window = int(model.core.k if isinstance(model, TruncatedNetwork) else getattr(core, "field", 1))
    return windowed
