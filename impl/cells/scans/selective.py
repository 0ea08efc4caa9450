"""A selective scan: the input says how long a step lasts, and so how much of the state is kept.

    h⁺ = exp(−Δ∘exp(A_log))∘h + Δ∘(B x),    Δ = softplus(W_Δ x + b_Δ),

in the manner of Mamba, with one state for each unit and its simplified discretisation. The decay is
below 1 for every input, but near 1 where Δ is small: the certified rate is that of the least Δ over
‖x‖₂ ≤ B. Source: Gu & Dao, Mamba (2023), sections 3.2 and 3.5.
"""

from dataclasses import dataclass

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import program_kind
from rnnbounds.impl.cells.scans.scan import DrivenScan


@dataclass(frozen=True, eq=False)
class Selective(DrivenScan):
    """B scans: weight_delta and weight_B (B, n, d), A_log and perhaps bias_delta (B, n)."""

    reads = "weight_B"

    def decay(self, m: Arithmetic[V], x: V) -> V:
        """exp(−Δ∘exp(A_log))."""
        return (-(self.duration(m, x) * m.vector("A_log").exp())).exp()

    def drive(self, m: Arithmetic[V], x: V) -> V:
        """Δ∘(B x)."""
        return self.duration(m, x) * m.affine("weight_B", None, x)

    def duration(self, m: Arithmetic[V], x: V) -> V:
        """The step's duration Δ = softplus(W_Δ x + b_Δ)."""
        return m.affine("weight_delta", "bias_delta", x).softplus()


SELECTIVE_KIND = program_kind(
    "selective",
    Selective,
    fixed(
        {"weight_delta": "n d", "weight_B": "n d", "A_log": "n", "bias_delta": "n"},
        optional=("bias_delta",),
    ),
    remedy="raise bias_delta or A_log, or shrink its inputs",
)
