"""The real-gated linear recurrent unit of Griffin and RecurrentGemma.

    h⁺ = a∘h + √(1 − a²)∘i∘(W_x x),    a = exp(−8 r∘softplus(p)),
    r = σ(W_a x + b_a),    i = σ(W_i x + b_i),

where W_x is the identity in the published cell. The library leaves the factor √(1 − a²) out at the
first position, which makes that run start from i∘(W_x x): a state that the box here holds, and
every ball of radius sup ‖u‖/(1 − λ), since 1 − a ≤ √(1 − a²). Source: De et al., Griffin: Mixing
Gated Linear Recurrences with Local Attention (2024), section 2.4.
"""

from dataclasses import dataclass

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import program_kind
from rnnbounds.impl.cells.scans.scan import DrivenScan

_POWER = 8.0  # c of the paper


@dataclass(frozen=True, eq=False)
class RGLRU(DrivenScan):
    """B units: weight_a, weight_i, weight_x (B, n, d), recurrent_param p and perhaps bias_a and
    bias_i (B, n)."""

    reads = "weight_x"

    def decay(self, m: Arithmetic[V], x: V) -> V:
        """a."""
        return (-self.rate(m, x)).exp()

    def drive(self, m: Arithmetic[V], x: V) -> V:
        """√(1 − a²)∘i∘(W_x x)."""
        scale = (1.0 - (-2.0 * self.rate(m, x)).exp()).sqrt()
        gate = m.affine("weight_i", "bias_i", x).sigmoid()
        return scale * (gate * m.affine("weight_x", None, x))

    def rate(self, m: Arithmetic[V], x: V) -> V:
        """−log a = 8 r∘softplus(p)."""
        gate = m.affine("weight_a", "bias_a", x).sigmoid()
        return _POWER * (gate * m.vector("recurrent_param").softplus())


RG_LRU_KIND = program_kind(
    "rg-lru",
    RGLRU,
    fixed(
        {
            "weight_a": "n d", "weight_i": "n d", "weight_x": "n d", "recurrent_param": "n",
            "bias_a": "n", "bias_i": "n",
        },
        optional=("bias_a", "bias_i"),
    ),
    remedy="raise bias_a or recurrent_param, or shrink its inputs",
)  # fmt: skip
