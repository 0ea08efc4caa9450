"""The GRU with other activations than σ and tanh, and the minimal gated unit, of one gate.

    h⁺ = (1 − z)∘ν + z∘h,    r, z = γ(W h + U x + b),    ν = ρ(U_n x + b_n + r∘(W_n h + c_n)),

or ν = ρ(U_n x + b_n + c_n + W_n(r∘h)), where the reset gate acts before the product. The minimal
gated unit has one gate f in the place of both: h⁺ = (1 − f)∘h + f∘ν as Zhou et al. have it, and
(1 − f)∘ν + f∘h in flax's `MGUCell`, which resets after the product. On |h| ≤ h̄ with |ν| ≤ ν̄ the box
|h| ≤ max(h̄, ν̄) is kept; what h̄ ← ν̄ settles at from 0 on is proposed.
Sources: Cho et al. (2014); Zhou et al., Minimal gated unit for recurrent neural networks (2016).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.cells.gated.activations import activate
from rnnbounds.impl.cells.gated.gate import Gated, gated_kind, magnitude
from rnnbounds.impl.cells.kind import Weights, torch_layout


@dataclass(frozen=True, eq=False)
class GRUVariant(Gated):
    """B GRU cells: gates in torch's order r, z, n, or f, n of a unit with one gate; state h.

    before: whether the reset gate acts before the product. keeps: whether the last gate is what
    is kept of h, not what is taken of ν. The activations are those of gates and candidate."""

    activations: tuple[str, str] = ("sigmoid", "tanh")
    before: bool = False
    keeps: bool = True

    def gates(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, V, V]:
        """r, z and ν; of a unit with one gate that is r and z."""
        fed = m.affine("weight_ih", "bias_ih", x)
        n, end = h.size, fed.size
        gated, new = slice(end - n), slice(end - n, end)
        a = fed.part(0, end - n) + m.affine("weight_hh", "bias_hh", h, gated)
        gates = activate(m, self.activations[0], a)
        r, z = gates.part(0, n), gates.part(end - 2 * n, end - n)
        if self.before:
            w = m.affine("weight_hh", "bias_hh", r * h, new)
        else:
            w = r * m.affine("weight_hh", "bias_hh", h, new)
        return r, z, activate(m, self.activations[1], fed.part(end - n, end) + w)

    def program(self, m: Arithmetic[V], h: V, x: V) -> V:
        """One step over any arithmetic."""
        _, z, nu = self.gates(m, h, x)
        return m.mix(z, h, nu) if self.keeps else m.mix(z, nu, h)

    def kept(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, bool]:
        """The update gate z."""
        return self.gates(m, h, x)[1], not self.keeps

    def box(self, B: float | Tensor) -> Tensor:
        """|h| ≤ h̄; infinite where it does not settle."""
        return self.settled_box(torch.zeros_like(self.W.detach()[:, : self.n, 0]), B)

    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """Upper bounds ν̄ on |ν|, (B, n)."""
        return magnitude(self.gates(m, s, x)[2])

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The largest |h|, and the ends of the update gate."""
        z = self.gates(*self.intervals(box, B))[1].range
        return {
            "h_bar": float(box.amax()),
            "z_low": float(z.low.amin()),
            "z_bar": float(z.high.amax()),
        }


def _flax_mgu(weights: Weights) -> GRUVariant:
    return GRUVariant(weights)


def _zhou_mgu(weights: Weights) -> GRUVariant:
    return GRUVariant(weights, before=True, keeps=False)


MGU_KINDS = (
    gated_kind("mgu", _flax_mgu, torch_layout(2), default=False),
    gated_kind("mgu-zhou", _zhou_mgu, torch_layout(2), default=False),
)
