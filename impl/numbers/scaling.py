"""Scaling by powers of two, of tensors and of arrays of NumPy's: exact, or rounded up."""

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.numbers.error_free import Floats, round_up

_MOST = 1000  # by which a power of two can be multiplied at once


def exponent(x: Floats) -> Floats:
    """The integer e with 2^(e−1) ≤ |x| < 2^e; 0 for 0, NaN and infinity."""
    if isinstance(x, Tensor):
        e = torch.frexp(x).exponent.to(torch.int64)
        return torch.where(torch.isfinite(x), e, torch.zeros_like(e))
    return np.where(np.isfinite(x), np.frexp(x)[1], 0)


def shift(x: Floats, e: Floats) -> Floats:
    """x 2^e for |e| < 2000, exact unless the result overflows or is subnormal."""
    if not isinstance(x, Tensor):
        half = e >> 1
        return x * np.ldexp(1.0, half) * np.ldexp(1.0, e - half)
    first = e.clamp(-_MOST, _MOST)
    y = x * _power_of_two(first)
    return y if torch.equal(first, e) else y * _power_of_two(e - first)


def shift_up(x: Floats, e: Floats) -> Floats:
    """At least x 2^e."""
    result = shift(x, e)
    return round_up(result, shift(result, -e) == x)


def _power_of_two(e: Tensor) -> Tensor:
    return ((e + 1023) << 52).view(torch.float64)
