"""The minimal GRU: a gate and a candidate of the input alone.

    h⁺ = (1 − z)∘h + z∘h̃,    z = σ(W_z x + b_z),    h̃ = W_h x + b_h.

So d = 1 − z, and states stay between 0 and the candidates: |h_j| ≤ sup |h̃_j|. Source: Feng et al.,
Were RNNs all we needed? (2024), section 3.1.
"""

from dataclasses import dataclass

from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import program_kind
from rnnbounds.impl.cells.scans.scan import ScanCell


@dataclass(frozen=True, eq=False)
class MinGRU(ScanCell):
    """B minimal GRUs: weight_z and weight_h (B, n, d), bias_z and bias_h (B, n) where there are."""

    reads = "weight_h"

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        z = m.affine("weight_z", "bias_z", x).sigmoid()
        return m.mix(z, m.affine("weight_h", "bias_h", x), s)

    def decay(self, m: Arithmetic[V], x: V) -> V:
        """1 − z = σ(−W_z x − b_z)."""
        return (-m.affine("weight_z", "bias_z", x)).sigmoid()

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """1 − z, as it is computed."""
        return m.affine("weight_z", "bias_z", x).sigmoid(), True

    def box(self, B: float | Tensor) -> Tensor:
        """sup |h̃_j|, which bounds every state."""
        return self.candidate_bound(B)


MIN_GRU_KIND = program_kind(
    "min-gru",
    MinGRU,
    fixed(
        {"weight_z": "n d", "weight_h": "n d", "bias_z": "n", "bias_h": "n"},
        optional=("bias_z", "bias_h"),
    ),
    remedy="raise the biases of its gate, so that it forgets, or shrink its inputs",
)
