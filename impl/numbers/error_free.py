"""Sums, products, quotients and roots that round up by error-free transformations.

Each is the float result if that is at least the exact one, which the transformations of Dekker and
Knuth decide in rounding to nearest, and its successor otherwise. Where a part of a product may have
been lost to underflow, or overflows, it is the successor, too. NaN becomes infinity. All go over
tensors and over arrays of NumPy's, to the same bits.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

_SPLITTER = 134217729.0  # 2²⁷ + 1
_SAFE = 2.0**-900  # above this magnitude no part of a product is lost to underflow
_LARGE = 2.0**1023  # below it none overflows: parts may exceed their product by a little
INFINITY = np.array(math.inf)  # quicker than a number, which is made an array at each call

Floats: TypeAlias = Any  # a float64 tensor, or an array of NumPy's


@dataclass(frozen=True)
class Upward:
    """At least a + b, a b, a / b for a ≥ 0 and b ≥ 0, and √a, entry by entry."""

    add: Callable[[Floats, Floats], Floats]
    multiply: Callable[[Floats, Floats], Floats]
    divide: Callable[[Floats, Floats], Floats]
    root: Callable[[Floats], Floats]


def _add(a: Floats, b: Floats) -> Floats:
    """Knuth's TwoSum."""
    s = a + b
    t = s - a
    error = (a - (s - t)) + (b - t)
    return round_up(s, error <= 0)


def _multiply(a: Floats, b: Floats) -> Floats:
    p, error = _two_product(a, b)
    return round_up(p, (error <= 0) & (abs(p) > _SAFE) | (a == 0) | (b == 0))


def _divide(a: Floats, b: Floats) -> Floats:
    q = a / (b + 0.0)  # −0 would divide to −infinity
    p, error = _two_product(q, b)
    remainder = (a - p) - error
    return round_up(q, (remainder <= 0) & (p > _SAFE) & (p < _LARGE) | (a == 0))


def _root(a: Floats) -> Floats:
    r = a.sqrt() if isinstance(a, Tensor) else np.sqrt(a)
    p, error = _two_product(r, r)
    return round_up(r, ((p - a) + error >= 0) & (p > _SAFE) & (p < _LARGE) | (a == 0))


ERROR_FREE = Upward(_add, _multiply, _divide, _root)


def round_up(value: Floats, is_upper_bound: Floats) -> Floats:
    """Replace each value that is no upper bound by the next float, and NaN by infinity."""
    if isinstance(value, Tensor):
        successor = torch.nextafter(value, value.new_full((), math.inf))
        return torch.where(is_upper_bound, value, successor).nan_to_num(
            math.inf, math.inf, -math.inf
        )
    # The lesser of NaN and infinity is infinity.
    return np.fmin(np.where(is_upper_bound, value, np.nextafter(value, INFINITY)), INFINITY)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """fl(a b) and its error, exactly, unless a part over- or underflows (Dekker)."""
    p = a * b
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return p, error


def _high(a: Floats) -> Floats:
    c = _SPLITTER * a
    return c - (c - a)
