"""Rollouts of a batch of systems, and all their truncations at once.

What is written here is differentiable and runs on any device; plain tensors go the faster way of
`impl.gradients.windows.truncations`, to the same states up to rounding.
"""

import torch
from torch import Tensor

from rnnbounds.impl.errors import PrecisionError, RangeError, ShapeError
from rnnbounds.impl.gradients.windows import truncations as windows
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.product import is_plain


def states(cell: RNN, x: Tensor) -> Tensor:
    """All states from the zero state: x (B, T, d, S) -> (B, T+1, n, S), the first one zero."""
    _check(cell, x)
    if _plain(cell, x):
        return windows.states(cell, x)
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
        return windows.truncations(cell, x, K)
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
