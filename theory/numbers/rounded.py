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
ValueAndError: TypeAlias = tuple[Floats, Floats]

SPLIT_FACTOR = 2.0**27 + 1.0
LIMIT = 2.0**480  # a product of numbers within [1/SAFE, SAFE] has an exact error term
LIBRARY_ULPS = 8.0  # numpy's exp and log err by less than 4 units in the last place
TINY = 2.0**-1000  # below it nothing is assumed of the library's exp


def round_down(result: ValueAndError) -> Floats:
    """The largest float known to be at most the true result."""
    value, error = result
    is_beyond = ~np.asarray(error >= 0)
    if _is_positive(value):  # floats of one sign are ordered as their bits are
        return np.asarray((value.view(np.int64) - is_beyond).view(np.float64))
    with np.errstate(all="ignore"):
        return np.where(is_beyond, np.nextafter(value, -np.inf), value)


def round_up(result: ValueAndError) -> Floats:
    """The smallest float known to be at least the true result."""
    value, error = result
    is_beyond = ~np.asarray(error <= 0)
    if _is_positive(value):
        return np.asarray((value.view(np.int64) + is_beyond).view(np.float64))
    with np.errstate(all="ignore"):
        return np.where(is_beyond, np.nextafter(value, np.inf), value)


def add(x: Floats, y: Floats) -> ValueAndError:
    """(x + y rounded, its exact rounding error), by Knuth's two-sum."""
    with np.errstate(all="ignore"):
        value = x + y
        other = value - x
        error = (x - (value - other)) + (y - other)
    if np.isfinite(value).all():
        return value, error
    return value, np.where(np.isinf(x) | np.isinf(y), 0.0, error)


def multiply(x: Floats, y: Floats) -> ValueAndError:
    """(x y rounded, its exact rounding error), by Dekker's two-product."""
    with np.errstate(all="ignore"):
        value = x * y
        x_high, x_low = split_bits(x)
        y_high, y_low = split_bits(y)
        error = x_low * y_low - (((value - x_high * y_high) - x_low * y_high) - x_high * y_low)
    are_safe = _is_safe(x), _is_safe(y)
    if are_safe[0].all() and are_safe[1].all():
        return value, error
    is_exact = (x == 0) | (y == 0) | np.isinf(x) | np.isinf(y)
    sign = np.where(value == 0, np.sign(x) * np.sign(y), np.nan)
    return value, np.where(is_exact, 0.0, np.where(are_safe[0] & are_safe[1], error, sign))


def divide(x: Floats, y: Floats) -> ValueAndError:
    """(x/y rounded, sign of its error), by the exact residual x − (x/y) y."""
    with np.errstate(all="ignore"):
        value = x / y
        product, error = multiply(value, y)
        residual = ((x - product) - error) * np.sign(y)
    is_exact = np.isinf(x) | np.isinf(y)
    return value, np.where(is_exact, 0.0, np.where(np.isinf(value), np.nan, residual))


def square_root(x: Floats) -> ValueAndError:
    """(√x rounded, sign of its error), by the exact residual x − (√x)²."""
    with np.errstate(all="ignore"):
        value = np.sqrt(x)
        square, error = multiply(value, value)
        residual = (x - square) - error
    return value, np.where(np.isinf(x), 0.0, residual)


def exponential(x: Floats) -> tuple[Floats, Floats]:
    """Lower and upper bound on exp x; [0, 2^-1000] for all tiny values."""
    with np.errstate(all="ignore"):
        value = np.exp(x)
    lo, hi = _widen_by_ulps(value)
    lo = np.where(value < TINY, 0.0, np.where(value == np.inf, 2.0**1023, lo))
    hi = np.where(value < TINY, TINY, hi)
    is_exact = (x == 0) | np.isinf(x)
    return np.where(is_exact, value, lo), np.where(is_exact, value, hi)


def logarithm(x: Floats) -> tuple[Floats, Floats]:
    """Lower and upper bound on ln x."""
    with np.errstate(all="ignore"):
        value = np.log(x)
    lo, hi = _widen_by_ulps(value)
    is_exact = (x == 1) | np.isinf(value)
    return np.where(is_exact, value, lo), np.where(is_exact, value, hi)


def _widen_by_ulps(value: Floats) -> tuple[Floats, Floats]:
    with np.errstate(all="ignore"):
        margin = LIBRARY_ULPS * np.spacing(np.abs(value))
        lo, hi = np.nextafter(value - margin, -np.inf), np.nextafter(value + margin, np.inf)
    return lo, np.where(np.isinf(value), value, hi)


def split_bits(x: Floats) -> ValueAndError:
    """Split x = high + low into floats of at most 27 bits (Veltkamp)."""
    scaled = SPLIT_FACTOR * x
    high = scaled - (scaled - x)
    return high, x - high


def _is_positive(x: Floats) -> bool:
    return bool(x.size and x.min() > 0 and x.max() < np.inf)


def _is_safe(x: Floats) -> NDArray[np.bool_]:
    size = np.abs(x)
    return np.asarray((size >= 1.0 / LIMIT) & (size <= LIMIT))
