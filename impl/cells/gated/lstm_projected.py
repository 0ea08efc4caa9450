"""The LSTM whose output is projected, torch's with `proj_size`.

    c⁺ = f∘c + i∘z,  h⁺ = R (o∘tanh c⁺),  i, f, o = σ(W h + U x + b),  z = tanh(W_z h + U_z x + b_z)

for c of n units and h of p. With ī, f̄, ō, z̄ on |h| ≤ h̄ as for an LSTM, B_c = ī z̄/(1 − f̄) and
|h| ≤ min(h̄, |R|(ō tanh B_c)); h̄ = |R|1 is a start. Source: Sak et al. (2014).
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from impl.arithmetic.base import Arithmetic, V
from impl.cells.gated.gate import Interval, rows_up, tanh_up
from impl.cells.kind import Weights, fixed
from impl.cells.program import ProgramCell, program_kind
from impl.cells.torch_kind import BIASES, SUFFIX, drive, finite
from impl.norms.comparison import Comparison
from impl.numbers.outward import add_up, div_up, mul_up, norm_up

_ITERATES = 8
_SHAPES = {
    "weight_hh": "4n p", "weight_ih": "4n d", "weight_hr": "p n", "bias_ih": "4n", "bias_hh": "4n",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ProjectedLSTM(ProgramCell):
    """B cells, by torch's names: weight_hh (B, 4n, p), weight_ih (B, 4n, d), weight_hr (B, p, n)
    and biases (B, 4n); state (c, h)."""

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        fed = m.affine("weight_ih", "bias_ih", x)
        n = fed.size // 4
        c, h = s.part(0, n), s.part(n, s.size)
        i, f, z, o = (fed + m.affine("weight_hh", "bias_hh", h)).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * z.tanh()
        return m.join(c, m.affine("weight_hr", None, o.sigmoid() * c.tanh()))

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """The forget gate f."""
        fed = m.affine("weight_ih", "bias_ih", x)
        h = s.part(fed.size // 4, s.size)
        return (fed + m.affine("weight_hh", "bias_hh", h)).chunk(4)[1].sigmoid(), False

    @property
    def n(self) -> int:
        """The size p of the output h."""
        return self.parameters["weight_hr"].shape[1]

    @property
    def U(self) -> Tensor:
        """The input weights."""
        return self.parameters["weight_ih"]

    def box(self, B: float | Tensor) -> Tensor:
        """|c| ≤ B_c and |h| ≤ h̄ after iterates from h̄ = |R|1, each of which is valid."""
        parts = {name: part.detach() for name, part in self.parameters.items()}
        W, R = parts["weight_hh"].abs(), parts["weight_hr"].abs()
        zero = torch.zeros_like(W[:, :, 0])
        b_ih, b_hh = (parts.get(role, zero) for role in BIASES)
        rest = Interval(-add_up(-b_ih, -b_hh), add_up(b_ih, b_hh))
        rest = rest.widened(mul_up(norm_up(parts["weight_ih"]), B))
        h, c = rows_up(R, torch.ones_like(R[:, 0])), torch.full_like(R[:, 0], torch.inf)
        for _ in range(_ITERATES):
            i, f, z, o = rest.widened(rows_up(W, h)).chunk(4)
            c = torch.minimum(c, div_up(mul_up(i.sigmoid(), z.tanh()), (-f).sigmoid_low()))
            h = torch.minimum(h, rows_up(R, mul_up(o.sigmoid(), tanh_up(c))))
        return torch.cat([c, h], dim=1)

    def compared(self, box: Tensor, B: float | Tensor) -> Comparison:
        """The comparison on a box; for Euclidean norms the state is one block."""
        return replace(super().compared(box, B), output=self.n)

    def constants(self, B: float) -> dict[str, float]:
        """The largest |c| and |h|."""
        box = self.held(B).box
        c, h = box[0, : -self.n].amax(), box[0, -self.n :].amax()
        return {"B_c": float(c), "h_bar": float(h)}


def step(weights: Weights, driven: Tensor, s: Tensor) -> Tensor:
    """One step in rows: states (…, M, n + p), the drive U x + b_ih (…, M, 4n)."""
    W, R = weights["weight_hh"], weights["weight_hr"]
    c, h = s[..., : R.shape[1]], s[..., R.shape[1] :]
    i, f, z, o = (driven + (h @ W.mT + weights.get("bias_hh", 0.0))).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * z.tanh()
    return torch.cat([c, (o.sigmoid() * c.tanh()) @ R.mT], dim=-1)


def _make(weights: Weights) -> ProjectedLSTM:
    finite(weights)
    return ProjectedLSTM(weights)


LSTM_PROJECTED_KIND = replace(
    program_kind(
        "lstm-projected",
        _make,
        fixed(_SHAPES, BIASES, state="n+p", output="p"),
        suffix=SUFFIX,
    ),
    drive=drive,
    step=step,
)
