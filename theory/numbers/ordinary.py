"""Sums, products and quotients of intervals whose ends are of ordinary size, both ends in one go.

Each gives exactly what `rounded` gives for the ends one by one, or None where that must look
closer: at what is negative, but in sums, or of extreme size, infinite or NaN. That costs few calls;
of many numbers not the calls cost most but the memory, and they are left to `rounded` too.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rnnbounds.theory.numbers.rounded import LIMIT, Floats, split_bits

EndPair: TypeAlias = tuple[Floats, Floats]
MAX_SIZE = 16384  # numbers of an end


def add(x: EndPair, y: EndPair) -> EndPair | None:
    """Ends of [x] + [y] for finite numbers; None if `rounded` must decide."""
    if _is_too_large(x, y):
        return None
    (a, b), directions = _stack_ends(x, y)
    with np.errstate(all="ignore"):
        value = a + b
        other = value - a
        error = (a - (value - other)) + (b - other)
        if not np.isfinite(value).all():
            return None
        if value.size and value.min() >= 0:
            return _round_outwards(value, error, directions)
        ends = np.where(error * directions < 0, np.nextafter(value, -np.inf * directions), value)
    return ends[0], ends[1]


def multiply(x: EndPair, y: EndPair) -> EndPair | None:
    """Ends of [x] [y] for numbers ≥ 0; None if `rounded` must decide."""
    if _is_too_large(x, y):
        return None
    (a, b), directions = _stack_ends(x, y)
    if not (_is_ordinary(a) and _is_ordinary(b)):
        return None
    value = a * b
    return _round_outwards(value, _product_error(value, a, b), directions)


def divide(x: EndPair, y: EndPair) -> EndPair | None:
    """Ends of [x] / [y] for x ≥ 0 and y > 0; None if `rounded` must decide."""
    if _is_too_large(x, y):
        return None
    (a, b), directions = _stack_ends(x, (y[1], y[0]))
    if not (_is_ordinary(a) and _is_ordinary(b) and b.min() > 0):
        return None
    value = a / b
    if not _is_ordinary(value):
        return None
    product = value * b
    return _round_outwards(value, (a - product) - _product_error(product, value, b), directions)


def _is_too_large(x: EndPair, y: EndPair) -> bool:
    return x[0].size > MAX_SIZE or y[0].size > MAX_SIZE


def _stack_ends(x: EndPair, y: EndPair) -> tuple[tuple[Floats, Floats], NDArray[Any]]:
    """Lower over upper ends along a first axis, one row of what is exact; and 1 over -1."""
    axes = max(x[0].ndim, y[0].ndim)
    return (_stack_rows(x, axes), _stack_rows(y, axes)), _DIRECTIONS.reshape(2, *(1,) * axes)


def _stack_rows(x: EndPair, axes: int) -> Floats:
    rows = x[0][None] if x[0] is x[1] else np.array(x)
    return rows.reshape(len(rows), *(1,) * (axes - x[0].ndim), *x[0].shape)


_DIRECTIONS = np.array([1, -1])


def _is_ordinary(x: Floats) -> bool:
    """True if x is not empty and all entries are 0 or within [1/SAFE, SAFE]."""
    if not (x.size and x.max() <= LIMIT):
        return False
    return bool(x.min() >= 1.0 / LIMIT or ((x >= 1.0 / LIMIT) | (x == 0)).all())


def _product_error(value: Floats, x: Floats, y: Floats) -> Floats:
    """Rounding error of a product: x y − value, exactly."""
    (x_high, x_low), (y_high, y_low) = split_bits(x), split_bits(y)
    error: Floats = x_low * y_low - (((value - x_high * y_high) - x_low * y_high) - x_high * y_low)
    return error


def _round_outwards(value: Floats, error: Floats, directions: NDArray[Any]) -> EndPair:
    """Round values ≥ 0 outwards by their errors; such floats are ordered as their bits."""
    is_beyond = error * directions < 0
    ends = (value.view(np.int64) - is_beyond * directions).view(np.float64)
    return ends[0], ends[1]
