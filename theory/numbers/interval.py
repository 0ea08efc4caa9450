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
from rnnbounds.theory.numbers.ordinary import Ends
from rnnbounds.theory.numbers.rounded import Floats, Rounded, down, up

_TABLE = 256  # powers of one number that are kept side by side


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
    def of(cls, ends: Ends) -> Interval:
        """Ends of one shape that are known to be in order."""
        found = object.__new__(cls)
        object.__setattr__(found, "lo", ends[0])
        object.__setattr__(found, "hi", ends[1])
        return found

    @property
    def ends(self) -> Ends:
        """Both ends."""
        return self.lo, self.hi

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __abs__(self) -> Interval:
        inner = np.maximum(np.maximum(self.lo, -self.hi), 0.0)
        return Interval(inner, np.maximum(-self.lo, self.hi))

    def __add__(self, other: Operand) -> Interval:
        other = _interval(other)
        if (known := ordinary.add(self.ends, other.ends)) is not None:
            return Interval.of(known)
        return Interval(down(rounded.add(self.lo, other.lo)), up(rounded.add(self.hi, other.hi)))

    def __sub__(self, other: Operand) -> Interval:
        return self + (-_interval(other))

    def __mul__(self, other: Operand) -> Interval:
        other = _interval(other)
        if (known := ordinary.multiply(self.ends, other.ends)) is not None:
            return Interval.of(known)
        low = high = rounded.multiply(self.lo, other.lo)
        if self.lo is not self.hi or other.lo is not other.hi:
            high = rounded.multiply(self.hi, other.hi)
        direct = Interval(down(low), up(high))
        positive = (self.lo >= 0) & (other.lo >= 0)
        if positive.all():
            return direct
        mixed = rounded.multiply(self.lo, other.hi), rounded.multiply(self.hi, other.lo)
        return _where(positive, direct, _hull(low, high, *mixed))

    def __truediv__(self, other: Operand) -> Interval:
        other = _interval(other)
        if (known := ordinary.divide(self.ends, other.ends)) is not None:
            return Interval.of(known)
        if (self.lo >= 0).all() and (other.lo > 0).all() and _finite(self) and _finite(other):
            least = rounded.divide(self.lo, other.hi)
            return Interval(down(least), up(rounded.divide(self.hi, other.lo)))
        zero = (other.lo <= 0) & (other.hi >= 0)
        ends = np.where(zero, np.nan, other.lo), np.where(zero, np.nan, other.hi)
        return _hull(*(rounded.divide(x, y) for x in (self.lo, self.hi) for y in ends))

    def __pow__(self, other: Operand) -> Interval:
        """Integer power where the exponent is one exact integer (0**0 = 1), else exp(e log b)."""
        exponent = _interval(other)
        integral = (exponent.lo == exponent.hi) & (exponent.lo == np.floor(exponent.lo))
        integral &= np.abs(exponent.lo) <= 2.0**53
        if integral.all():
            return _integer_power(self, exponent.lo)
        whole = _integer_power(self, np.where(integral, exponent.lo, 0.0))
        return _where(integral, whole, exp(exponent * log(self)))

    def __radd__(self, other: Operand) -> Interval:
        return _interval(other) + self

    def __rsub__(self, other: Operand) -> Interval:
        return _interval(other) - self

    def __rmul__(self, other: Operand) -> Interval:
        return _interval(other) * self

    def __rtruediv__(self, other: Operand) -> Interval:
        return _interval(other) / self

    def __rpow__(self, other: Operand) -> Interval:
        return _interval(other) ** self


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
    return Interval(down(rounded.square_root(x.lo)), up(rounded.square_root(x.hi)))


def exp(x: Interval) -> Interval:
    """The exponential, 8 units in the last place wide on either side."""
    return Interval(rounded.exponential(x.lo)[0], rounded.exponential(x.hi)[1])


def log(x: Interval) -> Interval:
    """The natural logarithm, 8 units in the last place wide on either side."""
    return Interval(rounded.logarithm(x.lo)[0], rounded.logarithm(x.hi)[1])


