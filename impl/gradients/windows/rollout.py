"""Rollouts of a batch of systems, all their truncations at once, and Jacobians of the last state.

What is written over tensors is differentiable and runs on any device. Plain tensors go a faster
way, to the same states up to rounding: in place, without copies, in blocks that stay in cache. A
row of n numbers is a state. Each system has one slot of S rows a window, and one for the full run;
window k joins the product when k inputs are left, so that those which run are the last ones:

    slot            t = 1 …  T−K │ T−K+1  T−K+2  …  T
    0     window 0               │                        0 throughout
    1     window 1               │                  ρ(drive)
    …                            │             ·    ·
    K     window K               │ ρ(drive)  ────────────
    K+1   full run  ─────────────│───────────────────────

A step of all that run is one product of rows with Wᵀ, one sum and one call of ρ, each into memory
that is reused.
"""

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import PrecisionError, RangeError, ShapeError
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.product import Array, is_plain, multiply_rows

_BLOCK = 2**21  # numbers that the drives and the windows of one block of systems may take


def states(cell: RNN, x: Tensor) -> Tensor:
    """All states from the zero state: x (B, T, d, S) -> (B, T+1, n, S), the first one zero."""
    _check(cell, x)
    if _plain(cell, x):
        return _plain_states(cell, x)
    drives = _drives(cell, x)
    h = drives.new_zeros(cell.batch, cell.n, x.shape[3])
    path = [h]
    for t in range(x.shape[1]):
        h = cell.activation(torch.baddbmm(drives[:, :, t], cell.W, h))
        path.append(h)
    return torch.stack(path, dim=1)


def rollout(cell: RNN, x: Tensor, starts: Tensor | None = None) -> Tensor:
    """The last state h_T from the zero state: x (B, T, d, S) -> (B, n, S).

    The state stays zero up to time starts (B,), if given.
    """
    _check(cell, x)
    return _advance(cell, _drives(cell, x), x.new_zeros(cell.batch, cell.n, x.shape[3]), starts)


def truncations(cell: RNN, x: Tensor, K: int) -> tuple[Tensor, Tensor]:
    """h_T and every truncated state h_T^k, k = 0 … K, of x (B, T, d, S), in K²/2 steps.

    Returns h_T (B, n, S) and h_T^k (B, n, K+1, S); h_T^k runs the same recursion from the zero
    state on the last k inputs, so h_T^0 = 0 and, to the last bit, h_T^T = h_T. The truncated states
    are columns that start one after another: column k joins the product when k inputs are left.
    Raises RangeError unless 0 ≤ K ≤ T. Source: Miller & Hardt, Lemma 1.
    """
    _check(cell, x)
    T, S = x.shape[1], x.shape[3]
    if not 0 <= K <= T:
        raise RangeError("K", K, f"between 0 and the length T = {T}")
    if _plain(cell, x):
        return _plain_truncations(cell, x, K)
    B, n = cell.batch, cell.n
    drives = _drives(cell, x)
    zero = x.new_zeros(B, n, S)
    columns = _advance(cell, drives[:, :, : T - K], zero)
    for t in range(T - K, T):
        drive = drives[:, :, t]
        moved = torch.bmm(cell.W, columns).reshape(B, n, t - T + K + 1, S) + drive[:, :, None]
        columns = cell.activation(torch.cat([drive, moved.flatten(2)], dim=2))
    columns = columns.reshape(B, n, K + 1, S)  # k = 1, …, K and the full state
    # At K = T the full state is column T twice, and a library may round its columns differently.
    full = columns[:, :, min(K, T - 1)]
    return full, torch.cat([zero[:, :, None], columns[:, :, :K]], dim=2)


def _advance(cell: RNN, drives: Tensor, h: Tensor, starts: Tensor | None = None) -> Tensor:
    for t in range(drives.shape[2]):
        h = cell.activation(torch.baddbmm(drives[:, :, t], cell.W, h))
        if starts is not None:
            h = h.masked_fill((t < starts)[:, None, None], 0.0)
    return h


def _drives(cell: RNN, x: Tensor) -> Tensor:
    """U x_t + b for all times in one product: (B, T, d, S) -> (B, n, T, S)."""
    drives = cell.drive(x.transpose(1, 2).flatten(2))
    return drives.reshape(cell.batch, cell.n, x.shape[1], x.shape[3])


def _plain(cell: RNN, x: Tensor) -> bool:
    return is_plain(cell.W, cell.U, cell.b, x)


def _check(cell: RNN, x: Tensor) -> None:
    if x.ndim != 4 or x.shape[0] != cell.batch or x.shape[2] != cell.d:
        raise ShapeError("x", f"({cell.batch}, T, {cell.d}, S)", x)
    if x.dtype != torch.float64:
        raise PrecisionError("x", x.dtype)


@np.errstate(all="ignore")
def _plain_truncations(cell: RNN, x: Tensor, K: int) -> tuple[Tensor, Tensor]:
    """`truncations` of plain tensors, 0 ≤ K ≤ T: views of one array."""
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
def _plain_states(cell: RNN, x: Tensor) -> Tensor:
    """`states` of plain tensors: (B, T+1, n, S)."""
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
    rho, back = cell.activation, transposed(cell.W).numpy()
    driven = np.empty((B, x.shape[1], S, n))
    _drive(cell, x, driven)
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


def jacobians_alone(cell: RNN, x: Tensor, K: int) -> Tensor:
    """J (B, K+1, n, d, S) with J[:, j] ≈ ∂h_T/∂x_{T−j} of x (B, T, d, S), zero state first.

    Differentiable in W, U, b and x; at a kink it is torch's choice of ρ′. Raises RangeError unless
    0 ≤ K < T. Source: Miller & Hardt, Section 3.
    """
    T = x.shape[1]
    if not 0 <= K < T:
        raise RangeError("K", K, f"between 0 and T − 1 = {T - 1}")
    path = states(cell, x)
    W, U = cell.W[:, None], cell.U[:, None]  # (B, 1, n, ·), products carry S in front
    product, found = torch.eye(cell.n, dtype=x.dtype, device=x.device), list[Tensor]()
    for t in range(T - 1, T - 2 - K, -1):
        z = torch.baddbmm(cell.drive(x[:, t]), cell.W, path[:, t])
        slopes = cell.activation.derivative(z).permute(0, 2, 1)[:, :, None]
        product = (product @ W if found else product) * slopes
        found.append(product @ U)
    return torch.stack(found, dim=1).permute(0, 1, 3, 4, 2)
