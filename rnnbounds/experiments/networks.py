"""Networks of the experiments: around a core of torch's, and small ones side by side."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.tasks import TextTask
from rnnbounds.impl.certificate.stable_module import stable_
from rnnbounds.impl.convert.urnn import polar

KINDS = ("RNN", "URNN")
LAMBDA = 0.95  # by which a step of stable networks contracts
VECTORS = 32  # the length of the vectors of symbols


class Network(torch.nn.Module):
    """Vectors of symbols -> core (N, T, d) -> (N, T, n) -> readout (N, T, p), float32.

    `shorten` keeps the vectors below ‖e‖₂ = 1, which bounds what the core reads. First weights are
    those of the seed.
    """

    def __init__(
        self, task: TextTask, core: Callable[[int], torch.nn.Module], units: int, seed: int
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embed = torch.nn.Embedding(task.symbols, VECTORS)
            torch.nn.init.normal_(self.embed.weight, std=1 / math.sqrt(VECTORS))
            self.core = core(VECTORS)
            self.readout = torch.nn.Linear(units, task.symbols)
        self.shorten()

    def forward(self, ids: Tensor) -> Tensor:
        """The whole sequence at once."""
        path = self.core(self.embed(ids))
        outputs: Tensor = self.readout(path[0] if isinstance(path, tuple) else path)
        return outputs

    @torch.no_grad()
    def shorten(self) -> None:
        """Vectors of symbols to ‖e‖₂ < 1, whatever rounding does."""
        size = torch.linalg.vector_norm(self.embed.weight, dim=1, keepdim=True)
        self.embed.weight.div_(size.clamp(min=1.0) * (1 + 2**-16))

    @property
    def size(self) -> int:
        """How many parameters."""
        return sum(part.numel() for part in self.parameters())


def recurrent_network(
    cell: str, task: TextTask, states: int, seed: int, kind: type[Network] = Network
) -> Network:
    """A recurrent layer of torch's as the core."""
    make: Any = getattr(torch.nn, cell)
    return kind(task, lambda d: make(d, states, batch_first=True), states, seed)


def projection(stable: bool, lam: float = LAMBDA) -> Callable[[Network], None]:
    """The projection that follows a training step: vectors are shortened, and the core of a stable
    network goes to where a step contracts by at most λ (`stable_`)."""

    def project(model: Network) -> None:
        model.shorten()
        if stable:
            stable_(model.core, lam, 1.0)

    return project


class Student(torch.nn.Module):
    """A small network with a linear readout from the zero state: x (N, T, d) -> ŷ (N, T, p).

    RNN: h_t = ReLU(W h_{t−1} + U x_t + b), ŷ_t = C h_t + c. URNN: the same, W replaced by its polar
    factor after every step, so that it is orthogonal. W starts as I (Le, Jaitly & Hinton, 2015), or
    as `start` makes it. An RNN and a URNN of one seed start alike. Source: Emami et al.
    """

    def __init__(
        self, kind: str, sizes: tuple[int, int, int], seed: int,
        start: Callable[[Tensor], Tensor] = torch.nn.init.eye_,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kind, (inputs, units, outputs) = kind, sizes
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.core = torch.nn.RNN(inputs, units, nonlinearity="relu", batch_first=True)
            self.readout = torch.nn.Linear(units, outputs)
            self.W = self.core.get_parameter("weight_hh_l0")
            start(self.W)

    def states(self, x: Tensor) -> Tensor:
        """All states (N, T, n)."""
        path: Tensor = self.core(x)[0]
        return path

    def forward(self, x: Tensor) -> Tensor:
        """The forecasts."""
        outputs: Tensor = self.readout(self.states(x))
        return outputs

    @torch.no_grad()
    def project(self) -> None:
        """Make W of a URNN orthogonal again."""
        if self.kind == "URNN":
            self.W.copy_(polar(self.W))
