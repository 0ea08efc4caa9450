"""Float64 arithmetic that rounds up, and only when the result is inexact.

Each operation returns the float result if that is at least the exact one, which the error-free
transformations of Dekker and Knuth decide, and its successor otherwise: so bounds of dyadic systems
come out exactly. NaN becomes infinity, the bound that always holds.

The constants of a batch are small tensors, on which a call costs more than its arithmetic: these go
through NumPy, whose calls cost a fifth of torch's, and come to the same bits.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

UNIT = 2.0**-53  # the unit roundoff u
TINY = 2.0**-1000  # far above what underflow loses in any one operation

_SPLITTER = 134217729.0  # 2²⁷ + 1
_SAFE = 2.0**-900  # above this magnitude no part of a product is lost to underflow
_INFINITY = torch.tensor(math.inf, dtype=torch.float64)
_ABOVE = _INFINITY.numpy()  # quicker than a number, which is made an array at each call
_SMALL = 2**12  # numbers
_CACHED = 2**14  # numbers of which dozens of arrays in turn stay near the processor
_SCALES = 1000  # by which a power of two can be multiplied at once

Floats: TypeAlias = Any  # a float64 tensor, or an array of NumPy's


def add_up(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At least a + b (Knuth's TwoSum)."""
    return _rounded(_add_up, a, b)


