"""What a comparison leaves of a start, step by step: mostly less than its factor says.

With non-negative matrices, |Δs⁺| ≤ max_r M_r |Δs| row by row, and |Δs_0| ≤ g_0,

    |Δs_m| ≤ g_m,    g_{m+1} = max_r M_r g_m,    ‖Δh_m‖₂ ≤ C ‖(g_m)_h‖₂,

as M_r g grows with g. Where M_r v ≤ λv and g_0 ≤ Rv this is at most C R λ^m ‖v_h‖₂, which is all
that a norm says: it takes what is left for a multiple of v, though a start is none, and what leaves
the cell of an LSTM has to come by its output. Source: Horn & Johnson, section 8.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from impl.numbers.outward import add_up, div_up, gamma, mul_up, norm_up, subtract_down, underflow

STEPS, WORK = 2**12, 2**24  # and entries of matrices, for one window; `impl.checker` has as many


@dataclass(frozen=True, eq=False)
class Remaining:
    """Matrices (R, N, N) ≥ 0 and a start g_0 (N,) ≥ 0, infinite where nothing is known; the output
    is the last `shown` numbers, times `scale`."""

    matrices: Tensor
    start: Tensor
    shown: int
    scale: float = 1.0

    def after(self, m: int) -> float:
        """At least ‖Δh‖₂ after m steps."""
        g, sizes = self._known
        loose = 1 + gamma(2 * len(self.start))  # of a sum of products, in whatever order
        while len(sizes) <= m:
            moved = add_up(mul_up(self.matrices @ g[0], loose), underflow(g[0].amax()[None]))
            g[0] = moved.amax(0)
            sizes.append(self._size(g[0]))
        return sizes[m]

    def window(self, epsilon: float, k: int) -> int:
        """The least window of which it is known that it and all longer ones leave at most ε, as do
        those of k steps or more: at most k, which it is where k steps are too much work."""
        usable = math.isfinite(float(self.start.sum())) and math.isfinite(self.scale)
        if not usable or k > STEPS or k * self.matrices.numel() > WORK:
            return k
        return max((m + 1 for m in range(k) if not self.after(m) <= epsilon), default=0)

    @cached_property
    def _known(self) -> tuple[list[Tensor], list[float]]:
        """The last g, and what all of them leave."""
        return [self.start], [self._size(self.start)]

    def _size(self, g: Tensor) -> float:
        return float(mul_up(self.scale, norm_up(g[-self.shown :])))


def started(box: Tensor, v: Tensor, drive: float, lam: float, radius: float) -> Tensor:
    """g_0 = min(box, R v), R the least of S/(1 − λ) and the radius; the box itself unless λ < 1."""
    if not lam < 1:
        return box
    R = min(float(div_up(drive, subtract_down(1.0, lam))), radius)
    return torch.minimum(box, mul_up(v, R))
