"""The table of operations from which bounds are built, here in float64 rounded upwards; another
arithmetic, such as one of balls, gives a table of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import (
    TINY,
    add_up,
    gamma,
    mul_up,
    norm_up,
    product_up,
    sqrt_up,
    sum_up,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, scaled_norm

_BinaryOrFloat: TypeAlias = Callable[[Tensor | float, Tensor | float], Tensor]
_Unary: TypeAlias = Callable[[Tensor], Tensor]
_Binary: TypeAlias = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Operations:
    """a + b and a b; A C of matrices; sums and norms over the last axis, and √a; ‖A‖₂ of matrices,
    ‖diag(d) W‖₂, the same also by the largest of d, and what a float sum of so many products is off
    by where ‖a‖‖b‖ ≤ size."""

    add: _BinaryOrFloat
    multiply: _BinaryOrFloat
    product: _Binary
    total: _Unary
    norm: _Unary
    root: _Unary
    spectral: _Unary
    scaled: _Binary
    scaled_bound: _Binary
    sum_rounding: Callable[[int, Tensor], Tensor]


def _scaled_norm_bound(d: Tensor, W: Tensor) -> Tensor:
    return torch.minimum(mul_up(d.amax(1), certified_norm(W)), scaled_norm(d, W))


def _sum_rounding(terms: int, size: Tensor) -> Tensor:
    """Bound the rounding error of a float sum of products with ‖a‖‖b‖ ≤ size, in any order."""
    return add_up(mul_up(gamma(terms + 2), size), 2 * terms * TINY)


OUTWARD = Operations(
    add_up, mul_up, product_up, sum_up, norm_up, sqrt_up, certified_norm, scaled_norm,
    _scaled_norm_bound, _sum_rounding,
)  # fmt: skip
