"""Gradient gaps of plain systems at all windows: windows side by side by age, nothing copied.

A row of n numbers is a state h or an adjoint δ, one of m = n+d+1 numbers a signal (h, x, 1). Window
k starts when k inputs are left, so that at each time those which run are the last slots:

    time          T−K+1   T−K+2   …   T
    window 1                          s            s: a signal and, on the way back, an adjoint,
    …                         ·       s               S of each; times are planes of one array
    window K−1              s    ···  s
    window K        s       s    ···  s            Σ_t δ_t s_{t−1}ᵀ: along a row, read where it lies

A step forward, or back, is one product of all rows that run with one matrix a system, and sums into
memory that is used again by the next few systems; the sum of a window is one product a sequence.
The full run is a window of its own, all systems at once. The plain twin is in
`impl.gradients.adjoint`; `impl.gradients.adjoint_error` bounds the error of both. Source: Werbos,
Backpropagation through time (1990); Miller & Hardt, Lemma 2.
"""

from collections.abc import Iterator
from itertools import product as pairs_of

import torch
from torch import Tensor

from impl.gradients.criterion import Loss
from impl.gradients.windows.sweep import FLUSHED, slope_of
from impl.gradients.windows.truncations import drives, product, transposed
from impl.models.rnn import RNN
from impl.numbers.product import multiply

_BLOCK = 2**22  # numbers that the signals and the adjoints of one block of pairs may take
_OFTEN = 4  # steps after which adjoints are looked at


