"""Forward and backward sweeps of a recurrent cell over all its truncations at once.

A step is ρ(V s) of the signal s = (h, x, 1), V = [W U b], so ∂p_T/∂V = Σ_t δ_t s_{t−1}ᵀ with the
adjoints δ_T = ρ′(z_T) ∘ ∇p(h_T), δ_{t−1} = ρ′(z_{t−1}) ∘ Wᵀδ_t. Truncated runs are columns that
start one after another and share the adjoint recursion. Source: Werbos, Backpropagation through
time (1990); Miller & Hardt, Lemma 2.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT

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
