"""Bounds on the difference of two runs, step by step and at all times, from non-negative matrices.

With |Δs⁺| ≤ max_r M_r |Δs| row by row, and |Δs_0| ≤ g_0,

    |Δs_m| ≤ g_m,    g_{m+1} = max_r M_r g_m,    ‖Δh_m‖₂ ≤ ‖(g_m)_h‖₂,

as M_r g grows with g. Where M_r v ≤ λv and g_0 ≤ Rv this is at most R λ^m ‖v_h‖₂, the bound of the
norm. That one is larger, as it replaces g_m by a multiple of v, which g_0 need not be; and the cell
state of an LSTM acts on others by its output alone. Layers of a stack also depend on those below,
g^l_{m+1} = max_r M^l_r g^l_m + N^l_r (g^{l−1}_{m+1})_h.

If the difference is renewed in every step, |Δs⁺| ≤ F(|Δs|) with F(v) = max_r (M_r v + ρ_r), and
F(v) ≤ v, then |Δs_t| ≤ v for all t from Δs_0 = 0 on, by induction, as F is monotone. Such a v is
proposed in floats, near the least, (I − M)⁻¹ρ for the worst rows M and ρ, which policies find; the
inequality is checked with outward rounding. The least is at most v′ max (ρ_i/v′_i)/(1 − λ) for any
v′ > 0 with M_r v′ ≤ λv′, so no norm max |s_i|/v′_i says less. Sources: Horn & Johnson, section 8;
Berman & Plemmons, Nonnegative Matrices, chapter 6.
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
    rows_up,
    subtract_down,
)

_POLICIES = 8
_ROOM, _LEAST = 1 + 2.0**-20, 2.0**-30  # of what is proposed: so it is certified in spite of floats


def proposed_point(matrices: Tensor, error: Tensor) -> Tensor:
    """About the least v with F(v) ≤ v, a little larger, for M (R, N, N) and ρ (R, N) or (N,); no
    bound is known where that has other signs."""
    rows = _affine_rows(matrices, error)
    worst, units = rows.amax(0), torch.arange(rows.shape[1], device=rows.device)
    for _ in range(_POLICIES if len(rows) > 1 else 1):
        M, rho = worst[:, :-1], worst[:, -1]
        rhs = rho * _ROOM + rho.amax() * _LEAST
        solution: Tensor = torch.linalg.solve_ex(torch.eye(len(M)).to(M) - M, rhs).result
        v = torch.where(solution >= 0, solution, torch.inf)
        previous, worst = worst, rows[(rows @ _with_one(v)).argmax(0), units]
        if torch.equal(previous, worst):
            break
    return v


def certified_point(matrices: Tensor, error: Tensor) -> Tensor:
    """A v (N,) with F(v) ≤ v near the least, as `proposed_point`; infinite if none is found. With
    room for other roundings, as a checker has."""
    rows, v = _affine_rows(matrices, error), proposed_point(matrices, error)
    image = rows_up(rows.flatten(0, 1)[None], _with_one(v)[None])[0].reshape(rows.shape[:2])
    return v if bool((image <= v).all()) else torch.full_like(v, torch.inf)


def _affine_rows(matrices: Tensor, error: Tensor) -> Tensor:
    """(M_r ρ_r), so that F(v) = max_r (M_r ρ_r)(v, 1): (R, N, N + 1)."""
    return torch.cat([matrices, error.expand(matrices.shape[:2])[..., None]], 2)


def _with_one(v: Tensor) -> Tensor:
    return torch.cat([v, torch.ones_like(v[:1])])


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
