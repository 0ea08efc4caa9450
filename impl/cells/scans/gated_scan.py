"""A scan with one gate, whose drive is free: an input of its own.

    h⁺ = f∘h + V x,    f = σ(z),    z = W_f x + b_f,

or, with a soft cap c, f = σ(c∘tanh(z/c)) ≤ σ(|c|), below 1 for every input. Each entry of the
matrix memory of an mLSTM, C⁺ = f C + i v kᵀ, is such a unit, driven by its entry of i v kᵀ.
Sources: Beck et al., xLSTM (2024), equations 19 to 27, and xLSTM 7B (2025), section 3, the cap.
"""

from dataclasses import dataclass

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import program_kind
from rnnbounds.impl.cells.scans.scan import DrivenScan


@dataclass(frozen=True, eq=False)
class GatedScan(DrivenScan):
    """B scans: weight_f and weight_v (B, n, d), and perhaps bias_f and cap (B, n)."""

    reads = "weight_v"

    def decay(self, m: Arithmetic[V], x: V) -> V:
        """f."""
        z = m.affine("weight_f", "bias_f", x)
        if "cap" in self.parameters:
            cap = m.vector("cap")
            z = cap * (z * cap.reciprocal()).tanh()
        return z.sigmoid()

    def drive(self, m: Arithmetic[V], x: V) -> V:
        """V x."""
        return m.affine("weight_v", None, x)


GATED_SCAN_KIND = program_kind(
    "gated-scan",
    GatedScan,
    fixed(
        {"weight_f": "n d", "weight_v": "n d", "bias_f": "n", "cap": "n"},
        optional=("bias_f", "cap"),
    ),
    remedy="lower bias_f, so that it forgets, or shrink its inputs",
)
