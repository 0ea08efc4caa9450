"""Dual norms: what a norm on the states does to the rows of a readout."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import (
    add_up,
    mul_up,
    norm_up,
    sqrt_up,
    sum_up,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


class Dual(Protocol):
    """Dual and operator norms of a readout's rows for a norm ‖·‖ on states, rounded up."""

    def distance(self, a: Tensor, b: Tensor) -> Tensor:
        """At least the dual norms sup {(a − b)·h : ‖h‖ ≤ 1} of rows (B, p, n): (B, p)."""

    def operator(self, C: Tensor) -> Tensor:
        """At least sup {‖C h‖₂ : ‖h‖ ≤ 1} of C (B, p, n): (B,)."""


class Euclidean:
    """The Euclidean norm, which is its own dual."""

    def distance(self, a: Tensor, b: Tensor) -> Tensor:
        """‖a − b‖₂, row by row."""
        return norm_up(absolute_difference(a, b))

    def operator(self, C: Tensor) -> Tensor:
        """‖C‖₂."""
        return certified_norm(C)


@dataclass(frozen=True, eq=False)
class WeightedMaximumDual:
    """Dual of the norm max |h_i|/v_i, v (B, n): a row c counts as Σ_i v_i|c_i|."""

    v: Tensor

    def distance(self, a: Tensor, b: Tensor) -> Tensor:
        """Σ_i v_i|a_i − b_i|, row by row."""
        return sum_up(mul_up(absolute_difference(a, b), self.v[:, None]))

    def operator(self, C: Tensor) -> Tensor:
        """√(vᵀ|CᵀC|v), since ‖C h‖₂² = hᵀCᵀC h."""
        upper, lower = (torch.zeros_like(C.mT @ C) for _ in range(2))
        for row in C.detach().unbind(1):
            upper = add_up(upper, mul_up(row[:, :, None], row[:, None]))
            lower = add_up(lower, mul_up(-row[:, :, None], row[:, None]))
        weighted = mul_up(torch.maximum(upper, lower), self.v[:, None])
        return sqrt_up(sum_up(mul_up(sum_up(weighted), self.v)))


EUCLIDEAN = Euclidean()


def absolute_difference(a: Tensor, b: Tensor) -> Tensor:
    """At least |a − b|, entry by entry; infinity for NaN."""
    return torch.maximum(add_up(a, -b), add_up(b, -a))
