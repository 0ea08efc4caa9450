"""Cells that forget slowly, and the plain loop from the input where a chunk of them starts."""

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


def output_from(module: FeedForward, x: Tensor, t: int, start: int) -> Tensor:
    """The output at t, from 0 on, of the plain loop that starts from zero at that input."""
    kind, weights = kind_of(module.cell), module.weights
    drive = kind.drive(weights, x)
    s = x.new_zeros(len(x), 1, module.sizes.state)
    for r in range(start, t + 1):
        s = kind.step(weights, drive[:, r : r + 1], s)
    return s[:, 0, -module.sizes.n :]


def stacked(layers: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The weights of a stack by torch's names."""
    return {f"{name}_l{l}": part for l, one in enumerate(layers) for name, part in one.items()}