def maximum(x: Interval, y: Interval) -> Interval:
    """The larger of the two."""
    return Interval(np.maximum(x.lo, y.lo), np.maximum(x.hi, y.hi))


def minimum(x: Interval, y: Interval) -> Interval:
    """The smaller of the two."""
    return Interval(np.minimum(x.lo, y.lo), np.minimum(x.hi, y.hi))


def floor(x: Interval) -> Interval:
    """[floor lo, floor hi]."""
    return Interval(np.floor(x.lo), np.floor(x.hi))


def ceiling(x: Interval) -> Interval:
    """[ceiling lo, ceiling hi]."""
    return Interval(np.ceil(x.lo), np.ceil(x.hi))


def _interval(value: Operand) -> Interval:
    return value if isinstance(value, Interval) else exact(value)


def _finite(x: Interval) -> bool:
    return bool(np.isfinite(x.hi).all())


def _where(condition: NDArray[np.bool_], x: Interval, y: Interval) -> Interval:
    return Interval(np.where(condition, x.lo, y.lo), np.where(condition, x.hi, y.hi))


def _hull(*corners: Rounded) -> Interval:
    lo, hi = down(corners[0]), up(corners[0])
    for corner in corners[1:]:
        lo, hi = np.minimum(lo, down(corner)), np.maximum(hi, up(corner))
    return Interval(lo, hi)


def _one(base: Interval, *shapes: NDArray[Any]) -> Interval:
    """b⁰ in the shape of all."""
    return _where(np.isnan(base.lo), base, exact(np.ones(np.broadcast(base.lo, *shapes).shape)))


def _repeated(square: Interval, base: Interval, left: NDArray[np.int64]) -> Interval:
    """(b²)^n by repeated squaring."""
    power = _one(base, left)
    while left.any():
        power = _where(left % 2 == 1, power * square, power)
        left = left // 2
        square = square * square
    return power


def _powers(square: Interval, base: Interval, most: int) -> Interval:
    """(b²)^n for all n = 0 … `most` along the last axis, on which b is constant: the powers from
    2^j on are those before, times b² squared j times."""
    table = _one(base)
    while table.lo.shape[-1] <= most:
        more = table * square
        pairs = ((table.lo, more.lo), (table.hi, more.hi))
        table = Interval(*(np.concatenate(ends, axis=-1) for ends in pairs))
        square = square * square
    return table


def _taken(table: Interval, places: NDArray[np.int64]) -> Interval:
    """Those of the last axis."""
    return Interval(table.lo[..., places], table.hi[..., places])


def _one_power(base: Interval, count: int) -> Interval:
    """bⁿ for one n = `count` ≥ 0, equal to `_integer_power`, without redundant products."""
    square, left, even = abs(base), count // 2, None
    while left:
        square = square * square
        if left % 2:
            even = square if even is None else even * square
        left //= 2
    if even is None:
        return base if count else _one(base)
    return base * even if count % 2 else even


def _integer_power(base: Interval, exponent: Floats) -> Interval:
    """|b|^n by repeated squaring for even n, b |b|^(n-1) for odd n, 1 / b^|n| for n < 0."""
    if exponent.size == 1 and exponent.ndim <= base.lo.ndim:
        power = _one_power(base, abs(int(exponent.item())))
        return 1.0 / power if exponent.item() < 0 else power
    count = np.abs(exponent).astype(np.int64)
    odd = count % 2 == 1
    square = abs(base) * abs(base)
    most = int(count.max(initial=0)) // 2
    along = count.size > 1 and count.shape[-1] == count.size and base.lo.shape[-1:] == (1,)
    if along and most < _TABLE:
        table = _powers(square, base, most)
        power = _taken(table, count.ravel() // 2)
    else:
        power = _repeated(square, base, count // 2)
    power = _where(odd, base * power, power)
    return _where(exponent < 0, 1.0 / power, power) if np.any(exponent < 0) else power
