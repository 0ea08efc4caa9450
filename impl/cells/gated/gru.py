"""The GRU in both conventions: the cell, its invariant box and its kinds.

    h⁺ = (1 − z)∘ν + z∘h,    r, z = σ(W h + U x + b),    ν = tanh(U_n x + b_n + r∘(W_n h + c_n))

is torch's; Cho's candidate is ν = tanh(U_n x + b_n + c_n + W_n(r∘h)). With |ν| ≤ ν̄ on |h| ≤ h̄, the
box |h| ≤ min(h̄, ν̄) is invariant too. Sources: Cho et al. (2014); Miller & Hardt, section 4.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Arithmetic, V
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.arithmetic.slopes import step_lipschitz
from rnnbounds.impl.cells.gated.gate import Gated, gated_kind, magnitude
from rnnbounds.impl.cells.kind import Weights, torch_layout
from rnnbounds.impl.numbers.ball_functions import tanh_up
from rnnbounds.impl.numbers.outward import sum_up


@dataclass(frozen=True, eq=False)
class GRU(Gated):
    """B GRU cells: gates in torch's order r, z, n; state h; `cho` says which candidate."""

    cho: bool = False

    def pre_activations(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, V, V]:
        """r, z and the pre-activation of ν."""
        n, u = h.size, m.affine("weight_ih", "bias_ih", x)
        rows = slice(2 * n) if self.cho else ALL
        w = m.affine("weight_hh", "bias_hh", h, rows)
        r, z = (u.part(0, 2 * n) + w.part(0, 2 * n)).sigmoid().chunk(2)
        if self.cho:  # the reset gate acts before the product
            w_n = m.affine("weight_hh", "bias_hh", r * h, slice(2 * n, 3 * n))
        else:
            w_n = r * w.part(2 * n, 3 * n)
        return r, z, u.part(2 * n, 3 * n) + w_n

    def gates(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, V, V]:
        """r, z and ν."""
        r, z, nu = self.pre_activations(m, h, x)
        return r, z, nu.tanh()

    def program(self, m: Arithmetic[V], h: V, x: V) -> V:
        """One step over any arithmetic."""
        _, z, nu = self.gates(m, h, x)
        return m.mix(z, h, nu)

    def candidate(self, m: Arithmetic[V], h: V, x: V) -> V:
        """ν over any arithmetic."""
        return self.pre_activations(m, h, x)[2].tanh()

    def kept(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, bool]:
        """The update gate z."""
        return self.pre_activations(m, h, x)[1], False

    def box(self, B: float | Tensor) -> Tensor:
        """|h| ≤ h̄, from 1 on."""
        return self.iterated_box(torch.ones_like(self.W.detach()[:, : self.n, 0]), B)

    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """Upper bounds ν̄ on |ν|, (B, n)."""
        return tanh_up(magnitude(self.pre_activations(m, s, x)[2]))

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The constants of the cell, each the largest over the units.

        `kappa` bounds ‖Δν‖_∞/‖Δh‖_∞; `z_low` is the least that the update gate can be.
        """
        r, z, nu = self.gates(*self.intervals(box, B))
        slopes = step_lipschitz(self.candidate, self.parameters, box, B, self.d).largest_slopes
        named = {
            "r_bar": magnitude(r).amax(), "z_low": z.range.low.amin(), "z_bar": z.range.high.amax(),
            "nu_bar": magnitude(nu).amax(), "h_bar": box.amax(),
            "kappa": sum_up(slopes[:, :, : self.n]).amax(),
        } | {f"W_{gate}_norm": size for gate, size in self.row_sums("rzn").items()}  # fmt: skip
        return {name: float(value) for name, value in named.items()}


def _cho_gru(weights: Weights) -> GRU:
    return GRU(weights, cho=True)


GRU_KIND = gated_kind(
    "gru",
    GRU,
    torch_layout(3),
    mode="GRU",
    gates=3,
    width=1,
)
GRU_CHO_KIND = gated_kind("gru-cho", _cho_gru, torch_layout(3), gates=3, width=1, default=False)
