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
that is reused. The plain twin is in `impl.gradients.windows.rollout`.
"""

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.product import Array, multiply_rows

_BLOCK = 2**21  # numbers that the drives and the windows of one block of systems may take


@np.errstate(all="ignore")
def truncations(cell: RNN, x: Tensor, K: int) -> tuple[Tensor, Tensor]:
    """As `rollout.truncations`, of plain tensors, 0 ≤ K ≤ T: views of one array."""
    B, T, _, S = x.shape
    found = np.zeros((B, K + 2, S, cell.n))
    parts = -(-B * (T + K + 1) * S * cell.n // _BLOCK)
    most = max(1, -(-B // max(1, parts)))
    for start in range(0, B, most):
        part = slice(start, start + most)
        _run(cell.part(part), x[part], found[part])
    held = torch.from_numpy(found)
    full = held[:, K if K == T else K + 1]  # at K = T one of two that a library may round apart
    return full.transpose(1, 2), held[:, : K + 1].permute(0, 3, 1, 2)


@np.errstate(all="ignore")
def states(cell: RNN, x: Tensor) -> Tensor:
    """As `impl.gradients.windows.rollout.states`, of plain tensors: (B, T+1, n, S)."""
    B, T, _, S = x.shape
    path, z = np.empty((B, T + 1, S, cell.n)), np.empty((B, S, cell.n))
    path[:, 0] = 0
    _drive(cell, x, path[:, 1:])
    back = transposed(cell.W).numpy()
    for t in range(T):
        after = path[:, t + 1]
        multiply_rows(path[:, t], back, z)
        z += after
        cell.activation.write_to_array(z, after)
    return torch.from_numpy(path).transpose(2, 3)


def drives(cell: RNN, x: Tensor) -> Tensor:
    """U x_t + b for all times in one product: (B, T, d, S) -> (B, T, S, n)."""
    B, T, _, S = x.shape
    found = x.new_empty(B, T, S, cell.n)
    with np.errstate(all="ignore"):
        _drive(cell, x, found.numpy())
    return found


def transposed(M: Tensor) -> Tensor:
    """Mᵀ of each system, laid out anew: libraries multiply a view of it at half the speed."""
    return M.mT.contiguous()


def _drive(cell: RNN, x: Tensor, out: Array) -> None:
    B, T, d, S = x.shape
    rows, flat = x.transpose(2, 3).reshape(B, T * S, d).numpy(), out.reshape(B, T * S, cell.n)
    multiply_rows(rows, transposed(cell.U).numpy(), flat)
    flat += cell.b.numpy()[:, None]


def _run(cell: RNN, x: Tensor, found: Array) -> None:
    """All windows of some systems and their full runs, in slots (B, K+2, S, n) that are 0."""
    B, slots, S, n = found.shape
    rho, back, driven = cell.activation, transposed(cell.W).numpy(), drives(cell, x).numpy()
    early, last = np.split(driven, [driven.shape[1] - slots + 2], axis=1)
    memory, rows = np.empty(B * (slots - 1) * S * n), found.reshape(B, slots * S, n)
    h = found[:, -1]
    z = memory[: h.size].reshape(h.shape)
    for t in range(early.shape[1]):
        multiply_rows(h, back, z)
        z += early[:, t]
        rho.write_to_array(z, h)
    found[:, 1:-1] = last[:, ::-1]
    rho.write_to_array(found[:, 1:-1], found[:, 1:-1])
    for step in range(last.shape[1]):
        running = rows[:, (slots - 1 - step) * S :]
        z = memory[: running.size].reshape(running.shape)
        multiply_rows(running, back, z)
        by_slot = z.reshape(B, step + 1, S, n)
        by_slot += last[:, step, None]
        rho.write_to_array(z, running)
