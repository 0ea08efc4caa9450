"""Float64 arithmetic that rounds up, and only when the result is inexact.

Each operation returns the least float that is at least the exact result: so bounds of dyadic
systems come out exactly. NaN becomes infinity, the bound that always holds.

Tensors of this machine go through NumPy, by the processor's own rounding upwards where it has one
(`impl.numbers.rounding`). What lies elsewhere or carries gradients goes through the error-free
transformations: to the same bits, unless an underflow makes these the wider.
"""

import math
from collections.abc import Callable
from functools import reduce

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.numbers.error_free import ERROR_FREE, INFINITY, Floats, Upward
from rnnbounds.impl.numbers.rounding import run_rounding_up
from rnnbounds.impl.numbers.scaling import exponent, shift, shift_up

UNIT = 2.0**-53  # the unit roundoff u
TINY = 2.0**-1000  # far above what underflow loses in any one operation

_CACHE_SIZE = 2**14  # numbers of which some arrays in turn stay near the processor
_LEAST, _MOST = 2.0**-400, 2.0**400  # sizes whose squares are far from under- and overflow


def add_up(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At least a + b."""
    return _apply_upward(lambda up, a, b: up.add(a, b), a, b)


def subtract_down(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At most a − b; −infinity where that is not a number."""
    return -add_up(b, -a)


def mul_up(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At least a b."""
    return _apply_upward(lambda up, a, b: up.multiply(a, b), a, b)


def div_up(a: Tensor | float, b: Tensor | float) -> Tensor:
    """At least a / b for a ≥ 0 and b ≥ 0."""
    return _apply_upward(lambda up, a, b: up.divide(a, b), a, b)


def sqrt_up(a: Tensor | float, times: int = 1) -> Tensor:
    """At least √a, or the root of that, and so on."""
    return _apply_upward(lambda up, a: reduce(lambda x, _: up.root(x), range(times), a), a)


def sum_up(x: Tensor) -> Tensor:
    """At least the sum over the last axis."""
    return _apply_upward(_sum, x)


def norm_up(x: Tensor) -> Tensor:
    """At least the Euclidean norm over the last axis, at any scale; infinity for NaN.

    Exact where at most one entry is not zero.
    """
    if x.shape[-1] < 2:
        return x.sum(-1).abs().nan_to_num(math.inf, math.inf)
    if not _is_plain(x) or not x.numel():
        return _scaled_norm_up(x)
    rows = x.numpy().reshape(-1, x.shape[-1])
    chunk = max(1, _CACHE_SIZE // x.shape[-1])
    chunks = [_norms_up(rows[start : start + chunk]) for start in range(0, len(rows), chunk)]
    norms = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
    return torch.from_numpy(norms.reshape(x.shape[:-1]))


def _norms_up(rows: Floats) -> Floats:
    """`norm_up` of an array of rows, of which few are so large or small as to be scaled."""
    norms = apply_to_arrays(_norm, rows)
    moderate = (norms > _LEAST) & (norms < _MOST) | (norms == 0)
    if not moderate.all():
        norms[~moderate] = _scaled_norm_up(torch.from_numpy(rows[~moderate])).numpy()
    return norms


def _scaled_norm_up(x: Tensor) -> Tensor:
    """`norm_up` of rows of two numbers or more, each scaled by a power of two of its own."""
    largest = x.abs().amax(-1, keepdim=True)
    scale = exponent(largest)
    y = shift(x, -scale)
    norm = sqrt_up(sum_up(mul_up(y, y)))
    lossless = (shift(y, scale) == x).all(-1)
    if not lossless.all():
        lost = math.sqrt(x.shape[-1]) * 2.0**-1073  # of entries that scaling made subnormal
        norm = torch.where(lossless, norm, add_up(norm, lost))
    bound = shift_up(norm, scale[..., 0])
    single = (x != 0).sum(-1) <= 1
    largest = largest[..., 0]
    return torch.where(single & torch.isfinite(largest), largest, bound)


def underflow(x: Tensor, lost: Tensor | float = TINY) -> Tensor:
    """Bound the underflow error of terms that x bounds: `lost`, but 0 where x = 0."""
    error = torch.as_tensor(lost, dtype=x.dtype, device=x.device)  # two scalars would be float32
    return torch.where(x == 0, 0.0, error)


def _apply_upward(operation: Callable[..., Floats], *operands: Tensor | float) -> Tensor:
    """operation(up, *given), over arrays for plain tensors of this machine."""
    arrays: list[Floats] = []
    for operand in operands:
        if not isinstance(operand, Tensor):
            arrays.append(np.float64(operand))
        elif _is_plain(operand):
            arrays.append(operand.numpy())
        else:
            break
    else:
        return torch.from_numpy(apply_to_arrays(operation, *arrays))
    devices = {
        operand.device for operand in operands if isinstance(operand, Tensor) and not operand.is_cpu
    }
    device = next(iter(devices), torch.device("cpu"))  # a number may have stayed here
    tensors = (torch.as_tensor(operand, dtype=torch.float64, device=device) for operand in operands)
    result: Tensor = operation(ERROR_FREE, *tensors)
    return result.nan_to_num(math.inf, math.inf, -math.inf)


@np.errstate(all="ignore")  # as a decorator it is quicker
def apply_to_arrays(operation: Callable[..., Floats], *arrays: Floats) -> Floats:
    """operation(up, *arrays) with infinity for NaN, of which that is the lesser."""
    return np.asarray(np.fmin(run_rounding_up(operation, *arrays), INFINITY), order="C")


def _is_plain(tensor: Tensor) -> bool:
    is_local = tensor.is_cpu and tensor.dtype is torch.float64
    return is_local and not (tensor.requires_grad or tensor.is_neg())


def _sum(up: Upward, x: Floats) -> Floats:
    """The sum over the last axis, of neighbours first."""
    if isinstance(x, Tensor):
        while x.shape[-1] > 1:
            if x.shape[-1] % 2:
                x = torch.nn.functional.pad(x, (0, 1))
            x = up.add(x[..., ::2], x[..., 1::2])
        return x.sum(-1)  # of one number or none
    total = np.ascontiguousarray(x.T)  # numbers of all rows that have one place, side by side
    while (size := len(total)) > 1:
        pairs = up.add(total[: size - 1 : 2], total[1::2])
        total = np.concatenate([pairs, total[-1:]]) if size % 2 else pairs
    return total.sum(0).T


def _norm(up: Upward, x: Floats) -> Floats:
    """The norm of rows (N, n) of no extreme size."""
    v = np.ascontiguousarray(x.T)
    bound = up.root(_sum(up, up.multiply(v, v).T))
    if v.all():
        return bound
    return np.where((v != 0).sum(0) <= 1, np.abs(v).max(0), bound)


def gamma(m: int) -> float:
    """γ_m = m u/(1 − m u), rounded up."""
    return m * UNIT / (1 - m * UNIT) * (1 + 4 * UNIT)


def rows_up(A: Tensor, v: Tensor) -> Tensor:
    """At least A v for A ≥ 0 (B, m, n) and v ≥ 0 (B, n)."""
    return _apply_upward(lambda up, A, v: _sum(up, up.multiply(A, v[:, None, :])), A, v)


def product_up(A: Tensor, C: Tensor) -> Tensor:
    """At least A C for non-negative A (B, l, m) and C (B, m, n); 0 where all is zero."""
    pair_counts = (A != 0).to(A.dtype) @ (C != 0).to(C.dtype)
    return add_up(mul_up(A @ C, 1 + gamma(2 * A.shape[2])), underflow(pair_counts))


def norm_bound(x: Tensor, axis: int | tuple[int, ...]) -> Tensor:
    """At least the Euclidean norm over the axes, fast and within γ of it; exactly 0 for zeros."""
    x = x.detach()
    norm: Tensor = torch.linalg.vector_norm(x, dim=axis)
    lost = underflow(x.abs().amax(axis), 2.0**-505)  # of squares below 2⁻¹⁰²²
    return norm * (1 + gamma(x.numel() // max(1, norm.numel()) + 2)) + lost
