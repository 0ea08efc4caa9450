"""Gradients in the weights of a recurrent cell and of all its truncations, by their adjoints.

With p_T = p(h_T) and δ_t = ∂p_T/∂z_t,

    ∂p_T/∂W = Σ_t δ_t h_{t−1}ᵀ,  ∂p_T/∂U = Σ_t δ_t x_tᵀ,  ∂p_T/∂b = Σ_t δ_t,

for the full run and for each truncated one. Gradients are subtracted before any norm is taken, and
what truncated back-propagation leaves out, Σ_{t≤T−k} δ_t s_{t−1}ᵀ, is summed without subtraction.
All of it is differentiable in W, U, b and x. Source: Miller & Hardt, Lemma 2; Williams & Peng,
An efficient gradient-based algorithm for on-line training of recurrent network trajectories (1990).

Evaluation of a batch in chunks within a memory limit, and the check of a task's arguments.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, PrecisionError, RangeError, ShapeError
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.windows import gradients as window_gradients
from rnnbounds.impl.gradients.windows.gradients import GROUP, length, products, sweep
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.product import is_plain

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


@dataclass(frozen=True, eq=False)
class Weights:
    """A vector of the weights' space for each pair: W (B, S, n, n), U (B, S, n, d), b (B, S, n)."""

    W: Tensor
    U: Tensor
    b: Tensor

    def flat(self, trained: str = "WUb") -> Tensor:
        """The trained blocks as one vector, (B, S, ·)."""
        return torch.cat([getattr(self, name).flatten(2) for name in trained], dim=2)

    def norm(self, trained: str = "WUb") -> Tensor:
        """Its Euclidean norm, (B, S)."""
        return length(self.flat(trained))


def last_gradient(cell: RNN, x: Tensor, loss: Loss, starts: Tensor | None = None) -> Weights:
    """∇p_T of the run on x (B, T, d, S) whose state stays zero up to time starts (B,).

    That is the truncated model with k = T − starts; without ``starts`` the full one. Raises
    ShapeError and PrecisionError.
    """

    def read(cell: RNN, x: Tensor, *starts: Tensor, loss: Loss) -> Tensor:
        if _plain(cell, x, loss):
            return window_gradients.last_gradient(cell, x, loss, *starts)
        run = sweep(cell, x, *starts)
        return _matrix(run.adjoints(_gradient(loss, run.h)), run.signals)

    start_times = () if starts is None else (starts[:, None].expand(-1, x.shape[3]),)
    gradients = in_chunks(read, cell, x, 0, loss, "WUb", *start_times)
    W, U, b = torch.split(gradients, [cell.n, cell.d, 1], dim=3)
    return Weights(W, U, b[..., 0])


def gradient_gaps(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str = "WUb") -> Tensor:
    """‖∇p_T − ∇p_T^k‖ over the trained weights, k = 0 … K, of x (B, T, d, S): (B, S, K+1).

    The gradient of the truncated model with k = 0, whose state is 0, is 0; at k = T the gap is 0
    exactly. Raises RangeError unless 0 ≤ K ≤ T. Source: Miller & Hardt, Lemma 2.
    """

    def read_full(cell: RNN, x: Tensor, loss: Loss) -> Tensor:
        run = sweep(cell, x)
        return _matrix(run.adjoints(_gradient(loss, run.h)), _trained(run.signals, cell, trained))

    def read(cell: RNN, x: Tensor, full: Tensor, loss: Loss) -> Tensor:
        truncated = _truncated(cell, x, min(K, x.shape[1] - 1), loss, trained)
        return _norms(repeat(full[:, None]), truncated, full[:, None], K)

    def read_plain(cell: RNN, x: Tensor, loss: Loss) -> Tensor:
        return window_gradients.gradient_gaps(cell, x, K, loss, trained)

    check_task(cell, x, K, loss, trained)
    if _plain(cell, x, loss):  # which bounds by itself what its windows keep
        return in_chunks(read_plain, cell, x, 0, loss, trained)
    # A full run keeps little, and its many steps cost as much for few pairs as for all.
    full = in_chunks(read_full, cell, x, 0, loss, trained)
    return in_chunks(read, cell, x, K, loss, trained, full)


