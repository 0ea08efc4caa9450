"""What cells share whose weights are torch's: W (g n, n), U (g n, d) and two biases for g gates."""

import torch
from torch import Tensor
from torch.nn.functional import linear

from impl.cells.kind import Weights
from impl.cells.layout import Layout
from impl.errors import NotFiniteError

SUFFIX = "_l0"
BIASES = ("bias_ih", "bias_hh")


def torch_layout(gates: int, state: str = "n") -> Layout:
    """The weights of so many gates."""
    rows = "n" if gates == 1 else f"{gates}n"
    shapes = {"weight_hh": f"{rows} n", "weight_ih": f"{rows} d", "bias_ih": rows, "bias_hh": rows}
    return Layout(shapes, BIASES, state)


def drive(weights: Weights, x: Tensor) -> Tensor:
    """U x + b_ih in rows."""
    return linear(x, weights["weight_ih"], weights.get("bias_ih"))


def filled(weights: Weights) -> Weights:
    """The weights (B, …) with zeros for biases that are not there; raises NotFiniteError if the sum
    of the two overflows."""
    zero = torch.zeros_like(weights["weight_hh"][:, :, 0])
    biases = {role: weights.get(role, zero) for role in BIASES}
    if not bool(torch.isfinite(torch.stack(list(biases.values())).sum(0)).all()):
        raise NotFiniteError("bias_ih + bias_hh")
    return {**weights, **biases}
