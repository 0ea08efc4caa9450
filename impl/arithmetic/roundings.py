"""Rounding errors of a run in a float dtype.

Rounding to nearest is monotone, so that the endpoints of an interval are rounded as a run rounds
its values. Sums may be in any order, with relative error γ_m of the dtype (Higham, section 3.1);
functions have a relative error of at most 16 units of their working precision, see
`impl.arithmetic.activation.working`, before they are rounded.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import working_unit
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.numbers.outward import add_up, mul_up
from rnnbounds.impl.numbers.scaling import exponent, shift

_TWICE = 2.0**-10  # of a rounding: one before it, in float32, float64 or 64 bits


@dataclass(frozen=True)
class DtypeRun:
    """The roundings of a run in a dtype.

    fused: whether a kernel may leave out any of them.
    """

    dtype: torch.dtype
    fused: bool = False

    @property
    def unit(self) -> float:
        """The unit roundoff u."""
        return float(torch.finfo(self.dtype).eps) / 2

    @property
    def tiny(self) -> float:
        """The least normal number."""
        return float(torch.finfo(self.dtype).tiny)

    @property
    def largest(self) -> float:
        """The largest number."""
        return float(torch.finfo(self.dtype).max)

    @property
    def function_error(self) -> float:
        """How far functions are off, relative to their values."""
        return 16 * working_unit(self.unit)

    def stored(self, a: Tensor) -> Tensor:
        """Numbers as the dtype has them."""
        return a.to(self.dtype).to(torch.float64)

    def round(self, a: Interval) -> Interval:
        """Enclose the rounded result of an operation with exact result in a; ±∞ on overflow."""
        low, high = self.stored(a.low), self.stored(a.high)
        if self.fused:
            low, high = torch.minimum(low, a.low), torch.maximum(high, a.high)
        return Interval(
            low.nan_to_num(-torch.inf, torch.inf, -torch.inf),
            high.nan_to_num(torch.inf, torch.inf, -torch.inf),
        )

    def round_within(self, a: Interval, error: Tensor | float) -> Interval:
        """Enclose the rounded result of an operation within `error` and underflow of a."""
        error = add_up(error, self.tiny)
        return self.round(a.widened(error.expand_as(a.low)))

    def rounding_error(self, size: Tensor) -> Tensor:
        """At least what a result |v| ≤ size (B, …) loses as it is rounded to nearest: u 2ᵉ for
        2ᵉ ≤ size < 2ᵉ⁺¹, and a little more, as it may have been rounded to a finer dtype before."""
        binade = shift(torch.ones_like(size), exponent(size) - 1)
        binade = torch.where(torch.isfinite(size) & (size != 0), binade, size)
        return self.unit * (1 + _TWICE) * binade

    def terms_error(self, sizes: Tensor) -> Tensor:
        """At least what a sum of K products of at most these sizes (B, m, K), added in any order,
        is off by: (B, m); infinite where γ is not known.

        Of K − 1 additions, in whatever tree, the j-th largest has no more than K + 1 − j terms. So
        it is off by u 2ᵉ at most, with 2ᵉ ≤ P < 2ᵉ⁺¹ for the sum P of so many of the largest.
        """
        K = sizes.shape[-1]
        largest = sizes.sort(-1, descending=True).values.cumsum(-1) * (1 + K * 2.0**-51)
        growth = 1 + 2 * K * self.unit if K * self.unit < 0.5 else math.inf
        partial = torch.where(largest == 0, 0.0, largest * growth)  # as they are computed
        added = self.rounding_error(partial[..., 1:]).sum(-1)
        products = (self.unit * (1 + _TWICE) * partial)[..., -1]
        return (added + products) * (1 + K * 2.0**-51)

    def sum_error(self, terms: int, size: Tensor) -> Tensor:
        """At least what a sum of so many products is off by, their absolute values adding up to
        `size`; infinite where γ is not known."""
        relative = terms * self.unit
        gamma = relative / (1 - relative) * (1 + 2.0**-50) if relative < 0.5 else math.inf
        return torch.where(size == 0, 0.0, mul_up(gamma, size))