def gradient_gaps(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str) -> Tensor:
    """As `impl.gradients.adjoint.gradient_gaps`, of plain tensors, 0 ≤ K ≤ T."""
    B, T, _, S = x.shape
    last = min(K, T - 1)
    driven, rows = drives(cell, x), _signals(cell, x)
    full = _full(cell, driven, rows, loss)
    gaps = x.new_zeros(B, S, K + 1)  # 0 where a window holds all inputs
    columns = [i for i, part in enumerate(_parts(cell)) if part in trained]
    chosen = slice(None) if len(columns) == full.shape[3] else columns
    gaps[..., 0] = length(full[..., chosen].flatten(2))
    driven, rows = driven[:, T - last :], rows[:, T - last :]
    pairs = max(1, _BLOCK // max(1, last * last * (2 * cell.n + cell.d + 1)))
    many = max(1, min(S, pairs))
    most = max(1, min(B, pairs // many))
    memory = _Memory(rows[:most, :, :many], cell.n)
    for start, among in pairs_of(range(0, B, most), range(0, S, many)):
        some, its = slice(start, start + most), slice(among, among + many)
        given = (driven[some, :, its], rows[some, :, its])
        for k, found in _windows(cell.part(some), *given, loss.part(some), memory):
            found -= full[some, its]
            gaps[some, its, k] = length(found[..., chosen].flatten(2))
    return gaps


def last_gradient(cell: RNN, x: Tensor, loss: Loss, starts: Tensor | None = None) -> Tensor:
    """As `impl.gradients.adjoint.last_gradient`, of plain tensors, for W, U and b: (B, S, n, m).

    Times to start are one a pair, (B, S).
    """
    return _full(cell, drives(cell, x), _signals(cell, x), loss, starts)


def length(vectors: Tensor) -> Tensor:
    """Norms over the last axis; 0 for the zero vector alone, even where squares underflow."""
    size: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    lost = size == 0
    return torch.where(lost, vectors.abs().amax(-1), size) if lost.any() else size


def _parts(cell: RNN) -> str:
    """Which weights each column of a gradient belongs to."""
    return "W" * cell.n + "U" * cell.d + "b"


def _signals(cell: RNN, x: Tensor) -> Tensor:
    """(0, x, 1), (B, T, S, m)."""
    B, T, d, S = x.shape
    rows = x.new_zeros(B, T, S, cell.n + d + 1)
    rows[..., cell.n : -1] = x.transpose(2, 3)
    rows[..., -1] = 1
    return rows


def _full(
    cell: RNN, driven: Tensor, signals: Tensor, loss: Loss, starts: Tensor | None = None
) -> Tensor:
    """∇p_T (B, S, n, m) from the drives (B, T, S, n), and from signals whose states it fills in."""
    (B, T, S, n), rho, back = driven.shape, cell.activation, transposed(cell.W)
    z, h, slopes = driven[:, 0].contiguous(), driven.new_empty(B, S, n), []
    states, drive = signals[..., :n].unbind(1), driven.unbind(1)
    asleep = None
    if starts is not None:
        asleep = torch.arange(T, device=starts.device)[:, None, None, None] < starts[..., None]
    for t in range(T):
        if t:
            states[t].copy_(h)
            product(h, back, z)
            z += drive[t]
        rho.into(z, h)
        slopes.append(slope_of(rho, z, h))
        if asleep is not None:
            h.masked_fill_(asleep[t], 0.0)
            slopes[t].masked_fill_(asleep[t], 0.0)
    delta, carried = torch.empty_like(driven), loss.gradient(h.mT).mT
    deltas = delta.unbind(1)
    for t in reversed(range(T)):
        _descend(slopes[t], carried, t, deltas[t])
        if t:
            carried = z
            product(deltas[t], cell.W, carried)
    return _sum(delta, signals, driven.new_empty(B, S, n, signals.shape[3]))


class _Memory:
    """What the blocks of systems write to one after another."""

    def __init__(self, rows: Tensor, n: int) -> None:
        B, K, S, m = rows.shape
        self.signals, self.delta = (rows.new_empty(B, K, K, S, part) for part in (m, n))
        self.z, self.h = rows.new_empty(2, B * K * S * n)
        self.found = rows.new_empty(B, S, n, m)

    def part(self, B: int, S: int) -> tuple[Tensor, Tensor, Tensor]:
        """Of so many systems and sequences."""
        return self.signals[:B, :, :, :S], self.delta[:B, :, :, :S], self.found[:B, :S]


def _windows(
    cell: RNN, driven: Tensor, rows: Tensor, loss: Loss, memory: _Memory
) -> Iterator[tuple[int, Tensor]]:
    """k and ∇p_T^k (B, S, n, m), in memory that is used again, for k = 1 … K.

    Given the last K drives (B, K, S, n) and signals (B, K, S, m) of some systems.
    """
    (B, K, S, n), rho, back = driven.shape, cell.activation, transposed(cell.W)
    signals, delta, found = memory.part(B, S)
    slopes: list[Tensor] = []
    h = memory.h[:0].view(B, 0, S, n)
    for step in range(K):
        first, shape = K - 1 - step, (B, step + 1, S, n)  # slot k − 1 of the youngest window k
        signals[:, step, first:] = rows[:, step, None]
        signals[:, step, first, :, :n] = 0
        signals[:, step, first + 1 :, :, :n] = h
        z = memory.z[: B * (step + 1) * S * n].view(shape)
        z[:, 0] = 0
        product(h.flatten(1, 2), back, z[:, 1:].flatten(1, 2))
        z += driven[:, step, None]
        h = memory.h[: z.numel()].view(shape)
        rho.into(z, h)
        slopes.append(slope_of(rho, z, h))
    carried = loss.gradient(h.flatten(1, 2).mT).mT.reshape(h.shape)
    for step in reversed(range(K)):
        first = K - 1 - step
        _descend(slopes[step], carried, step, delta[:, step, first:])
        carried = memory.z[: B * step * S * n].view(B, step, S, n)
        product(delta[:, step, first + 1 :].flatten(1, 2), cell.W, carried.flatten(1, 2))
    for k in range(1, K + 1):
        yield k, _sum(delta[:, K - k :, k - 1], signals[:, K - k :, k - 1], found)


def _descend(slope: Tensor, carried: Tensor, step: int, out: Tensor) -> None:
    """δ = ρ′ ∘ Wᵀδ; now and then what no longer counts is 0, as subnormal numbers are slow."""
    torch.mul(slope, carried, out=out)
    if step % _OFTEN == 0:
        torch.ops.aten.hardshrink.out(out, FLUSHED, out=out)


def _sum(delta: Tensor, signals: Tensor, out: Tensor) -> Tensor:
    """Σ_t δ_t s_{t−1}ᵀ, (B, S, n, m), of (B, T, S, n) and (B, T, S, m) as they lie in memory."""
    multiply(delta.permute(0, 2, 3, 1), signals.transpose(1, 2), out)
    return out
