"""Networks around a recurrent core: vectors of symbols before it, a linear readout behind."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from rnnbounds.experiments.tasks.task import Task
from rnnbounds.impl.certificate.stable_module import stable_

CELLS = {"RNN": torch.nn.RNN, "LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU}


class Network(torch.nn.Module):
    """Inputs or vectors of symbols -> core (N, T, d) -> (N, T, n) -> readout (N, T, p), float32.

    `core(d)` makes the core. Vectors of symbols begin with ‖e‖₂ near 1 and `shorten` keeps them
    at most 1, so that 1 bounds what the core is fed. First weights are those of the seed.
    """

    def __init__(
        self,
        task: Task,
        core: Callable[[int], torch.nn.Module],
        units: int,
        seed: int,
        vectors: int,
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embed = None
            if task.symbols is not None:
                self.embed = torch.nn.Embedding(task.symbols, vectors)
                torch.nn.init.normal_(self.embed.weight, std=1 / math.sqrt(vectors))
            self.core = core(task.inputs if task.symbols is None else vectors)
            self.readout = torch.nn.Linear(units, task.outputs)
        self.shorten_vectors()

    def core_inputs(self, x: Tensor) -> Tensor:
        """Inputs (N, T, d) of the core: x itself, or the vectors of the symbols x."""
        vectors: Tensor = x if self.embed is None else self.embed(x)
        return vectors

    def forward(self, x: Tensor) -> Tensor:
        """The whole sequence at once."""
        path = self.core(self.core_inputs(x))
        outputs: Tensor = self.readout(path[0] if isinstance(path, tuple) else path)
        return outputs

    @torch.no_grad()
    def shorten_vectors(self) -> None:
        """Vectors of symbols to ‖e‖₂ < 1, whatever rounding does."""
        if self.embed is not None:
            size = torch.linalg.vector_norm(self.embed.weight, dim=1, keepdim=True)
            self.embed.weight.div_(size.clamp(min=1.0) * (1 + 2**-16))

    @property
    def size(self) -> int:
        """How many parameters."""
        return sum(part.numel() for part in self.parameters())


def recurrent_network(cell: str, task: Task, states: int, seed: int, vectors: int = 32) -> Network:
    """A recurrent layer of torch's as the core."""
    return Network(task, lambda d: CELLS[cell](d, states, batch_first=True), states, seed, vectors)


def nearest_size(make: Callable[[int], Network], parameters: int) -> Network:
    """The network of an even number of units whose parameters are nearest to so many."""
    low, high = 2, 4
    while make(high).size < parameters:
        low, high = high, 2 * high
    while high - low > 2:
        middle = (low + high) // 4 * 2
        low, high = (middle, high) if make(middle).size < parameters else (low, middle)
    return min((make(low), make(high)), key=lambda network: abs(network.size - parameters))


def no_projection(model: Network) -> None:
    """Shorten the symbols' vectors after a training step, and leave the core as it is."""
    model.shorten_vectors()


def stable_projection(lam: float, bound: float) -> Callable[[Network], None]:
    """Make the projection after a training step that keeps the core λ-contractive (`stable_`)."""

    def project(model: Network) -> None:
        model.shorten_vectors()
        stable_(model.core, lam, bound)

    return project
