"""Gradient gaps of plain systems at all windows: windows side by side by age, nothing copied.

A row of m = n+d+1 numbers is a signal (h, x, 1), one of n an adjoint δ. Window k starts when k
inputs are left, so that at each time those which run are the last slots:

    time          T−K+1   T−K+2   …   T
    window 1                          s            s: a signal and, on the way back, an adjoint,
    …                         ·       s               S of each; times are planes of one array
    window K−1              s    ···  s
    window K        s       s    ···  s            Σ_t δ_t s_{t−1}ᵀ: along a row, read where it lies

A step forward, or back, is one product of all rows that run with one matrix a system; an adjoint
takes the place of its pre-activation, and the sum of a window is one product a sequence. Blocks of
systems write one after another to the same memory, small enough to stay in cache; what is called so
often is NumPy, in a third of torch's time. The full run is a window of its own, all systems at
once. The plain twin is in `impl.gradients.adjoint`; `impl.gradients.adjoint_error` bounds the error
of both. Source: Werbos, Backpropagation through time (1990); Miller & Hardt, Lemma 2.
"""

from collections.abc import Iterator
from itertools import product as pairs_of

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.gradients.criterion import Loss
from rnnbounds.impl.gradients.windows.sweep import FLUSHED, GROUP, signal_weights, slope_of
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.product import Array, multiply_rows

_BLOCK = 2**21  # numbers that the signals and the adjoints of one block of pairs may take
_OFTEN = 4  # steps after which adjoints are looked at

# ρ′(z) δ from ρ(z) in one pass.
_BACK = {
    "tanh": torch.ops.aten.tanh_backward.grad_input,
    "sigmoid": torch.ops.aten.sigmoid_backward.grad_input,
}


