"""The table of operations from which bounds are built, here in float64 rounded upwards; another
arithmetic, such as one of balls, gives a table of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from rnnbounds.impl.numbers.ball_functions import sigmoid_down, sigmoid_up, tanh_up
from rnnbounds.impl.numbers.outward import (
    TINY,
    add_up,
    div_up,
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
    """a + b, a b, and a / b of what is not negative; A C of matrices; sums and norms over the last
    axis, and √a; ‖A‖₂ of matrices, ‖diag(d) W‖₂, the same also by the largest of d, and what a
    float sum of so many products is off by where ‖a‖‖b‖ ≤ size; σ and tanh, and 1 − σ, which alone
    is bounded from below."""

    add: _BinaryOrFloat
    multiply: _BinaryOrFloat
    divide: _Binary
    product: _Binary
    total: _Unary
    norm: _Unary
    root: _Unary
    spectral: _Unary
    scaled: _Binary
    scaled_bound: _Binary
    sum_rounding: Callable[[int, Tensor], Tensor]
    sigmoid: _Unary
    tanh: _Unary
    sigmoid_complement: _Unary


def _scaled_norm_bound(d: Tensor, W: Tensor) -> Tensor:
    return torch.minimum(mul_up(d.amax(1), certified_norm(W)), scaled_norm(d, W))


def _sigmoid_complement(a: Tensor) -> Tensor:
    return sigmoid_down(-a)


def _sum_rounding(terms: int, size: Tensor) -> Tensor:
    """Bound the rounding error of a float sum of products with ‖a‖‖b‖ ≤ size, in any order."""
    return add_up(mul_up(gamma(terms + 2), size), 2 * terms * TINY)


OUTWARD = Operations(
    add_up, mul_up, div_up, product_up, sum_up, norm_up, sqrt_up, certified_norm, scaled_norm,
    _scaled_norm_bound, _sum_rounding, sigmoid_up, tanh_up, _sigmoid_complement,
)  # fmt: skip
