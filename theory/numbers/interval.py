"""Batched float64 enclosures with outward rounding.

An interval is an array of closed intervals [lo, hi] whose ends may be infinite.  Every operation
rounds outwards, and only where it rounds at all: integers, T - k say, stay exact.
NaN anywhere in an element makes that element [nan, nan], from which nothing follows; so do
inf - inf, 0 * inf, a division by an interval with zero in it, and a root or logarithm of one
that reaches below zero.  A result never depends on the other elements of its batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnnbounds.theory.numbers import ordinary, rounded
from rnnbounds.theory.numbers.ordinary import EndPair
from rnnbounds.theory.numbers.rounded import Floats, ValueAndError, round_down, round_up

_MAX_TABLE = 256  # powers of one number that are kept side by side


@dataclass(frozen=True, eq=False)
class Interval:
    """[lo, hi], two float64 arrays of one shape (broadcast if need be); an empty one is NaN."""

    lo: Floats
    hi: Floats

    __array_ufunc__ = None  # array + interval is left to the interval

    def __post_init__(self) -> None:
        lo, hi = np.asarray(self.lo, float), np.asarray(self.hi, float)
        if lo.shape != hi.shape:
            lo, hi = np.broadcast_arrays(lo, hi)
        valid = lo <= hi
        if not valid.all():
            lo, hi = np.where(valid, lo, np.nan), np.where(valid, hi, np.nan)
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)

    @classmethod
    def from_ends(cls, ends: EndPair) -> Interval:
        """Interval of two arrays of one shape that are known to be ordered."""
        interval = object.__new__(cls)
        object.__setattr__(interval, "lo", ends[0])
        object.__setattr__(interval, "hi", ends[1])
        return interval

    @property
    def ends(self) -> EndPair:
        """(lo, hi)."""
        return self.lo, self.hi

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __abs__(self) -> Interval:
        smallest = np.maximum(np.maximum(self.lo, -self.hi), 0.0)
        return Interval(smallest, np.maximum(-self.lo, self.hi))

    def __add__(self, other: Operand) -> Interval:
        other = _as_interval(other)
        if (ends := ordinary.add(self.ends, other.ends)) is not None:
            return Interval.from_ends(ends)
        return Interval(
            round_down(rounded.add(self.lo, other.lo)), round_up(rounded.add(self.hi, other.hi))
        )

    def __sub__(self, other: Operand) -> Interval:
        return self + (-_as_interval(other))

    def __mul__(self, other: Operand) -> Interval:
        other = _as_interval(other)
        if (ends := ordinary.multiply(self.ends, other.ends)) is not None:
            return Interval.from_ends(ends)
        low = high = rounded.multiply(self.lo, other.lo)
        if self.lo is not self.hi or other.lo is not other.hi:
            high = rounded.multiply(self.hi, other.hi)
        positive_product = Interval(round_down(low), round_up(high))
        are_positive = (self.lo >= 0) & (other.lo >= 0)
        if are_positive.all():
            return positive_product
        mixed_products = rounded.multiply(self.lo, other.hi), rounded.multiply(self.hi, other.lo)
        return _select(are_positive, positive_product, _hull(low, high, *mixed_products))

    def __truediv__(self, other: Operand) -> Interval:
        other = _as_interval(other)
        if (quick_ends := ordinary.divide(self.ends, other.ends)) is not None:
            return Interval.from_ends(quick_ends)
        if (self.lo >= 0).all() and (other.lo > 0).all() and _is_finite(self) and _is_finite(other):
            lowest = rounded.divide(self.lo, other.hi)
            return Interval(round_down(lowest), round_up(rounded.divide(self.hi, other.lo)))
        contains_zero = (other.lo <= 0) & (other.hi >= 0)
        ends = np.where(contains_zero, np.nan, other.lo), np.where(contains_zero, np.nan, other.hi)
        return _hull(*(rounded.divide(x, y) for x in (self.lo, self.hi) for y in ends))

    def __pow__(self, other: Operand) -> Interval:
        """Integer power where the exponent is one exact integer (0**0 = 1), else exp(e log b)."""
        exponent = _as_interval(other)
        is_integer = (exponent.lo == exponent.hi) & (exponent.lo == np.floor(exponent.lo))
        is_integer &= np.abs(exponent.lo) <= 2.0**53
        if is_integer.all():
            return _integer_power(self, exponent.lo)
        integer_power = _integer_power(self, np.where(is_integer, exponent.lo, 0.0))
        return _select(is_integer, integer_power, exp(exponent * log(self)))

    def __radd__(self, other: Operand) -> Interval:
        return _as_interval(other) + self

    def __rsub__(self, other: Operand) -> Interval:
        return _as_interval(other) - self

    def __rmul__(self, other: Operand) -> Interval:
        return _as_interval(other) * self

    def __rtruediv__(self, other: Operand) -> Interval:
        return _as_interval(other) / self

    def __rpow__(self, other: Operand) -> Interval:
        return _as_interval(other) ** self


Operand: TypeAlias = Interval | ArrayLike


def exact(values: ArrayLike) -> Interval:
    """[x, x] for floats and for integers up to 2^53.

    Raises ValueError for a larger integer, which float64 may round.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "fb" and np.any(np.abs(array) > 2**53):
        raise ValueError("an integer above 2^53 is not exact in float64; enclose it first")
    floats = array.astype(np.float64)
    return Interval(floats, floats)