def subtract_down(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At most a − b; −infinity where that is not a number."""
    return -add_up(b, -a)


def mul_up(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At least a b (Dekker's TwoProduct)."""
    return _rounded(_mul_up, a, b)


def square_up(a: Tensor) -> Tensor:
    """At least a², as `mul_up` has it."""
    return _rounded(_square_up, a)


def div_up(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At least a / b for a ≥ 0 and b ≥ 0."""
    return _rounded(_div_up, a, b)


def sqrt_up(a: Tensor | float) -> Tensor:
    """At least √a."""
    return _rounded(_sqrt_up, a)


def sum_up(x: Tensor) -> Tensor:
    """At least the sum over the last axis."""
    while x.shape[-1] > 1:
        if x.shape[-1] % 2:
            x = torch.nn.functional.pad(x, (0, 1))
        x = add_up(x[..., ::2], x[..., 1::2])
    return x.sum(-1)  # of one number or none


def norm_up(x: Tensor) -> Tensor:
    """At least the Euclidean norm over the last axis, at any scale; infinity for NaN.

    Exact where at most one entry is not zero.
    """
    if x.shape[-1] < 2:
        return x.sum(-1).abs().nan_to_num(math.inf, math.inf)
    if not _plain(x) or not x.numel():
        return _scaled_norm_up(x)
    rows = x.reshape(-1, x.shape[-1])
    parts = []
    for some in torch.split(rows, max(1, _CACHED // x.shape[-1])):
        found = _norm_up(some.numpy())
        parts.append(_scaled_norm_up(some) if found is None else torch.from_numpy(found))
    return torch.cat(parts).reshape(x.shape[:-1])


def _scaled_norm_up(x: Tensor) -> Tensor:
    """`norm_up` of rows of two numbers or more, each scaled by a power of two of its own."""
    largest = x.abs().amax(-1, keepdim=True)
    scale = exponent(largest)
    y = shift(x, -scale)
    norm = sqrt_up(sum_up(square_up(y)))
    lossless = (shift(y, scale) == x).all(-1)
    if not lossless.all():
        lost = math.sqrt(x.shape[-1]) * 2.0**-1073  # of entries that scaling made subnormal
        norm = torch.where(lossless, norm, add_up(norm, lost))
    bound = shift_up(norm, scale[..., 0])
    single = (x != 0).sum(-1) <= 1
    largest = largest[..., 0]
    return torch.where(single & torch.isfinite(largest), largest, bound)


def exponent(x: Tensor) -> Tensor:
    """The integer e with 2^(e−1) ≤ |x| < 2^e; 0 for 0, NaN and infinity."""
    e = torch.frexp(x).exponent.to(torch.int64)
    return torch.where(torch.isfinite(x), e, torch.zeros_like(e))


def shift(x: Tensor, e: Tensor) -> Tensor:
    """x 2^e for |e| < 2000, exact unless the result overflows or is subnormal."""
    first = e.clamp(-1000, 1000)
    y = x * _power_of_two(first)
    return y if torch.equal(first, e) else y * _power_of_two(e - first)


def shift_up(x: Tensor, e: Tensor) -> Tensor:
    """At least x 2^e."""
    result = shift(x, e)
    found: Tensor = _upward(result, shift(result, -e) == x)
    return found


def underflow(x: Tensor, lost: float = TINY) -> Tensor:
    """What underflow may lose of the terms that x bounds: nothing where x = 0."""
    return torch.where(
        x == 0, 0.0, torch.full_like(x, lost)
    )  # not of two scalars: those are float32


def _power_of_two(e: Tensor) -> Tensor:
    return ((e + 1023) << 52).view(torch.float64)


def _rounded(operation: Callable[..., Floats], *given: Tensor | float) -> Tensor:
    """An operation on small tensors of this machine over NumPy, on others as they are."""
    arrays: list[Any] = []
    for one in given:
        if not isinstance(one, Tensor):
            arrays.append(np.float64(one))
        elif _small(one):
            arrays.append(one.numpy())
        else:
            break
    else:
        with np.errstate(all="ignore"):
            return torch.from_numpy(np.asarray(operation(*arrays)))
    device = next(one.device for one in given if isinstance(one, Tensor))
    moved = (torch.as_tensor(one, dtype=torch.float64, device=device) for one in given)
    whole: Tensor = operation(*moved)
    return whole


def _small(tensor: Tensor) -> bool:
    return tensor.numel() <= _SMALL and _plain(tensor)


def _plain(tensor: Tensor) -> bool:
    here = tensor.is_cpu and tensor.dtype is torch.float64
    return here and not (tensor.requires_grad or tensor.is_neg())


def _add_up(a: Floats, b: Floats) -> Floats:
    s = a + b
    t = s - a
    error = (a - (s - t)) + (b - t)
    return _upward(s, error <= 0)


def _mul_up(a: Floats, b: Floats) -> Floats:
    p, error = _two_product(a, b)
    return _upward(p, (error <= 0) & (abs(p) > _SAFE) | (a == 0) | (b == 0))


def _square_up(a: Floats) -> Floats:
    p, error = _two_square(a)
    return _upward(p, (error <= 0) & (p > _SAFE) | (a == 0))


def _div_up(a: Floats, b: Floats) -> Floats:
    q = a / (b + 0.0)  # −0 would divide to −infinity
    p, error = _two_product(q, b)
    remainder = (a - p) - error
    return _upward(q, (remainder <= 0) & (p > _SAFE) | (a == 0))


def _norm_up(x: Floats) -> Floats | None:
    """`norm_up` of a few rows; None where scaling them takes more than one power of two.

    Numbers of all rows that have one place lie side by side: NumPy sums short rows slowly.
    """
    v = np.ascontiguousarray(np.moveaxis(x, -1, 0))
    with np.errstate(all="ignore"):
        largest = np.abs(v).max(0)
        scale = np.where(np.isfinite(largest), np.frexp(largest)[1], 0)
        if abs(scale).max() > _SCALES:
            return None
        down, up = np.ldexp(1.0, -scale), np.ldexp(1.0, scale)
        y = v * down
        total = _square_up(y)
        while len(total) > 1:
            odd = total[-1:] if len(total) % 2 else total[:0]
            even = total[: len(total) - len(odd)]
            total = np.concatenate([_add_up(even[::2], even[1::2]), odd])
        norm = _sqrt_up(total[0])
        lossless = (y * up == v).all(0)
        if not lossless.all():
            lost = math.sqrt(len(v)) * 2.0**-1073
            norm = np.where(lossless, norm, _add_up(norm, lost))
        result = norm * up
        bound = _upward(result, result * down == norm)
        single = ((v != 0).sum(0) <= 1) & np.isfinite(largest)
        return np.where(single, largest, bound)


def _sqrt_up(a: Floats) -> Floats:
    r = a.sqrt() if isinstance(a, Tensor) else np.sqrt(a)
    p, error = _two_square(r)
    return _upward(r, ((p - a) + error >= 0) & (p > _SAFE) | (a == 0))


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """fl(a b) and its error, exactly, unless a part over- or underflows."""
    p = a * b
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return p, error


def _two_square(a: Floats) -> tuple[Floats, Floats]:
    """The same of a²."""
    p, high = a * a, _high(a)
    low = a - high
    cross = high * low
    return p, ((high * high - p) + cross + cross) + low * low


def _high(a: Floats) -> Floats:
    c = _SPLITTER * a
    return c - (c - a)


def _upward(value: Floats, enough: Floats) -> Floats:
    if isinstance(value, Tensor):
        above = torch.nextafter(value, _INFINITY)
        return torch.where(enough, value, above).nan_to_num(math.inf, math.inf, -math.inf)
    # The lesser of NaN and infinity is infinity.
    return np.fmin(np.where(enough, value, np.nextafter(value, _ABOVE)), _ABOVE)


def gamma(m: int) -> float:
    """γ_m = m u/(1 − m u), rounded up."""
    return m * UNIT / (1 - m * UNIT) * (1 + 4 * UNIT)


def rows_up(A: Tensor, v: Tensor) -> Tensor:
    """At least A v for A ≥ 0 (B, m, n) and v ≥ 0 (B, n)."""
    return sum_up(mul_up(A, v[:, None, :]))


def product_up(A: Tensor, C: Tensor) -> Tensor:
    """At least A C for non-negative A (B, l, m) and C (B, m, n); 0 where all is zero."""
    met = (A != 0).to(A.dtype) @ (C != 0).to(C.dtype)
    return add_up(mul_up(A @ C, 1 + gamma(2 * A.shape[2])), underflow(met))


def norm_bound(x: Tensor, axis: int | tuple[int, ...]) -> Tensor:
    """At least the Euclidean norm over the axes, fast and within γ of it; exactly 0 for zeros."""
    x = x.detach()
    norm: Tensor = torch.linalg.vector_norm(x, dim=axis)
    lost = underflow(x.abs().amax(axis), 2.0**-505)  # of squares below 2⁻¹⁰²²
    return norm * (1 + gamma(x.numel() // max(1, norm.numel()) + 2)) + lost
