"""Products of plain float64 numbers by the faster of two libraries.

tanh of float64 arrays, by the faster of two libraries, and what tensors are plain.

On x86 processors with fused multiply-add NumPy reads tanh |z| off one of 16 polynomials in
y = |z| − B, eight entries at a time, in a fifth of the time that torch's Sleef takes. Each is
c_0 + y q(y) with |y q| ≤ c_0/5, in fused operations, so off by the roundings of the result and of
c_0 and by a fifth of those of q: by less than 3u |tanh z|, and by 1.5u where it was seen. Near 0 it
is y q(y), off by 2u. Sleef is off by one unit in the last place, which is 2u. Both keep to the
error model 4u min(|z|, 1) of `impl.arithmetic.activation`, to which tests and
`impl.models.torch_machine` hold them. Where NumPy calls the C library, which is off by more,
torch's is taken.

Sources: Intel's SVML, tanh in double precision, and its port to NumPy (pull requests 20363, 25934);
Shibata & Petrogalli, SLEEF (2020).
"""

from functools import cache
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import forward_ad

Array: TypeAlias = NDArray[Any]
_SINGLE_THREAD = 2**18  # products of numbers, up to which the library stays on the thread that asks
_WIDE = 2**14  # numbers of a matrix, beyond which so few rows at a time cost more than torch's


def multiply_rows(rows: Array, M: Array, out: Array) -> None:
    """Rows (B, m, p) times a matrix a system (B, p, q), into ``out``, where NumPy is silent.

    A few rows at a time stay in cache, and are multiplied up to three times as fast as by torch.
    """
    entries = M.shape[1] * M.shape[2]
    if entries > _WIDE:
        torch.bmm(torch.from_numpy(rows), torch.from_numpy(M), out=torch.from_numpy(out))
        return
    chunk = _SINGLE_THREAD // max(1, entries)
    for start in range(0, rows.shape[1], chunk):
        part = slice(start, start + chunk)
        np.matmul(rows[:, part], M, out=out[:, part])


_VECTORS = ("X86_V", "AVX", "FMA")  # how NumPy names the processors that its code was made for


def is_plain(*tensors: Tensor) -> bool:
    """True if all are float64 tensors in main memory without derivatives, which may be written in
    place and shared with NumPy."""
    return forward_ad._current_level < 0 and all(
        tensor.device.type == "cpu"
        and tensor.dtype == torch.float64
        and not (tensor.requires_grad or tensor.is_neg())
        for tensor in tensors
    )


def tanh(z: Array, out: Array) -> None:
    """tanh z, written to ``out``, which may be z, where NumPy is silent on what underflows."""
    if vectorised():
        np.tanh(z, out=out)
    else:
        torch.tanh(torch.from_numpy(z), out=torch.from_numpy(out))


@cache
def vectorised() -> bool:
    """True if NumPy runs its vector code for tanh here."""
    try:
        targets = np.lib.introspect.opt_func_info(func_name="^tanh$", signature="float64")
    except AttributeError:  # NumPy before 2.0 does not tell
        return False
    return any(kind["current"].startswith(_VECTORS) for kind in targets.get("tanh", {}).values())
