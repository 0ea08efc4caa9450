"""Tests for IEEE 754 arithmetic of torch's tensors, on all its threads, and of its activations.

A thread inherits the register of the one that started it, and keeps it: so the threads of torch's
pool may flush subnormals though the main thread no longer does. See `impl.checker.machine`.
"""

from functools import lru_cache

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation, activation
from rnnbounds.impl.checker.machine import (
    FLUSHED,
    OPERATIONS,
    Operation,
    ailing,
    ailments_at,
    columns,
    power,
    require_floats,
)

_GRAIN = 32768  # entries of which torch gives each thread at least as many
_FAR = (1e-310, 1e-300, 1e-160, 1e-20, 1e-8, 1e-3, 0.1, 0.5, 1.0, 2.5, 5.0, 19.0, 21.0, 38.0, 700.0)
_SOME = 33  # entries, so that vector instructions and what is left over both meet them
_PRECISION = 200
BEYOND = {("erf", "bfloat16")}  # the kernel of CPUs with AVX is off by 2·10⁻⁷ near 0


def require_sound(device: str = "cpu") -> None:
    """Raise MachineError unless floats, arrays and tensors keep to IEEE 754, and the libraries'
    float64 functions to the error models of `impl.arithmetic.activation`."""
    require_floats()
    if found := ailments_of_tensors(device):
        raise ailing(" and ".join(sorted(found)), f"torch's tensors on {device}")
    for name in ACTIVATIONS:
        if not keeps_to_its_model(name, device):
            raise ailing(f"{name} is off by more than its error model", f"functions on {device}")


def ailments_of_tensors(device: str = "cpu") -> set[str]:
    """Test torch's float64 arithmetic on all its threads; return the names of its faults."""
    found = set()
    for operation in OPERATIONS:
        found |= _ailments(operation, _SOME, device)
    for bits, kind, e in ((torch.int32, torch.float32, -149), (torch.int16, torch.bfloat16, -133)):
        least = torch.ones(_SOME, dtype=bits, device=device).view(kind).double()
        if not bool((least.view(torch.int64) == power(e)).all()):
            found.add(FLUSHED)
    threads = torch.get_num_threads() if device == "cpu" else 1
    if threads > 1:
        found |= _ailments(OPERATIONS[1], threads * _GRAIN // len(OPERATIONS[1].rows), device)
    return found


def _ailments(operation: Operation, times: int, device: str) -> set[str]:
    """Test an operation on all its rows, ``times`` over; return the names of its faults."""
    a, b, expected = (torch.from_numpy(part).to(device) for part in columns(operation, times))
    wrong = operation.apply(a.view(torch.float64), b.view(torch.float64)).view(torch.int64)
    return ailments_at(operation, (wrong != expected).nonzero()[:, 0].tolist())


@lru_cache(maxsize=256)
def keeps_to_its_model(name: str, device: str = "cpu", dtype: str = "float64") -> bool:
    """True if an activation satisfies its error model in that dtype at a few points, and on no CPU
    known exceeds it: what is certified here may be run elsewhere."""
    if (name, dtype) in BEYOND:
        return False
    z = torch.tensor([*(-v for v in _FAR), 0.0, *_FAR], dtype=torch.float64)
    return worst_error(activation(name), z.to(getattr(torch, dtype)).double(), device, dtype)[1]


def worst_error(
    rho: Activation, z: Tensor, device: str = "cpu", dtype: str = "float64"
) -> tuple[float, bool]:
    """The greatest error of a function at the points z (m,), in units of what its model allows, and
    whether none exceeds 1; of dtypes below float64 as `Activation.error_in` has it. The function
    that writes to plain tensors counts as well."""
    kind = torch.finfo(getattr(torch, dtype))
    computed = [rho(z.to(device, getattr(torch, dtype))).double().cpu()]
    if (device, dtype) == ("cpu", "float64"):
        computed.append(torch.empty_like(z))
        rho.write_to(z, computed[1])
    lost, allowed = 0.0, rho.error(1, z.abs()).tolist()
    if dtype != "float64":
        lost, allowed = kind.tiny, rho.dtype_error(kind.eps / 2, 1, z.abs()).tolist()
    worst, within = 0.0, True
    with ctx.workprec(_PRECISION):
        values = zip(*(each.tolist() for each in computed), strict=True)
        for point, found, error in zip(z.tolist(), values, allowed, strict=True):
            true, room = rho.ball(arb(point)), arb(error) + lost
            for value in set(found):
                off = abs(arb(value) - true)
                within = within and bool(off <= room)
                worst = max(worst, float((off / room).upper()) if room > 0 else 0.0)
    return worst, within
