"""The GRU in both conventions: the cell, its invariant box and its kinds.

    h⁺ = (1 − z)∘ν + z∘h,    r, z = σ(W h + U x + b),    ν = tanh(U_n x + b_n + r∘(W_n h + c_n))

is torch's; Cho's candidate is ν = tanh(U_n x + b_n + c_n + W_n(r∘h)). With |ν| ≤ ν̄ on |h| ≤ h̄, the
box |h| ≤ min(h̄, ν̄) is invariant too. Sources: Cho et al. (2014); Miller & Hardt, section 4.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from impl.arithmetic.base import Arithmetic, V
from impl.arithmetic.slopes import stepped
from impl.cells.gated.gate import Gated, gated_kind, most
from impl.cells.kind import Weights, torch_layout
from impl.numbers.outward import sum_up


@dataclass(frozen=True, eq=False)
class GRU(Gated):
    """B GRU cells: gates in torch's order r, z, n; state h; `cho` says which candidate."""

    count = 3

    cho: bool = False

    def driven(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, tuple[V, V], V]:
        """r, the parts of z's pre-activation, of inputs and of states, and ν."""
        u_r, u_z, u_n = m.affine("weight_ih", "bias_ih", x).chunk(3)
        if self.cho:  # the reset gate acts before the product
            n = h.size
            w_r, w_z = m.affine("weight_hh", "bias_hh", h, slice(2 * n)).chunk(2)
            r = (u_r + w_r).sigmoid()
            w_n = m.affine("weight_hh", "bias_hh", r * h, slice(2 * n, 3 * n))
        else:
            w_r, w_z, w_n = m.affine("weight_hh", "bias_hh", h).chunk(3)
            r = (u_r + w_r).sigmoid()
            w_n = r * w_n
        return r, (u_z, w_z), (u_n + w_n).tanh()

    def gates(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, V, V]:
        """r, z and ν."""
        r, (u_z, w_z), nu = self.driven(m, h, x)
        return r, (u_z + w_z).sigmoid(), nu

    def program(self, m: Arithmetic[V], h: V, x: V) -> V:
        """One step over any arithmetic."""
        _, z, nu = self.gates(m, h, x)
        return m.mix(z, h, nu)

    def candidate(self, m: Arithmetic[V], h: V, x: V) -> V:
        """ν over any arithmetic."""
        return self.driven(m, h, x)[2]

    def kept(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, bool]:
        """The update gate z."""
        return self.gates(m, h, x)[1], False

    def box(self, B: float | Tensor) -> Tensor:
        """|h| ≤ h̄, from 1 on."""
        return self.iterated(torch.ones_like(self.W.detach()[:, : self.n, 0]), B)

    def image(self, box: Tensor, B: float | Tensor) -> Tensor:
        """ν̄."""
        return most(self.candidate(*self.over(box, B)))

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The constants of the cell, each the largest over the units.

        `kappa` bounds ‖Δν‖_∞/‖Δh‖_∞; `z_low` is the least that the update gate can be.
        """
        r, z, nu = self.gates(*self.over(box, B))
        steep = stepped(self.candidate, self.parameters, box, B, self.d).worst
        named = {
            "r_bar": most(r).amax(), "z_low": z.range.low.amin(), "z_bar": z.range.high.amax(),
            "nu_bar": most(nu).amax(), "h_bar": box.amax(),
            "kappa": sum_up(steep[:, :, : self.n]).amax(),
        } | {f"W_{gate}_norm": size for gate, size in self.row_sums("rzn").items()}  # fmt: skip
        return {name: float(value) for name, value in named.items()}


def _cho(weights: Weights) -> GRU:
    return GRU(weights, cho=True)


GRU_KIND = gated_kind("gru", GRU, torch_layout(3), mode="GRU", gates=3, width=1)
GRU_CHO_KIND = gated_kind("gru-cho", _cho, torch_layout(3), gates=3, width=1, default=False)
