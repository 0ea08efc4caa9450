"""All truncations of plain systems, in place: no copies, and blocks that stay in cache.

A row of n numbers is a state. Each system has one slot of S rows a window, and one for the full
run; window k joins the product when k inputs are left, so that those which run are the last ones:

    slot            t = 1 …  T−K │ T−K+1  T−K+2  …  T
    0     window 0               │                        0 throughout
    1     window 1               │                  ρ(drive)
    …                            │             ·    ·
    K     window K               │ ρ(drive)  ────────────
    K+1   full run  ─────────────│───────────────────────

A step of all that run is one product of rows with Wᵀ, one sum and one call of ρ, each into memory
that is reused. Narrow products go to NumPy's library, whose batches of them are one and a half
times as fast as torch's. The plain twin is in `impl.gradients.windows.rollout`.
"""

import torch
from torch import Tensor

from impl.models.rnn import RNN
from impl.numbers.product import multiply

_BLOCK = 2**18  # numbers that the windows of one block of systems may take
_NARROW = 32  # numbers in a row, up to which NumPy's library multiplies faster
_ALONE = 2**18  # products of numbers, up to which it does so on the thread that asks


def truncations(cell: RNN, x: Tensor, K: int) -> tuple[Tensor, Tensor]:
    """As `rollout.truncations`, of plain tensors, 0 ≤ K ≤ T: views of one array."""
    B, T, _, S = x.shape
    driven = drives(cell, x)
    found = x.new_zeros(B, K + 2, S, cell.n)
    advance(cell, driven[:, : T - K], found[:, K + 1])
    last = driven[:, T - K :]
    cell.activation.into(last.flip(1), found[:, 1 : K + 1])
    parts = -(-B * (K + 1) * S * cell.n // _BLOCK)
    most = -(-B // max(1, parts))
    for start in range(0, B, max(1, most)):
        part = slice(start, start + most)
        _grow(cell.part(part), last[part], found[part])
    full = found[:, K if K == T else K + 1]  # at K = T one of two that a library may round apart
    return full.transpose(1, 2), found[:, : K + 1].permute(0, 3, 1, 2)


def states(cell: RNN, x: Tensor) -> Tensor:
    """As `impl.gradients.windows.rollout.states`, of plain tensors: (B, T+1, n, S)."""
    B, T, _, S = x.shape
    path = x.new_empty(B, T + 1, S, cell.n)
    path[:, 0] = 0
    driven, z, back = drives(cell, x), x.new_empty(B, S, cell.n), transposed(cell.W)
    times = path.unbind(1)
    for h, drive, after in zip(times, driven.unbind(1), times[1:], strict=False):
        product(h, back, z)
        z += drive
        cell.activation.into(z, after)
    return path.transpose(2, 3)


def advance(cell: RNN, driven: Tensor, h: Tensor) -> None:
    """Steps of all rows h (B, S, n) in place, with the drives (B, T, S, n)."""
    z, back = torch.empty_like(h, memory_format=torch.contiguous_format), transposed(cell.W)
    for drive in driven.unbind(1):
        product(h, back, z)
        z += drive
        cell.activation.into(z, h)


def drives(cell: RNN, x: Tensor) -> Tensor:
    """U x_t + b for all times in one product: (B, T, d, S) -> (B, T, S, n)."""
    B, T, d, S = x.shape
    found = x.new_empty(B, T * S, cell.n)
    product(x.transpose(2, 3).reshape(B, T * S, d), transposed(cell.U), found)
    found += cell.b[:, None]
    return found.reshape(B, T, S, cell.n)


def transposed(M: Tensor) -> Tensor:
    """Mᵀ of each system, laid out anew: libraries multiply a view of it at half the speed."""
    return M.mT.contiguous()


def product(rows: Tensor, M: Tensor, out: Tensor) -> None:
    """Rows (B, m, p) times a matrix a system (B, p, q), into ``out``; all plain."""
    if narrow(rows.shape[1], *M.shape[1:]):
        multiply(rows, M, out)
    else:
        torch.bmm(rows, M, out=out)


def narrow(m: int, p: int, q: int) -> bool:
    """Whether NumPy's library multiplies so many rows by such matrices faster."""
    return max(p, q) <= _NARROW and m * p * q <= _ALONE


def _grow(cell: RNN, last: Tensor, found: Tensor) -> None:
    """The last K steps of some systems, with their drives (B, K, S, n), in the slots ``found``."""
    B, slots, S, n = found.shape
    memory, back = found.new_empty(B * (slots - 1) * S * n), transposed(cell.W)
    for step, drive in enumerate(last.unbind(1)):
        running = found[:, slots - 1 - step :]
        z = memory[: running.numel()].view(running.shape)
        product(running.flatten(1, 2), back, z.view(B, -1, n))
        z += drive[:, None]
        cell.activation.into(z, running)
