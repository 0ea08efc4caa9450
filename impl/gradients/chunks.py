"""Evaluation of a batch in chunks within a memory limit, and the check of a task's arguments."""

from collections.abc import Callable

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, PrecisionError, RangeError, ShapeError
from rnnbounds.impl.gradients.criterion import Loss
from rnnbounds.impl.models.rnn import RNN

TRAINED = ("W", "U", "b")
_WORKSPACE = 2**23  # float64 numbers that one chunk of pairs may keep on the CPU
_SHARE = 1 / 16  # of a CUDA device's memory, in which few large steps cost less than many launches


def in_chunks(
    read: Callable[..., Tensor],
    cell: RNN,
    x: Tensor,
    K: int,
    loss: Loss,
    trained: str = "WUb",
    *known: Tensor,
) -> Tensor:
    """Evaluate `read` (B, S, ·) in chunks of as many pairs as the workspace holds.

    `read` takes some cells, their inputs, their rows of the ``known`` tensors (B, S, ·), and loss.
    """
    check_task(cell, x, K, loss, trained)
    width = 2 * cell.n + cell.d + 1
    pair = K * (2 * K * width + cell.n * width) + (2 * x.shape[1] + cell.n) * width
    pairs = max(1, _workspace(x) // pair)
    sequences = max(1, min(x.shape[3], pairs))
    systems = max(1, pairs // sequences)
    rows = []
    for i in range(0, max(1, cell.batch), systems):
        part = slice(i, i + systems)
        cells, part_loss = cell.part(part), loss.part(part)
        inputs = torch.split(x[part], sequences, dim=3)
        known_parts = (torch.split(tensor[part], sequences, dim=1) for tensor in known)
        values = [
            read(cells, *given, loss=part_loss) for given in zip(inputs, *known_parts, strict=True)
        ]
        rows.append(torch.cat(values, dim=1))
    return torch.cat(rows)


def _workspace(x: Tensor) -> int:
    """Numbers that a chunk may keep where x lies."""
    if not x.is_cuda:
        return _WORKSPACE
    return int(_SHARE * torch.cuda.get_device_properties(x.device).total_memory / x.itemsize)


def check_task(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str) -> None:
    """Raise an InputError for wrong shapes or dtypes, K > T, and unknown trained blocks."""
    if x.ndim != 4 or x.shape[0] != cell.batch or x.shape[2] != cell.d:
        raise ShapeError("x", f"({cell.batch}, T, {cell.d}, S)", x)
    if loss.C.shape[::2] != (cell.batch, cell.n):
        raise ShapeError("the loss's C", f"({cell.batch}, p, {cell.n})", loss.C)
    if x.dtype != torch.float64:
        raise PrecisionError("x", x.dtype)
    if not x.shape[1]:
        raise ShapeError("x", f"({cell.batch}, T, {cell.d}, S) with T ≥ 1", x)
    if not 0 <= K <= x.shape[1]:
        raise RangeError("K", K, f"between 0 and the length T = {x.shape[1]}")
    if not trained or [name for name in TRAINED if name in trained] != list(trained):
        raise InputError(f"trained = {trained!r} must name some of W, U and b, in this order")
