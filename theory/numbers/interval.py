"""Batched float64 enclosures: what is rounded is widened by one unit in the last place.

An interval is an array of closed intervals [lo, hi] whose ends may be infinite.  Every operation
rounds outwards, and only where it rounds at all: integers, T - k say, stay exact.
NaN anywhere in an element makes that element [nan, nan], from which nothing follows; so do
inf - inf, 0 * inf, a division by an interval with zero in it, and a root or logarithm of one
that reaches below zero.  A result never depends on the other elements of its batch.

Assumes the default IEEE environment: round to nearest, gradual underflow.  Whether an operation
rounds is told by its error term (Knuth; Dekker; Veltkamp), where that cannot underflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Rounded: TypeAlias = tuple[Floats, NDArray[np.bool_]]  # the nearest float, and whether it is exact

SPLIT_FACTOR = 2.0**27 + 1.0
SMALL = 2.0**-900  # a product of this size has an exact error term, or NaN where it overflows
LIBRARY_ULPS = 8.0  # numpy's exp and log err by less than 4 units in the last place
TINY = 2.0**-1000  # below it nothing is assumed of the library's exp


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

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """(lo, hi)."""
        return self.lo, self.hi

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __abs__(self) -> Interval:
        smallest = np.maximum(np.maximum(self.lo, -self.hi), 0.0)
        return Interval(smallest, np.maximum(-self.lo, self.hi))

    def __add__(self, other: Operand) -> Interval:
        other = _as_interval(other)
        low = high = _sum(self.lo, other.lo)
        if self.lo is not self.hi or other.lo is not other.hi:
            high = _sum(self.hi, other.hi)
        return Interval(_down(low), _up(high))

    def __sub__(self, other: Operand) -> Interval:
        return self + (-_as_interval(other))

    def __mul__(self, other: Operand) -> Interval:
        other = _as_interval(other)
        are_positive = (self.lo >= 0) & (other.lo >= 0)
        low = high = _product(self.lo, other.lo)
        if self.lo is not self.hi or other.lo is not other.hi:
            high = _product(self.hi, other.hi)
        positive = Interval(np.maximum(_down(low), 0.0), _up(high))
        if are_positive.all():
            return positive
        mixed = _product(self.lo, other.hi), _product(self.hi, other.lo)
        return _select(are_positive, positive, _hull(low, high, *mixed))

    def __truediv__(self, other: Operand) -> Interval:
        other = _as_interval(other)
        has_zero = (other.lo <= 0) & (other.hi >= 0)
        ends = (np.where(has_zero, np.nan, end) for end in other.ends)
        hull = _hull(*(_quotient(x, y) for y in ends for x in self.ends))
        lowest = np.where((self.lo >= 0) & (other.lo > 0), np.maximum(hull.lo, 0.0), hull.lo)
        return Interval(lowest, hull.hi)

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
    return Interval(np.maximum(_down(_root(x.lo)), 0.0), _up(_root(x.hi)))


def exp(x: Interval) -> Interval:
    """The exponential, 8 units in the last place wide; [0, 2^-1000] for all tiny values."""
    low, high = (_by_library(np.exp, end, 0.0, sign) for end, sign in ((x.lo, -1.0), (x.hi, 1.0)))
    low = np.where(low == np.inf, np.where(x.lo == np.inf, np.inf, 2.0**1023), low)
    low = np.where(low < TINY, 0.0, low)
    return Interval(low, np.where(x.hi == -np.inf, 0.0, np.maximum(high, TINY)))


def log(x: Interval) -> Interval:
    """The natural logarithm, 8 units in the last place wide on either side."""
    return Interval(_by_library(np.log, x.lo, 1.0, -1.0), _by_library(np.log, x.hi, 1.0, 1.0))


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


def _sum(x: Floats, y: Floats) -> Rounded:
    """x + y, by Knuth's two-sum."""
    with np.errstate(all="ignore"):
        value = x + y
        other = value - x
        error = (x - (value - other)) + (y - other)
    return value, (error == 0) | np.isinf(x) | np.isinf(y)


def _product(x: Floats, y: Floats) -> Rounded:
    """x y, by Dekker's two-product."""
    with np.errstate(all="ignore"):
        value = x * y
        (x_high, x_low), (y_high, y_low) = _split_bits(x), _split_bits(y)
        error = x_low * y_low - (((value - x_high * y_high) - x_low * y_high) - x_high * y_low)
        is_exact = (error == 0) & (np.abs(value) >= SMALL)
    return value, is_exact | (x == 0) | (y == 0) | np.isinf(x) | np.isinf(y)


def _quotient(x: Floats, y: Floats) -> Rounded:
    """x/y, exact where its product with y is x."""
    with np.errstate(all="ignore"):
        value = x / y
    product, is_exact = _product(value, y)
    return value, (is_exact & (product == x)) | np.isinf(x) | np.isinf(y)


def _root(x: Floats) -> Rounded:
    """√x, exact where its square is x."""
    with np.errstate(all="ignore"):
        value = np.sqrt(x)
    square, is_exact = _product(value, value)
    return value, is_exact & (square == x)


def _down(result: Rounded) -> Floats:
    value, is_exact = result
    with np.errstate(all="ignore"):
        return np.where(is_exact, value, np.nextafter(value, -np.inf))


def _up(result: Rounded) -> Floats:
    value, is_exact = result
    with np.errstate(all="ignore"):
        return np.where(is_exact, value, np.nextafter(value, np.inf))


def _hull(*corners: Rounded) -> Interval:
    return Interval(reduce(np.minimum, map(_down, corners)), reduce(np.maximum, map(_up, corners)))


def _by_library(function: Callable[[Floats], Floats], x: Floats, at: float, sign: float) -> Floats:
    """An end of f(x), beyond what numpy errs by; the value itself at the one exact x."""
    with np.errstate(all="ignore"):
        value = function(x)
        end = np.nextafter(value + sign * LIBRARY_ULPS * np.spacing(np.abs(value)), sign * np.inf)
    return np.where((x == at) | np.isinf(value), value, end)


def _split_bits(x: Floats) -> tuple[Floats, Floats]:
    """Split x = high + low into floats of at most 27 bits (Veltkamp)."""
    scaled = SPLIT_FACTOR * x
    high = scaled - (scaled - x)
    return high, x - high


def _select(condition: NDArray[np.bool_], x: Interval, y: Interval) -> Interval:
    return Interval(np.where(condition, x.lo, y.lo), np.where(condition, x.hi, y.hi))


def _integer_power(base: Interval, exponent: Floats) -> Interval:
    """|b|^n by repeated squaring for even n, b |b|^(n-1) for odd n, 1 / b^|n| for n < 0."""
    count = np.abs(exponent).astype(np.int64)
    is_odd, remaining, square = count % 2 == 1, count // 2, abs(base)
    ones = np.where(np.isnan(base.lo), np.nan, np.ones(np.broadcast(base.lo, count).shape))
    power = Interval(ones, ones)
    while remaining.any():
        square = square * square
        power = _select(remaining % 2 == 1, power * square, power)
        remaining = remaining // 2
    power = _select(is_odd, base * power, power)
    return _select(exponent < 0, 1.0 / power, power) if np.any(exponent < 0) else power
