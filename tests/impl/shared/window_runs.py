"""Cells that forget slowly, and the plain loop from the input where a chunk of them starts."""

import torch
from draws import normal
from torch import Tensor

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.feedforward import FeedForward

GATES = {"lstm": 4, "gru": 3, "gru-cho": 3}


def slow_weights(
    cell: str, n: int = 4, d: int = 3, *, biases: bool = True, seed: int = 0
) -> dict[str, Tensor]:
    """Weights in float64 with which windows of a few inputs can be told apart."""
    g = GATES.get(cell, 1)
    weights = {
        "weight_ih": normal(g * n, d, seed=seed + 1),
        "weight_hh": 0.8 / n**0.5 * normal(g * n, n, seed=seed + 2),
    }
    drawn = {"bias_ih": normal(g * n, seed=seed + 3), "bias_hh": normal(g * n, seed=seed + 4)}
    return weights | (drawn if biases else {})


def outputs(cell: str, weights: dict[str, Tensor], x: Tensor) -> Tensor:
    """All outputs (N, T, n) of a cell from the zero state on x (N, T, d), one step at a time."""
    kind = kind_of(cell)
    sizes = kind.layout(weights).sizes(weights)
    s, found = x.new_zeros(len(x), sizes.state), []
    for drive in kind.drive(weights, x).unbind(1):
        s = kind.step(weights, drive, s)
        found.append(s[:, -sizes.n :])
    return torch.stack(found, 1)


def output_from(module: FeedForward, x: Tensor, t: int, start: int) -> Tensor:
    """The output at t, from 0 on, of the plain loop that starts from zero at that input."""
    return outputs(module.cell, dict(module.weights), x[:, start : t + 1])[:, -1]


def stacked(layers: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The weights of a stack by torch's names."""
    return {f"{name}_l{l}": part for l, one in enumerate(layers) for name, part in one.items()}