def gradient_gaps(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str) -> Tensor:
    """As `impl.gradients.adjoint.gradient_gaps`, of plain tensors, 0 ≤ K ≤ T."""
    B, T, _, S = x.shape
    last, inputs = min(K, T - 1), _inputs(x)
    full = _full(cell, inputs, loss)
    gaps = x.new_zeros(B, S, K + 1)  # 0 where a window holds all inputs
    columns = [i for i, part in enumerate(_parts(cell)) if part in trained]
    chosen = slice(None) if len(columns) == full.shape[3] else columns
    gaps[..., 0] = length(full[..., chosen].flatten(2))
    inputs = inputs[:, T - last :]
    pairs = max(1, _BLOCK // max(1, last * last * (2 * cell.n + cell.d + 1)))
    many = max(1, min(S, pairs))
    most = max(1, min(B, pairs // many))
    memory = _Memory(most, last, many, *full.shape[2:])
    for start, among in pairs_of(range(0, B, most), range(0, S, many)):
        some, its = slice(start, start + most), slice(among, among + many)
        for k, found in _windows(cell.part(some), inputs[some, :, its], loss.part(some), memory):
            found -= full[some, None, its]
            gaps[some, its, k] = length(found[..., chosen].flatten(3)).mT
    return gaps


def last_gradient(cell: RNN, x: Tensor, loss: Loss, starts: Tensor | None = None) -> Tensor:
    """As `impl.gradients.adjoint.last_gradient`, of plain tensors, for W, U and b: (B, S, n, m).

    Times to start are one a pair, (B, S).
    """
    return _full(cell, _inputs(x), loss, starts)


def length(vectors: Tensor) -> Tensor:
    """Norms over the last axis; 0 for the zero vector alone, even where squares underflow."""
    size: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    lost = size == 0
    return torch.where(lost, vectors.abs().amax(-1), size) if lost.any() else size


def _parts(cell: RNN) -> str:
    """Which weights each column of a gradient belongs to."""
    return "W" * cell.n + "U" * cell.d + "b"


def _inputs(x: Tensor) -> Tensor:
    """(x, 1), (B, T, S, d+1)."""
    return torch.nn.functional.pad(x.transpose(2, 3), (0, 1), value=1.0)


def _full(cell: RNN, inputs: Tensor, loss: Loss, starts: Tensor | None = None) -> Tensor:
    """∇p_T (B, S, n, m) from the inputs (B, T, S, d+1)."""
    (B, T, S, _), n, rho = inputs.shape, cell.n, cell.activation
    signals = torch.nn.functional.pad(inputs, (n, 0, 0, 0, 0, 1))  # one more, for the last state
    adjoints, states = inputs.new_empty(B, T, S, n), signals[..., :n]
    asleep = None
    if starts is not None:
        asleep = torch.arange(T, device=starts.device)[:, None, None] < starts[:, None, :, None]
    s, delta = signals.numpy(), adjoints.numpy()
    W, V = cell.W.numpy(), signal_weights(cell).contiguous().numpy()
    with np.errstate(all="ignore"):
        for t in range(T):
            multiply_rows(s[:, t], V, delta[:, t])
            rho.write_to(adjoints[:, t], states[:, t + 1])
            if asleep is not None:
                states[:, t + 1].masked_fill_(asleep[:, t], 0.0)
        carried = loss.gradient(states[:, T].mT).mT
        for t in reversed(range(T)):
            _descend(cell, adjoints[:, t], states[:, t + 1], carried, flushed=t % _OFTEN == 0)
            if asleep is not None:
                adjoints[:, t].masked_fill_(asleep[:, t], 0.0)
            if t:
                carried = inputs.new_empty(B, S, n)
                multiply_rows(delta[:, t], W, carried.numpy())
        found = inputs.new_empty(B, S, n, s.shape[3])
        _sum(delta, s[:, :T], found.numpy())
    return found


class _Memory:
    """Workspace that blocks of systems reuse, for so many systems and sequences."""

    def __init__(self, B: int, K: int, S: int, n: int, m: int) -> None:
        self.signals = np.zeros((B, K + 1, K, S, m))  # h = 0 where windows start
        self.adjoints = np.empty((B, K, K, S, n))
        self.carried = np.empty(B * K * S * n)
        self.found = np.empty((B, GROUP, S, n, m))


def _windows(
    cell: RNN, inputs: Tensor, loss: Loss, memory: _Memory
) -> Iterator[tuple[slice, Tensor]]:
    """Windows k, a group at a time, and their ∇p_T^k (B, ·, S, n, m), in memory that is used again.

    Given the last K inputs (B, K, S, d+1) of some systems.
    """
    (B, K, S, _), n, rho = inputs.shape, cell.n, cell.activation
    lend = torch.from_numpy
    s, delta = memory.signals[:B, :, :, :S], memory.adjoints[:B, :, :, :S]
    found = memory.found[:B, :, :S]
    W, V = cell.W.numpy(), signal_weights(cell).contiguous().numpy()
    with np.errstate(all="ignore"):
        s[:, :K, ..., n:] = inputs.numpy()[:, :, None]
        for step in range(K):
            first = K - 1 - step  # slot k − 1 of the youngest window k
            z = delta[:, step, first:]
            multiply_rows(_rows(s[:, step, first:]), V, _rows(z))
            rho.write_to(lend(z), lend(s[:, step + 1, first:, :, :n]))
        last = lend(s[:, K, ..., :n]).flatten(1, 2)
        carried = loss.gradient(last.mT).mT.reshape(B, K, S, n)
        for step in reversed(range(K)):
            first = K - 1 - step
            z, h = delta[:, step, first:], s[:, step + 1, first:, :, :n]
            _descend(cell, lend(z), lend(h), carried, flushed=step % _OFTEN == 0)
            back = memory.carried[: B * step * S * n].reshape(B, step, S, n)
            multiply_rows(_rows(z[:, 1:]), W, _rows(back))
            carried = lend(back)
        for start in range(0, K, GROUP):
            group = range(start, min(start + GROUP, K))
            for i, slot in enumerate(group):
                _sum(delta[:, K - 1 - slot :, slot], s[:, K - 1 - slot : K, slot], found[:, i])
            yield slice(start + 1, group.stop + 1), lend(found[:, : len(group)])


def _rows(v: Array) -> Array:
    """(B, k, S, ·) as (B, k S, ·)."""
    return v.reshape(v.shape[0], v.shape[1] * v.shape[2], v.shape[3])


def _descend(cell: RNN, z: Tensor, h: Tensor, carried: Tensor, *, flushed: bool) -> None:
    """δ = ρ′(z) ∘ Wᵀδ in the place of z, with h = ρ(z).

    Now and then what no longer counts is 0, as subnormal numbers are slow.
    """
    back = _BACK.get(cell.activation.name)
    if back is None:
        torch.mul(slope_of(cell.activation, z, h), carried, out=z)
    else:
        back(carried, h, grad_input=z)
    if flushed:
        torch.ops.aten.hardshrink.out(z, FLUSHED, out=z)


def _sum(delta: Array, signals: Array, out: Array) -> None:
    """Σ_t δ_t s_{t−1}ᵀ, (B, S, n, m), of (B, T, S, n) and (B, T, S, m) as they lie in memory."""
    np.matmul(delta.transpose(0, 2, 3, 1), signals.transpose(0, 2, 1, 3), out=out)