def sqrt(x: Interval) -> Interval:
    """The square root; [nan, nan] where x reaches below zero."""
    return Interval(round_down(rounded.square_root(x.lo)), round_up(rounded.square_root(x.hi)))


def exp(x: Interval) -> Interval:
    """The exponential, 8 units in the last place wide on either side."""
    return Interval(rounded.exponential(x.lo)[0], rounded.exponential(x.hi)[1])


def log(x: Interval) -> Interval:
    """The natural logarithm, 8 units in the last place wide on either side."""
    return Interval(rounded.logarithm(x.lo)[0], rounded.logarithm(x.hi)[1])


def maximum(x: Interval, y: Interval) -> Interval:
    """max(x, y) of intervals, element by element."""
    return Interval(np.maximum(x.lo, y.lo), np.maximum(x.hi, y.hi))


def minimum(x: Interval, y: Interval) -> Interval:
    """min(x, y) of intervals, element by element."""
    return Interval(np.minimum(x.lo, y.lo), np.minimum(x.hi, y.hi))


def floor(x: Interval) -> Interval:
    """Floor of an interval: [floor lo, floor hi]."""
    return Interval(np.floor(x.lo), np.floor(x.hi))


def ceiling(x: Interval) -> Interval:
    """Ceiling of an interval: [ceiling lo, ceiling hi]."""
    return Interval(np.ceil(x.lo), np.ceil(x.hi))


def _as_interval(value: Operand) -> Interval:
    return value if isinstance(value, Interval) else exact(value)


def _is_finite(x: Interval) -> bool:
    return bool(np.isfinite(x.hi).all())


def _select(condition: NDArray[np.bool_], x: Interval, y: Interval) -> Interval:
    return Interval(np.where(condition, x.lo, y.lo), np.where(condition, x.hi, y.hi))


def _hull(*corners: ValueAndError) -> Interval:
    lo, hi = round_down(corners[0]), round_up(corners[0])
    for corner in corners[1:]:
        lo, hi = np.minimum(lo, round_down(corner)), np.maximum(hi, round_up(corner))
    return Interval(lo, hi)


def _ones(base: Interval, *shapes: NDArray[Any]) -> Interval:
    """b⁰ = 1, NaN where b is, in the broadcast shape of all arguments."""
    return _select(np.isnan(base.lo), base, exact(np.ones(np.broadcast(base.lo, *shapes).shape)))


def _square_repeatedly(square: Interval, base: Interval, remaining: NDArray[np.int64]) -> Interval:
    """(b²)^n by repeated squaring."""
    power = _ones(base, remaining)
    while remaining.any():
        power = _select(remaining % 2 == 1, power * square, power)
        remaining = remaining // 2
        square = square * square
    return power


def _power_table(square: Interval, base: Interval, max_exponent: int) -> Interval:
    """(b²)^n for all n = 0 … `max_exponent` along the last axis, on which b is constant: the
    powers from 2^j on are those before, times b² squared j times."""
    table = _ones(base)
    while table.lo.shape[-1] <= max_exponent:
        upper_half = table * square
        halves = ((table.lo, upper_half.lo), (table.hi, upper_half.hi))
        table = Interval(*(np.concatenate(ends, axis=-1) for ends in halves))
        square = square * square
    return table


def _take_columns(table: Interval, columns: NDArray[np.int64]) -> Interval:
    """The columns of the table, along its last axis."""
    return Interval(table.lo[..., columns], table.hi[..., columns])


def _scalar_power(base: Interval, count: int) -> Interval:
    """bⁿ for one n = `count` ≥ 0, equal to `_integer_power`, without redundant products."""
    square, remaining, even_power = abs(base), count // 2, None
    while remaining:
        square = square * square
        if remaining % 2:
            even_power = square if even_power is None else even_power * square
        remaining //= 2
    if even_power is None:
        return base if count else _ones(base)
    return base * even_power if count % 2 else even_power


def _integer_power(base: Interval, exponent: Floats) -> Interval:
    """|b|^n by repeated squaring for even n, b |b|^(n-1) for odd n, 1 / b^|n| for n < 0."""
    if exponent.size == 1 and exponent.ndim <= base.lo.ndim:
        power = _scalar_power(base, abs(int(exponent.item())))
        return 1.0 / power if exponent.item() < 0 else power
    count = np.abs(exponent).astype(np.int64)
    is_odd = count % 2 == 1
    square = abs(base) * abs(base)
    max_exponent = int(count.max(initial=0)) // 2
    is_along_last_axis = (
        count.size > 1 and count.shape[-1] == count.size and base.lo.shape[-1:] == (1,)
    )
    if is_along_last_axis and max_exponent < _MAX_TABLE:
        table = _power_table(square, base, max_exponent)
        power = _take_columns(table, count.ravel() // 2)
    else:
        power = _square_repeatedly(square, base, count // 2)
    power = _select(is_odd, base * power, power)
    return _select(exponent < 0, 1.0 / power, power) if np.any(exponent < 0) else power
