"""Networks of the experiments: around a core of torch's, truncated, and small ones side by side."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.tasks import TextTask
from rnnbounds.impl.certificate.stable_module import stable_
from rnnbounds.impl.convert.urnn import polar

KINDS = ("RNN", "URNN")


class Network(torch.nn.Module):
    """Vectors of symbols -> core (N, T, d) -> (N, T, n) -> readout (N, T, p), float32.

    `core(d)` makes the core. `shorten` keeps the vectors below ‖e‖₂ = 1, which bounds what the core
    reads. First weights are those of the seed.
    """

    def __init__(
        self, task: TextTask, core: Callable[[int], torch.nn.Module], units: int, seed: int
    ) -> None:
        super().__init__()
        vectors = 32
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embed = torch.nn.Embedding(task.symbols, vectors)
            torch.nn.init.normal_(self.embed.weight, std=1 / math.sqrt(vectors))
            self.core = core(vectors)
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


def recurrent_network(cell: str, task: TextTask, states: int, seed: int) -> Network:
    """A recurrent layer of torch's as the core."""
    make: Any = getattr(torch.nn, cell)
    return Network(task, lambda d: make(d, states, batch_first=True), states, seed)


def projection(stable: bool, lam: float) -> Callable[[Network], None]:
    """The projection that follows a training step: vectors are shortened, and the core of a stable
    network goes to where a step contracts by at most λ (`stable_`)."""

    def project(model: Network) -> None:
        model.shorten()
        if stable:
            stable_(model.core, lam, 1.0)

    return project


class StudentGroup(torch.nn.Module):
    """G networks of one kind side by side with a linear readout, from the zero state.

    RNN: h_t = ρ(W h_{t−1} + U x_t + b), ρ = ReLU by default. URNN: the same, with W replaced by its
    polar factor after every step, so that it is orthogonal. ŷ_t = C h_t + c. A network with fewer
    states than the widest is padded with zeros: a padded unit has no weight in or out, so its state
    and every gradient there are exactly 0 and it stays one.

    W starts as I (Le, Jaitly & Hinton, 2015) or, if `orthogonal`, as a random orthogonal matrix; U
    and C are uniform on ±1/√n. An RNN and a URNN start alike. Shapes: x (T, G, N, d) -> ŷ
    (T, G, N, p), float32. Source: Emami et al., experiments.
    """

    block: Tensor

    def __init__(
        self, kind: str, sizes: Sequence[int], inputs: int, outputs: int,
        generators: Sequence[torch.Generator], *, orthogonal: bool = False,
        rho: Callable[[Tensor], Tensor] = torch.relu,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kind, self.networks, self.rho = kind, len(sizes), rho
        G, M = len(sizes), max(sizes)
        live = torch.arange(M) < torch.tensor(sizes)[:, None]
        self.register_buffer("block", live[:, :, None] & live[:, None, :])
        shapes = {"W": (M, M), "U": (M, inputs), "b": (M,), "C": (outputs, M), "c": (outputs,)}
        weights = {name: torch.zeros(G, *shape) for name, shape in shapes.items()}
        for g, (n, by) in enumerate(zip(sizes, generators, strict=True)):
            weights["U"][g, :n] = (2 * torch.rand(n, inputs, generator=by) - 1) / math.sqrt(n)
            weights["C"][g, :, :n] = (2 * torch.rand(outputs, n, generator=by) - 1) / math.sqrt(n)
            start = polar(torch.randn(n, n, generator=by)) if orthogonal else torch.eye(n)
            weights["W"][g, :n, :n] = start
        self.weights = torch.nn.ParameterDict(weights)

    def states(self, x: Tensor) -> Tensor:
        """All states: x (T, G, N, d) -> (T, G, N, M)."""
        weights = self.weights
        drives = torch.einsum("tgnd,gmd->tgnm", x, weights["U"]) + weights["b"][:, None]
        W, h, path = weights["W"].mT, torch.zeros_like(drives[0]), []
        for drive in drives.unbind(0):
            h = self.rho(torch.baddbmm(drive, h, W))
            path.append(h)
        return torch.stack(path)

    def readout(self, h: Tensor) -> Tensor:
        """C h + c: h (…, G, N, M) -> (…, G, N, p)."""
        products = torch.einsum("...gnm,gpm->...gnp", h, self.weights["C"])
        outputs: Tensor = products + self.weights["c"][:, None]
        return outputs

    def forward(self, x: Tensor) -> Tensor:
        """The forecasts."""
        return self.readout(self.states(x))

    @torch.no_grad()
    def project(self) -> None:
        """Make every W of URNNs orthogonal again."""
        if self.kind == "URNN":
            W = self.weights["W"]
            padded = torch.where(self.block, W, torch.eye(W.shape[-1], device=W.device))
            W.copy_(torch.where(self.block, polar(padded), 0.0))
