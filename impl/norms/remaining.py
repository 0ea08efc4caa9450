"""Bounds on the difference of two runs step by step, mostly below the geometric one.

With non-negative matrices, |Δs⁺| ≤ max_r M_r |Δs| row by row, and |Δs_0| ≤ g_0,

    |Δs_m| ≤ g_m,    g_{m+1} = max_r M_r g_m,    ‖Δh_m‖₂ ≤ ‖(g_m)_h‖₂,

as M_r g grows with g. Where M_r v ≤ λv and g_0 ≤ Rv this is at most R λ^m ‖v_h‖₂, the bound of the
norm. That one is larger, as it replaces g_m by a multiple of v, which g_0 need not be; and the cell
state of an LSTM acts on others by its output alone. Layers of a stack also depend on those below,
g^l_{m+1} = max_r M^l_r g^l_m + N^l_r (g^{l−1}_{m+1})_h. Source: Horn & Johnson, section 8.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.numbers.error_free import Floats
from rnnbounds.impl.numbers.outward import (
    TINY,
    div_up,
    gamma,
    mul_up,
    norm_up,
    over_arrays,
    subtract_down,
)

STEPS, WORK = 2**12, 2**24  # and entries of matrices, for a window; `impl.checker` takes twice that


@dataclass(frozen=True, eq=False)
class Layer:
    """Matrices (R, N, N) ≥ 0 and a start g_0 (N,) ≥ 0, infinite where nothing is known; matrices
    (R, N, N + n) = (M_r N_r) where n outputs of the layer below move it too."""

    matrices: Tensor
    start: Tensor

    @cached_property
    def arrays(self) -> tuple[Floats, Floats]:
        """Both as arrays."""
        return self.matrices.detach().cpu().numpy(), self.start.detach().cpu().numpy()

    def moved(self, g: Floats, below: Floats) -> Floats:
        """At least what a step leaves of g (N,), `below` (N,) being left of the layer below; in
        whatever order it is summed."""
        M, _ = self.arrays
        v = np.concatenate([g, below[len(below) - M.shape[-1] + len(g) :]])
        loose, lost = 1 + gamma(2 * len(v)), TINY if v.any() else 0.0
        with np.errstate(all="ignore"):
            product = M @ v
        return over_arrays(lambda up, a: up.add(up.multiply(a, loose), lost), product).max(0)


@dataclass(frozen=True, eq=False)
class Remaining:
    """The layers, of which the last `shown` numbers are the output."""

    layers: tuple[Layer, ...]
    shown: int

    def after(self, m: int) -> float:
        """At least ‖Δh‖₂ after m steps."""
        return self.sizes(m + 1)[m]

    def sizes(self, count: int) -> list[float]:
        """Bound ‖Δh‖₂ after 0, 1, 2, … steps: at least `count` numbers."""
        reached, sizes = self._known
        g, shown = list(reached), list[Floats]()
        while len(sizes) + len(shown) < count:
            for l, layer in enumerate(self.layers):
                g[l] = layer.moved(g[l], g[l - 1])
            shown.append(g[-1][-self.shown :])
        if shown:
            sizes += norm_up(torch.from_numpy(np.stack(shown))).tolist()
            reached[:] = g  # last, so that what is broken off is done again
        return sizes

    def window(self, epsilon: float, k: int) -> int:
        """The least window of which it is known that it and all longer ones leave at most ε, as do
        those of k steps or more: at most k, which it is where k steps are too much work."""
        usable = all(math.isfinite(float(layer.start.sum())) for layer in self.layers)
        if not usable or k > STEPS or k * sum(one.matrices.numel() for one in self.layers) > WORK:
            return k
        sizes = self.sizes(k)
        return max((m + 1 for m in range(k) if not sizes[m] <= epsilon), default=0)

    @cached_property
    def _known(self) -> tuple[list[Floats], list[float]]:
        """The last g of each layer, and what all of them leave of the output."""
        starts = [layer.arrays[1] for layer in self.layers]
        return starts, [float(norm_up(self.layers[-1].start[-self.shown :]))]


def started(box: Tensor, v: Tensor, drive: float, lam: float, radius: float) -> Tensor:
    """g_0 = min(box, R v), R the least of S/(1 − λ) and the radius; the box itself unless λ < 1."""
    if not lam < 1:
        return box
    R = min(float(div_up(drive, subtract_down(1.0, lam))), radius)
    return torch.minimum(box, mul_up(v, R))
