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
once. The plain twin is in `impl.gradients.adjoint`; `impl.gradients.rounding` bounds the error
of both. Source: Werbos, Backpropagation through time (1990); Miller & Hardt, Lemma 2.

Forward and backward sweeps of a recurrent cell over all its truncations at once.

A step is ρ(V s) of the signal s = (h, x, 1), V = [W U b], so ∂p_T/∂V = Σ_t δ_t s_{t−1}ᵀ with the
adjoints δ_T = ρ′(z_T) ∘ ∇p(h_T), δ_{t−1} = ρ′(z_{t−1}) ∘ Wᵀδ_t. Truncated runs are columns that
start one after another and share the adjoint recursion. Source: Werbos, Backpropagation through
time (1990); Miller & Hardt, Lemma 2.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product as pairs_of

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT
from rnnbounds.impl.numbers.product import Array, multiply_rows

FLUSHED = 2.0**-700  # adjoints below it count as 0: subnormal numbers are slow
GROUP = 8  # truncations whose weight gradients are one product

# ρ′ from ρ(z), which saves the second evaluation; off by at most 16u for values off by at most 4u.
SHORTCUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": lambda h: torch.rsub(h * h, 1),
    "sigmoid": lambda h: h * (1 - h),
}
SHORTCUT_ERROR = 16 * UNIT


@dataclass(frozen=True)
class Sweep:
    """Results of one forward sweep by time: signals (B, M, S, n+d+1) and slopes (B, M, S, n).

    M = 1 or, where truncations grow, M = 1, 2, … columns for windows 1, 2, … up to the time's lag.
    """

    cell: RNN
    growing: bool
    signals: list[Tensor]
    slopes: list[Tensor]
    h: Tensor

    def adjoints(self, gradient: Tensor) -> list[Tensor]:
        """δ_t, time by time, of the loss with that gradient at the last state (B, M, S, n)."""
        return self.backward([gradient])

    def backward(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        """Compute δ_t, time by time, of a sum of losses with gradients at the last few times."""
        found: list[Tensor] = []
        for slopes in reversed(self.slopes):
            gradient = gradients[-1 - len(found)] if len(found) < len(gradients) else None
            if found:
                older = found[-1][:, 1:] if self.growing else found[-1]
                carried = rows_times(older, self.cell.W)
                gradient = carried if gradient is None else carried + gradient
            assert gradient is not None
            found.append(torch.nn.functional.hardshrink(gradient * slopes, FLUSHED))
        return found[::-1]


def sweep(cell: RNN, x: Tensor, starts: Tensor | None = None, *, growing: bool = False) -> Sweep:
    """The run from the zero state on x (B, T, d, S), or, ``growing``, that on each last k inputs.

    The state stays zero up to time starts (B, S), if given.
    """
    rows = x.transpose(2, 3)[:, :, None]
    rows = torch.nn.functional.pad(rows, (0, 1), value=1.0)  # (x, 1)
    V = signal_weights(cell)
    zero = x.new_zeros(cell.batch, 1, x.shape[3], cell.n)
    h = zero[:, :0] if growing else zero
    signals, slopes = [], []
    for t in range(x.shape[1]):
        if growing:
            h = torch.cat([zero, h], dim=1)
        signal = torch.cat([h, rows[:, t].expand(-1, h.shape[1], -1, -1)], dim=3)
        z = rows_times(signal, V)
        h = cell.activation(z)
        slope = slope_of(cell.activation, z, h)
        if starts is not None:
            asleep = (t < starts)[:, None, :, None]
            h, slope = h.masked_fill(asleep, 0.0), slope.masked_fill(asleep, 0.0)
        signals.append(signal)
        slopes.append(slope)
    return Sweep(cell, growing, signals, slopes, h)


def products(adjoints: list[Tensor], signals: list[Tensor]) -> Iterator[Tensor]:
    """Σ_t δ_t s_{t−1}ᵀ of growing columns, a GROUP at a time, (B, ·, S, n, m), window 1 first."""
    K = len(adjoints)
    for start in range(0, K, GROUP):
        stop = min(start + GROUP, K)
        delta, signal = (
            torch.stack([_members(lags[-1 - lag], lag, start, stop) for lag in range(stop)], dim=3)
            for lags in (adjoints, signals)
        )
        yield delta.mT @ signal


def signal_weights(cell: RNN) -> Tensor:
    """Vᵀ (B, n+d+1, n)."""
    return torch.cat([cell.W, cell.U, cell.b[:, :, None]], dim=2).mT


def rows_times(rows: Tensor, M: Tensor) -> Tensor:
    """Rows (B, M, S, m) times a matrix a system (B, m, n)."""
    return torch.bmm(rows.flatten(1, 2), M).reshape(*rows.shape[:3], M.shape[2])


def _members(rows: Tensor, lag: int, start: int, stop: int) -> Tensor:
    """The columns of windows start+1 … stop at one lag; zero where their run has not begun."""
    rows = rows[:, max(start - lag, 0) : stop - lag]
    absent = stop - start - rows.shape[1]
    return torch.nn.functional.pad(rows, (0, 0, 0, 0, absent, 0)) if absent else rows


def slope_of(rho: Activation, z: Tensor, h: Tensor) -> Tensor:
    """ρ′(z), from h = ρ(z) where that is enough."""
    shortcut = SHORTCUTS.get(rho.name)
    return rho.derivative(z) if shortcut is None else shortcut(h)


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
    parts = "W" * cell.n + "U" * cell.d + "b"  # which weights each column belongs to
    columns = [i for i, part in enumerate(parts) if part in trained]
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
