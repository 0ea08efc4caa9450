"""The operations that bounds are made of, which a carrier of numbers may have another way."""

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

_Pair: TypeAlias = Callable[[Tensor | float, Tensor | float], Tensor]
_One: TypeAlias = Callable[[Tensor], Tensor]
_Two: TypeAlias = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Operations:
    """a + b and a b; A C of matrices; sums and norms over the last axis, and √a; ‖A‖₂ of matrices,
    ‖diag(d) W‖₂, the same also by the largest of d, and what a float sum of so many products is off
    by where ‖a‖‖b‖ ≤ size."""

    add: _Pair
    multiply: _Pair
    product: _Two
    total: _One
    norm: _One
    root: _One
    spectral: _One
    scaled: _Two
    steered: _Two
    lost: Callable[[int, Tensor], Tensor]


def _steered(d: Tensor, W: Tensor) -> Tensor:
    return torch.minimum(mul_up(d.amax(1), certified_norm(W)), scaled_norm(d, W))


def _lost(terms: int, size: Tensor) -> Tensor:
    """In any order of summation."""
    return add_up(mul_up(gamma(terms + 2), size), 2 * terms * TINY)


OUTWARD = Operations(
    add_up, mul_up, product_up, sum_up, norm_up, sqrt_up, certified_norm, scaled_norm, _steered,
    _lost,
)  # fmt: skip
