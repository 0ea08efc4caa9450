"""‖A‖₂ of the matrices at a point, and whether it is at most a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import arb, arb_mat, fmpq
from torch import Tensor

from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.properties.read.numbers.sizes import spectral_size

ONE = fmpq(1)


@dataclass(frozen=True, eq=False)
class MatrixNorm:
    """‖A‖₂ of a matrix of floats."""

    matrix: Tensor

    @cached_property
    def ball(self) -> arb:
        """The norm as a ball."""
        return ball_norm(self.matrix)


@dataclass(frozen=True, eq=False)
class ScaledNorm:
    """‖A‖₂ of a matrix of balls, over the root of a rational."""

    matrix: arb_mat
    divisor_square: fmpq = ONE

    @cached_property
    def ball(self) -> arb:
        """The norm as a ball."""
        size = ball_norm(self.matrix)
        return size if self.divisor_square == 1 else size / arb(self.divisor_square).sqrt()

    def is_at_most(self, limit: fmpq) -> bool | None:
        """True if ‖A‖₂/√square is ≤ limit (≥ 0); None if the balls of a block are too wide."""
        return spectral_size(self.matrix.tolist(), self.divisor_square).is_at_most(limit)
