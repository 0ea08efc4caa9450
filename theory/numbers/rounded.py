"""The float64 operations, each with the sign of its rounding error.

An operation returns (value, error): the value rounded to nearest, and a number with the sign of the
true result minus the value (0 where exact, NaN where overflow or underflow hides the sign).  `down`
and `up` turn the pair into the nearest bound on either side, so exact results stay exact.  Where
all numbers are of ordinary size nothing else is looked at.

Assumes the default IEEE environment: round to nearest, gradual underflow.
Source: Knuth; Dekker; Veltkamp (error-free transformations).
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Rounded: TypeAlias = tuple[Floats, Floats]

SPLIT = 2.0**27 + 1.0
SAFE = 2.0**480  # a product of numbers within [1/SAFE, SAFE] has an exact error term
LIBRARY_ULPS = 8.0  # numpy's exp and log err by less than 4 units in the last place
TINY = 2.0**-1000  # below it nothing is assumed of the library's exp


def down(result: Rounded) -> Floats:
    """The largest float known to be at most the true result."""
    value, error = result
    beyond = ~np.asarray(error >= 0)
    if _positive(value):  # floats of one sign are ordered as their bits are
        return np.asarray((value.view(np.int64) - beyond).view(np.float64))
    with np.errstate(all="ignore"):
        return np.where(beyond, np.nextafter(value, -np.inf), value)


def up(result: Rounded) -> Floats:
    """The smallest float known to be at least the true result."""
    value, error = result
    beyond = ~np.asarray(error <= 0)
    if _positive(value):
        return np.asarray((value.view(np.int64) + beyond).view(np.float64))
    with np.errstate(all="ignore"):
        return np.where(beyond, np.nextafter(value, np.inf), value)


def add(x: Floats, y: Floats) -> Rounded:
    """Two-sum."""
    with np.errstate(all="ignore"):
        value = x + y
        other = value - x
        error = (x - (value - other)) + (y - other)
    if np.isfinite(value).all():
        return value, error
    return value, np.where(np.isinf(x) | np.isinf(y), 0.0, error)


def multiply(x: Floats, y: Floats) -> Rounded:
    """Two-product."""
    with np.errstate(all="ignore"):
        value = x * y
        x_high, x_low = split(x)
        y_high, y_low = split(y)
        error = x_low * y_low - (((value - x_high * y_high) - x_low * y_high) - x_high * y_low)
    known = _within(x), _within(y)
    if known[0].all() and known[1].all():
        return value, error
    trivial = (x == 0) | (y == 0) | np.isinf(x) | np.isinf(y)
    sign = np.where(value == 0, np.sign(x) * np.sign(y), np.nan)
    return value, np.where(trivial, 0.0, np.where(known[0] & known[1], error, sign))


def divide(x: Floats, y: Floats) -> Rounded:
    """The residual x - (x/y) y is exact."""
    with np.errstate(all="ignore"):
        value = x / y
        back, error = multiply(value, y)
        residual = ((x - back) - error) * np.sign(y)
    trivial = np.isinf(x) | np.isinf(y)
    return value, np.where(trivial, 0.0, np.where(np.isinf(value), np.nan, residual))


def square_root(x: Floats) -> Rounded:
    """The residual x - (sqrt x)^2 is exact."""
    with np.errstate(all="ignore"):
        value = np.sqrt(x)
        back, error = multiply(value, value)
        residual = (x - back) - error
    return value, np.where(np.isinf(x), 0.0, residual)


def exponential(x: Floats) -> tuple[Floats, Floats]:
    """A lower and an upper bound; [0, 2^-1000] for all tiny values."""
    with np.errstate(all="ignore"):
        value = np.exp(x)
    lo, hi = _widen(value)
    lo = np.where(value < TINY, 0.0, np.where(value == np.inf, 2.0**1023, lo))
    hi = np.where(value < TINY, TINY, hi)
    exact = (x == 0) | np.isinf(x)
    return np.where(exact, value, lo), np.where(exact, value, hi)


def logarithm(x: Floats) -> tuple[Floats, Floats]:
    """A lower and an upper bound."""
    with np.errstate(all="ignore"):
        value = np.log(x)
    lo, hi = _widen(value)
    exact = (x == 1) | np.isinf(value)
    return np.where(exact, value, lo), np.where(exact, value, hi)


def _widen(value: Floats) -> tuple[Floats, Floats]:
    with np.errstate(all="ignore"):
        margin = LIBRARY_ULPS * np.spacing(np.abs(value))
        lo, hi = np.nextafter(value - margin, -np.inf), np.nextafter(value + margin, np.inf)
    return lo, np.where(np.isinf(value), value, hi)


def split(x: Floats) -> Rounded:
    """26 and 27 bits of x."""
    scaled = SPLIT * x
    high = scaled - (scaled - x)
    return high, x - high


def _positive(x: Floats) -> bool:
    return bool(x.size and x.min() > 0 and x.max() < np.inf)


def _within(x: Floats) -> NDArray[np.bool_]:
    size = np.abs(x)
    return np.asarray((size >= 1.0 / SAFE) & (size <= SAFE))
