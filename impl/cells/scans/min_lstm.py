"""The minimal LSTM: two gates of the input alone, normalised to add up to 1.

    h⁺ = f′∘h + i′∘h̃,    f′ = f/(f + i),    i′ = i/(f + i),    h̃ = W_h x + b_h,

f = σ(a), a = W_f x + b_f, and i = σ(c), c = W_i x + b_i. Without a division, which no arithmetic
needs, f′ = σ(log f − log i) = σ(softplus(−c) − softplus(−a)). So d = f′ and |h_j| ≤ sup |h̃_j|.
Source: Feng et al., Were RNNs all we needed? (2024), section 3.2 and its log-space form.
"""

from dataclasses import dataclass

from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import program_kind
from rnnbounds.impl.cells.scans.scan import ScanCell


@dataclass(frozen=True, eq=False)
class MinLSTM(ScanCell):
    """B minimal LSTMs: weight_f, weight_i and weight_h (B, n, d) and their biases (B, n)."""

    reads = "weight_h"

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        return m.mix(self.decay(m, x), s, m.affine("weight_h", "bias_h", x))

    def decay(self, m: Arithmetic[V], x: V) -> V:
        """The normalised forget gate f′."""
        forget_gate, input_gate = (m.affine(f"weight_{gate}", f"bias_{gate}", x) for gate in "fi")
        return ((-input_gate).softplus() - (-forget_gate).softplus()).sigmoid()

    def box(self, B: float | Tensor) -> Tensor:
        """sup |h̃_j|, which bounds every state."""
        return self.candidate_bound(B)


MIN_LSTM_KIND = program_kind(
    "min-lstm",
    MinLSTM,
    fixed(
        {f"weight_{gate}": "n d" for gate in "fih"} | {f"bias_{gate}": "n" for gate in "fih"},
        optional=[f"bias_{gate}" for gate in "fih"],
    ),
    remedy="lower the biases of its forget gate, or shrink its inputs",
)
