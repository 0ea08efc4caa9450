"""Rounding errors of float dtypes: of one run, or of runs in several dtypes, one per system.

Rounding to nearest is monotone, so that the endpoints of an interval are rounded as a run rounds
its values. Sums may be in any order, with relative error γ_m of the dtype (Higham, section 3.1);
functions have a relative error of at most 16 units of their working precision, see
`impl.arithmetic.activation.working`, before they are rounded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation, working_unit
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.numbers.outward import add_up, mul_up
from rnnbounds.impl.numbers.scaling import exponent, shift

_TWICE = 2.0**-10  # of a rounding: one before it, in float32, float64 or 64 bits


@dataclass(frozen=True)
class DtypeRuns:
    """The roundings of a run in each of the dtypes, or in the one for all systems of a batch.

    fused: whether a kernel may leave out any of them. Numbers of a dtype are columns (dtypes, 1).
    """

    dtypes: tuple[torch.dtype, ...]
    fused: bool = False

    @cached_property
    def units(self) -> tuple[float, ...]:
        """u of each dtype."""
        return tuple(float(torch.finfo(dtype).eps) / 2 for dtype in self.dtypes)

    @cached_property
    def unit(self) -> Tensor:
        """The unit roundoff u of each dtype, (dtypes, 1)."""
        return _column(self.units)

    @cached_property
    def tiny(self) -> Tensor:
        """The least normal number of each dtype, (dtypes, 1)."""
        return _column(torch.finfo(dtype).tiny for dtype in self.dtypes)

    @cached_property
    def largest(self) -> Tensor:
        """The largest number of each dtype, (dtypes, 1)."""
        return _column(torch.finfo(dtype).max for dtype in self.dtypes)

    @cached_property
    def function_error(self) -> Tensor:
        """How far functions are off, relative to their values."""
        return _column(16 * working_unit(unit) for unit in self.units)

    def stored(self, a: Tensor) -> Tensor:
        """Numbers (B, …) as the dtypes have them."""
        parts = zip(self.dtypes, self._by_dtype(a), strict=True)
        return torch.cat([part.to(dtype).to(torch.float64) for dtype, part in parts])

    def activation_error(self, rho: Activation, size: Tensor) -> Tensor:
        """At least what ρ is off by for |z| ≤ size (B, m), by its error model."""
        parts = zip(self.units, self._by_dtype(size), strict=True)
        return torch.cat([rho.dtype_error(unit, 1, part) for unit, part in parts])

    def _by_dtype(self, a: Tensor) -> tuple[Tensor, ...]:
        """The systems of each dtype."""
        return (a,) if len(self.dtypes) == 1 else torch.split(a, 1)

    def round(self, a: Interval) -> Interval:
        """Enclose the rounded result of an operation with exact result in a; ±∞ on overflow."""
        low, high = self.stored(torch.stack([a.low, a.high], dim=1)).unbind(1)
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
        return self._unit_of(size) * (1 + _TWICE) * binade

    def terms_error(self, sizes: Tensor) -> Tensor:
        """At least what a sum of K products of at most these sizes (B, m, K), added in any order,
        is off by: (B, m); infinite where γ is not known.

        Of K − 1 additions, in whatever tree, the j-th largest has no more than K + 1 − j terms. So
        it is off by u 2ᵉ at most, with 2ᵉ ≤ P < 2ᵉ⁺¹ for the sum P of so many of the largest.
        """
        K = sizes.shape[-1]
        largest = sizes.sort(-1, descending=True).values.cumsum(-1) * (1 + K * 2.0**-51)
        unit = self._unit_of(sizes)
        growth = torch.where(K * unit < 0.5, 1 + 2 * K * unit, torch.inf)
        partial = torch.where(largest == 0, 0.0, largest * growth)  # as they are computed
        added = self.rounding_error(partial[..., 1:]).sum(-1)
        products = (unit * (1 + _TWICE) * partial)[..., -1]
        return (added + products) * (1 + K * 2.0**-51)

    def _unit_of(self, sizes: Tensor) -> Tensor:
        """u of each dtype, beside sizes (B, …)."""
        return self.unit.reshape(-1, *[1] * (sizes.ndim - 1)).to(sizes)

    def sum_error(self, terms: int, size: Tensor) -> Tensor:
        """At least what a sum of so many products is off by, their absolute values adding up to
        `size`; infinite where γ is not known."""
        relative = terms * self.unit
        gamma = torch.where(relative < 0.5, relative / (1 - relative) * (1 + 2.0**-50), torch.inf)
        return torch.where(size == 0, 0.0, mul_up(gamma, size))


def _column(numbers: Iterable[float]) -> Tensor:
    return torch.tensor([*numbers], dtype=torch.float64)[:, None]
