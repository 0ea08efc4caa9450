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
    apply_to_arrays,
    div_up,
    gamma,
    mul_up,
    norm_up,
    subtract_down,
)

STEPS, WORK = 2**12, 2**24  # and entries of matrices, for a window; `impl.checker` takes twice that


@dataclass(frozen=True, eq=False)
class LayerMatrices:
    """Matrices (R, N, N) ≥ 0 and a start g_0 (N,) ≥ 0, infinite where nothing is known; matrices
    (R, N, N + n) = (M_r N_r) where n outputs of the layer below move it too."""

    matrices: Tensor
    start: Tensor

    @cached_property
    def arrays(self) -> tuple[Floats, Floats]:
        """(matrices, start) as NumPy arrays."""
        return self.matrices.detach().cpu().numpy(), self.start.detach().cpu().numpy()

    def next_difference(self, g: Floats, below: Floats) -> Floats:
        """Upper bound on the next g (N,), `below` (N,) being the next g of the layer below; valid
        for any order of summation."""
        M, _ = self.arrays
        v = np.concatenate([g, below[len(below) - M.shape[-1] + len(g) :]])
        slack, lost = 1 + gamma(2 * len(v)), TINY if v.any() else 0.0
        with np.errstate(all="ignore"):
            product = M @ v
        return apply_to_arrays(lambda up, a: up.add(up.multiply(a, slack), lost), product).max(0)


@dataclass(frozen=True, eq=False)
class DifferenceBounds:
    """Bounds g_m of all layers of a stack; the output is the last `shown` numbers of the last."""

    layers: tuple[LayerMatrices, ...]
    shown: int

    def bounds(self, count: int) -> list[float]:
        """Bound ‖Δh‖₂ after 0, 1, 2, … steps: at least `count` numbers."""
        latest, bounds = self._progress
        g, outputs = list(latest), list[Floats]()
        while len(bounds) + len(outputs) < count:
            for l, layer in enumerate(self.layers):
                g[l] = layer.next_difference(g[l], g[l - 1])
            outputs.append(g[-1][-self.shown :])
        if outputs:
            bounds += norm_up(torch.from_numpy(np.stack(outputs))).tolist()
            latest[:] = g  # last, so that what is broken off is done again
        return bounds

    def window(self, epsilon: float, k: int) -> int:
        """The least window from which on ‖Δh_m‖₂ ≤ ε is proved, given that it holds from k on; k
        itself if so many steps take too much work."""
        usable = all(math.isfinite(float(layer.start.sum())) for layer in self.layers)
        if (
            not usable
            or k > STEPS
            or k * sum(layer.matrices.numel() for layer in self.layers) > WORK
        ):
            return k
        bounds = self.bounds(k)
        return max((m + 1 for m in range(k) if not bounds[m] <= epsilon), default=0)

    @cached_property
    def _progress(self) -> tuple[list[Floats], list[float]]:
        """The latest g of each layer, and the bounds on ‖Δh_m‖₂ computed so far."""
        initial = [layer.arrays[1] for layer in self.layers]
        return initial, [float(norm_up(self.layers[-1].start[-self.shown :]))]


def initial_difference(box: Tensor, v: Tensor, drive: float, lam: float, radius: float) -> Tensor:
    """g_0 = min(box, R v), R the least of S/(1 − λ) and the radius; the box itself unless λ < 1."""
    if not lam < 1:
        return box
    R = min(float(div_up(drive, subtract_down(1.0, lam))), radius)
    return torch.minimum(box, mul_up(v, R))
