"""Small recurrent networks that are trained side by side: every tensor has an axis of G networks.

A network with fewer states than the widest is padded with zeros. A padded unit has no weight in or
out, so its state and every gradient there are exactly 0 and it stays one: the networks of a group
may differ in size, and none knows of the others.
"""

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.impl.convert.urnn import polar

Kind = Literal["RNN", "URNN", "LSTM"]
Start = Literal["identity", "random"]
KINDS: tuple[Kind, ...] = ("RNN", "URNN", "LSTM")
Weights = dict[str, Tensor]


class StudentGroup(torch.nn.Module):
    """G networks of one kind with a linear readout.

    RNN: h_t = ReLU(W h_{t−1} + U x_t + b). URNN: the same, with W replaced by its polar factor
    after every step (`impl.convert.urnn.polar`), so that it is orthogonal. LSTM: torch's, with one
    bias. Each from the zero state, ŷ_t = C h_t + c. First weights are those of `draw`.

    Shapes: x (T, G, N, d) -> ŷ (T, G, N, p), in float32. Source: Emami et al., experiments.
    """

    block: Tensor

    def __init__(self, kind: Kind, sizes: Sequence[int], weights: Weights) -> None:
        super().__init__()
        self.kind, self.networks, M = kind, len(sizes), max(sizes)
        live = torch.arange(M) < torch.tensor(sizes)[:, None]
        self.register_buffer("block", live[:, :, None] & live[:, None, :])
        self.weights = torch.nn.ParameterDict(weights)

    def states(self, x: Tensor) -> Tensor:
        """All states: x (T, G, N, d) -> (T, G, N, M)."""
        weights = self.weights
        drives = torch.einsum("tgnd,gmd->tgnm", x, weights["U"]) + weights["b"][:, None]
        W = weights["W"].mT
        h = drives.new_zeros(*drives.shape[1:3], weights["W"].shape[2])
        c, path = h, []
        for drive in drives.unbind(0):
            z = torch.baddbmm(drive, h, W)
            if self.kind == "LSTM":
                i, f, g, o = z.chunk(4, -1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            else:
                h = torch.relu(z)
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


def epoch_rows(step: int, count: int, size: int, *key: int) -> Tensor:
    """The `size` of `count` rows that step 0, 1, … trains on: every epoch in a new order."""
    epoch, at = divmod(step, -(-count // size))
    order = torch.randperm(count, generator=seeded_generator(*key, epoch))
    return order[at * size : (at + 1) * size]


def draw_weights(
    kind: Kind,
    sizes: Sequence[int],
    inputs: int,
    outputs: int,
    generators: Sequence[torch.Generator],
    *,
    start: Start = "identity",
) -> Weights:
    """First weights, by a generator for each network; the same ones make an RNN and a URNN twins.

    ReLU networks: b = 0, and W = I (Le, Jaitly & Hinton, 2015) or a random orthogonal matrix. All
    else is uniform on ±1/√n, with a forget bias of 1 (Jozefowicz et al., 2015).
    """
    G, M, gates = len(sizes), max(sizes), 4 if kind == "LSTM" else 1
    W, U = torch.zeros(G, gates, M, M), torch.zeros(G, gates, M, inputs)
    b, C, c = torch.zeros(G, gates, M), torch.zeros(G, outputs, M), torch.zeros(G, outputs)
    for g, (n, generator) in enumerate(zip(sizes, generators, strict=True)):

        def uniform(*shape: int, n: int = n, by: torch.Generator = generator) -> Tensor:
            sample: Tensor = (2 * torch.rand(*shape, generator=by) - 1) / math.sqrt(n)
            return sample

        U[g, :, :n] = uniform(gates, n, inputs)
        C[g, :, :n] = uniform(outputs, n)
        if kind == "LSTM":
            W[g, :, :n, :n] = uniform(gates, n, n)
            b[g, 1, :n] = 1.0
        else:
            random = start == "random"
            W[g, 0, :n, :n] = (
                polar(torch.randn(n, n, generator=generator)) if random else torch.eye(n)
            )
    return {"W": W.flatten(1, 2), "U": U.flatten(1, 2), "b": b.flatten(1), "C": C, "c": c}