def tbptt_gaps(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str = "WUb") -> Tensor:
    """‖∇p_T − g_k‖, k = 0 … K, for g_k = Σ_{t>T−k} δ_t s_{t−1}ᵀ: (B, S, K+1).

    g_k is the gradient that back-propagation truncated after k steps finds along the full run. What
    it leaves out is summed as it is. Source: Williams & Peng.
    """

    def read(cell: RNN, x: Tensor, loss: Loss) -> Tensor:
        T = x.shape[1]
        run = sweep(cell, x)
        adjoints = run.adjoints(_gradient(loss, run.h))
        signals = _trained(run.signals, cell, trained)
        terms = [_outer(adjoints[T - K :], signals[T - K :])] if K else []  # at lags 0 … K−1
        if K < T:
            terms.append(_matrix(adjoints[: T - K], signals[: T - K])[:, None])
        return _padded(_size(torch.cat(terms, dim=1).flip(1).cumsum(1).flip(1)), K)

    return in_chunks(read, cell, x, K, loss, trained)


def tb_gaps(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str = "WUb") -> Tensor:
    """‖g_k − ∇p_T^k‖, k = 0 … K, with g_k of ``tbptt_gaps``: (B, S, K+1)."""

    def read(cell: RNN, x: Tensor, loss: Loss) -> Tensor:
        last = min(K, x.shape[1] - 1)
        run = sweep(cell, x)
        adjoints = run.adjoints(_gradient(loss, run.h))
        signals = _trained(run.signals, cell, trained)
        if not last:
            return x.new_zeros(cell.batch, x.shape[3], K + 1)
        truncated_sums = _outer(adjoints[-last:], signals[-last:]).cumsum(1)
        truncated = _truncated(cell, x, last, loss, trained)
        return _norms(
            torch.split(truncated_sums, GROUP, dim=1),
            truncated,
            torch.zeros_like(truncated_sums[:, :1]),
            K,
        )

    return in_chunks(read, cell, x, K, loss, trained)


def _plain(cell: RNN, x: Tensor, loss: Loss) -> bool:
    return is_plain(cell.W, cell.U, cell.b, x, *loss.tensors)


def _truncated(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str) -> Iterable[Tensor]:
    """∇p_T^k for k = 1 … K, some at a time, (B, ·, S, n, m)."""
    if not K:
        return ()
    runs = sweep(cell, x[:, x.shape[1] - K :], growing=True)
    return products(runs.adjoints(_gradient(loss, runs.h)), _trained(runs.signals, cell, trained))


def _gradient(loss: Loss, h: Tensor) -> Tensor:
    """∇p at states in rows (B, M, S, n)."""
    return loss.gradient(h.flatten(1, 2).mT).mT.reshape(h.shape)


def _trained(signals: list[Tensor], cell: RNN, trained: str) -> list[Tensor]:
    """The parts of the signals that meet trained weights."""
    if trained == "WUb":
        return signals
    ends = {"W": (0, cell.n), "U": (cell.n, cell.n + cell.d), "b": (cell.n + cell.d, None)}
    return [torch.cat([s[..., slice(*ends[part])] for part in trained], 3) for s in signals]


def _matrix(adjoints: list[Tensor], signals: list[Tensor]) -> Tensor:
    """Σ_t δ_t s_{t−1}ᵀ along one run, (B, S, n, m)."""
    delta, signal = torch.cat(adjoints, dim=1), torch.cat(signals, dim=1)
    return delta.permute(0, 2, 3, 1) @ signal.transpose(1, 2)


def _outer(adjoints: list[Tensor], signals: list[Tensor]) -> Tensor:
    """δ_t s_{t−1}ᵀ by lag, the last time first, (B, K, S, n, m)."""
    delta, signal = (torch.cat(rows[::-1], dim=1) for rows in (adjoints, signals))
    return delta[..., None] * signal[..., None, :]


def _norms(
    references: Iterable[Tensor], truncated: Iterable[Tensor], empty: Tensor, K: int
) -> Tensor:
    """Norms for the empty window, of the differences, and 0 where a window holds all inputs."""
    # A difference is reduced to its norm before the next product is made.
    gaps = (_size(full - other) for full, other in zip(references, truncated, strict=False))
    return _padded(torch.cat([_size(empty), *gaps], dim=2), K)


def _size(gaps: Tensor) -> Tensor:
    """Norms of (B, k, S, n, m) as (B, S, k)."""
    return length(gaps.flatten(3)).transpose(1, 2)


def _padded(sizes: Tensor, K: int) -> Tensor:
    """(B, S, K+1), 0 for the windows beyond the last one."""
    return torch.nn.functional.pad(sizes, (0, K + 1 - sizes.shape[2]))
