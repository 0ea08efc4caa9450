"""Sums, products and quotients of intervals whose ends are of ordinary size, both ends in one go.

Each gives exactly what `rounded` gives for the ends one by one, or None where that must look
closer: at what is negative, but in sums, or of extreme size, infinite or NaN. That costs few calls;
of many numbers not the calls cost most but the memory, and they are left to `rounded` too.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rnnbounds.theory.numbers.rounded import SAFE, Floats, split

Ends: TypeAlias = tuple[Floats, Floats]
MOST = 16384  # numbers of an end


def add(x: Ends, y: Ends) -> Ends | None:
    """[x] + [y], of finite numbers."""
    if _many(x, y):
        return None
    (a, b), steps = _rows(x, y)
    with np.errstate(all="ignore"):
        value = a + b
        other = value - a
        error = (a - (value - other)) + (b - other)
        if not np.isfinite(value).all():
            return None
        if value.size and value.min() >= 0:
            return _outward(value, error, steps)
        ends = np.where(error * steps < 0, np.nextafter(value, -np.inf * steps), value)
    return ends[0], ends[1]


def multiply(x: Ends, y: Ends) -> Ends | None:
    """[x] [y], of numbers that are not negative."""
    if _many(x, y):
        return None
    (a, b), steps = _rows(x, y)
    if not (_ordinary(a) and _ordinary(b)):
        return None
    value = a * b
    return _outward(value, _beyond(value, a, b), steps)


def divide(x: Ends, y: Ends) -> Ends | None:
    """[x] / [y], of numbers that are not negative, and y > 0."""
    if _many(x, y):
        return None
    (a, b), steps = _rows(x, (y[1], y[0]))
    if not (_ordinary(a) and _ordinary(b) and b.min() > 0):
        return None
    value = a / b
    if not _ordinary(value):
        return None
    back = value * b
    return _outward(value, (a - back) - _beyond(back, value, b), steps)


def _many(x: Ends, y: Ends) -> bool:
    return x[0].size > MOST or y[0].size > MOST


def _rows(x: Ends, y: Ends) -> tuple[tuple[Floats, Floats], NDArray[Any]]:
    """Lower over upper ends along a first axis, one row of what is exact; and 1 over -1."""
    axes = max(x[0].ndim, y[0].ndim)
    return (_row(x, axes), _row(y, axes)), _STEPS.reshape(2, *(1,) * axes)


def _row(x: Ends, axes: int) -> Floats:
    rows = x[0][None] if x[0] is x[1] else np.array(x)
    return rows.reshape(len(rows), *(1,) * (axes - x[0].ndim), *x[0].shape)


_STEPS = np.array([1, -1])


def _ordinary(x: Floats) -> bool:
    """True if x is not empty and all entries are 0 or within [1/SAFE, SAFE]."""
    if not (x.size and x.max() <= SAFE):
        return False
    return bool(x.min() >= 1.0 / SAFE or ((x >= 1.0 / SAFE) | (x == 0)).all())


def _beyond(value: Floats, x: Floats, y: Floats) -> Floats:
    """x y minus its rounded value."""
    (x_high, x_low), (y_high, y_low) = split(x), split(y)
    error: Floats = x_low * y_low - (((value - x_high * y_high) - x_low * y_high) - x_high * y_low)
    return error


def _outward(value: Floats, error: Floats, steps: NDArray[Any]) -> Ends:
    """The nearest bounds of what is not negative: such floats are ordered as their bits are."""
    beyond = error * steps < 0
    ends = (value.view(np.int64) - beyond * steps).view(np.float64)
    return ends[0], ends[1]
