"""The LSTM with peepholes, and with other activations than σ and tanh.

    c⁺ = f∘c + i∘z,  h⁺ = o∘χ(c⁺),    i = γ(a_i + P_i∘c),  f = γ(a_f + P_f∘c),  z = ρ(a_z),
    o = γ(a_o + P_o∘c⁺),    a = W h + U x + b,

without P where there are no peepholes. On |c| ≤ c̄, |h| ≤ h̄ with upper bounds ī, f̄, ō, z̄ of the
gates, c̄ ← ī z̄/(1 − f̄), h̄ ← ō χ̄ is monotone; what it settles at from 0 on is proposed as the box.
Sources: Gers & Schmidhuber (2000) for the peepholes; Miller & Hardt, Proposition 1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.cells.gated.activations import activate
from rnnbounds.impl.cells.gated.gate import Gated, magnitude
from rnnbounds.impl.cells.kind import torch_layout
from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.numbers.outward import div_up, mul_up

PEEPHOLES = ("weight_ci", "weight_cf", "weight_co")
_PLAIN = torch_layout(4, "2n")
PEEPHOLE_LAYOUT = Layout({**_PLAIN.shapes, **dict.fromkeys(PEEPHOLES, "n")}, _PLAIN.optional, "2n")


@dataclass(frozen=True, eq=False)
class LSTMVariant(Gated):
    """B LSTM cells: gates in torch's order i, f, z, o; state (c, h); with peepholes weight_ci,
    weight_cf and weight_co (B, n). The activations are those of gates, candidate and output."""

    activations: tuple[str, str, str] = ("sigmoid", "tanh", "tanh")

    def pre_activations(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, V, V, V]:
        """Those of i, f, z and o, o's without its peephole."""
        fed = m.affine("weight_ih", "bias_ih", x)
        n = fed.size // 4
        fed = fed + m.affine("weight_hh", "bias_hh", s.part(n, 2 * n))
        i, f, z, o = (fed.part(j * n, (j + 1) * n) for j in range(4))
        c = s.part(0, n)
        return self._peeping(m, "i", i, c), self._peeping(m, "f", f, c), z, o

    def _peeping(self, m: Arithmetic[V], gate: str, a: V, c: V) -> V:
        """a + P∘c, or a where there are no peepholes."""
        name = f"weight_c{gate}"
        return a + m.vector(name) * c if name in self.parameters else a

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        gate, rho, chi = self.activations
        i, f, z, o = self.pre_activations(m, s, x)
        c = s.part(0, i.size)
        c = activate(m, gate, f) * c + activate(m, gate, i) * activate(m, rho, z)
        h = activate(m, gate, self._peeping(m, "o", o, c)) * activate(m, chi, c)
        return m.join(c, h)

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """The forget gate f."""
        return activate(m, self.activations[0], self.pre_activations(m, s, x)[1]), False

    def box(self, B: float | Tensor) -> Tensor:
        """|c| ≤ c̄ and |h| ≤ h̄; infinite where these do not settle."""
        return self.settled_box(torch.zeros_like(self.b_ih.detach()[:, : 2 * self.n]), B)

    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """c̄ and ō χ̄ on a box of states, (B, 2n)."""
        gate, rho, chi = self.activations
        i, f, z, o = self.pre_activations(m, s, x)
        forgotten = (-f).sigmoid() if gate == "sigmoid" else 1.0 - activate(m, gate, f)
        fed = mul_up(magnitude(activate(m, gate, i)), magnitude(activate(m, rho, z)))
        margin = forgotten.range.low.clamp(min=0.0)
        c = m.box(torch.where(fed == 0, 0.0, div_up(fed, margin)))
        o = activate(m, gate, self._peeping(m, "o", o, c))
        return torch.cat([magnitude(c), mul_up(magnitude(o), magnitude(activate(m, chi, c)))], 1)

    @property
    def blocks(self) -> int:
        """For Euclidean norms c and h are blocks."""
        return 2

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The largest |c| and |h|, and the most that the forget gate can be."""
        f = magnitude(self.kept(*self.intervals(box, B))[0])
        largest = {"B_c": box[0, : self.n], "h_bar": box[0, self.n :], "f_bar": f}
        return {name: float(size.amax()) for name, size in largest.items()}
