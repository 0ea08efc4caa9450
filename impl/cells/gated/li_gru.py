"""The light GRU: one gate, and a batch normalisation of what the inputs bring.

    h⁺ = z∘h + (1 − z)∘ν,    (a, b) = γ∘(w x − μ)/√(σ² + 10⁻⁵) + β + u h,    ν = ρ(a),  z = σ(b),

in evaluation, with the mean μ and the variance σ² that were learnt (torch's default ε). They stay
weights of the cell: what they make of w is rounded nowhere. On |h| ≤ h̄ with |ν| ≤ ν̄ the box
|h| ≤ max(h̄, ν̄) is kept; what h̄ ← ν̄ settles at from 0 on is proposed. The names are speechbrain's,
with _ for dots. Source: Ravanelli et al. (2018), Light gated recurrent units.
"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.cells.gated.activations import activate
from rnnbounds.impl.cells.gated.gate import Gated, magnitude
from rnnbounds.impl.cells.kind import Weights, fixed
from rnnbounds.impl.cells.program import program_kind
from rnnbounds.impl.errors import RangeError

EPSILON = 1e-5  # of torch's BatchNorm1d
MEAN, VARIANCE = "norm_running_mean", "norm_running_var"
_NORM = ("norm_weight", "norm_bias", MEAN, VARIANCE)
_SHAPES = {"u_weight": "2n n", "w_weight": "2n d", **dict.fromkeys(_NORM, "2n")}


@dataclass(frozen=True, eq=False)
class LiGRU(Gated):
    """B light GRUs: u_weight (B, 2n, n), w_weight (B, 2n, d), candidate first; the normalisation's
    norm_weight γ, norm_bias β, norm_running_mean μ and norm_running_var σ² (B, 2n)."""

    reads = "w_weight"
    candidate: str = "relu"

    @property
    def W(self) -> Tensor:
        """The recurrent weights (B, 2n, n)."""
        return self.parameters["u_weight"]

    def gates(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, V]:
        """z and ν."""
        shifted = m.affine("w_weight", None, x) - m.vector(MEAN)
        scale = m.vector("norm_weight") * (EPSILON + m.vector(VARIANCE)).sqrt().reciprocal()
        fed = scale * shifted + m.vector("norm_bias") + m.affine("u_weight", None, h)
        nu, z = fed.chunk(2)
        return z.sigmoid(), activate(m, self.candidate, nu)

    def program(self, m: Arithmetic[V], h: V, x: V) -> V:
        """One step over any arithmetic."""
        z, nu = self.gates(m, h, x)
        return m.mix(z, h, nu)

    def kept(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, bool]:
        """The update gate z."""
        return self.gates(m, h, x)[0], False

    def box(self, B: float | Tensor) -> Tensor:
        """|h| ≤ h̄; infinite where it does not settle."""
        return self.settled_box(torch.zeros_like(self.W.detach()[:, : self.n, 0]), B)

    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """Upper bounds ν̄ on |ν|, (B, n)."""
        return magnitude(self.gates(m, s, x)[1])

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The largest |h|, and the most that the update gate can be."""
        z = magnitude(self.gates(*self.intervals(box, B))[0])
        return {"h_bar": float(box.amax()), "z_bar": float(z.amax())}


def require_variances(weights: Weights) -> Weights:
    """The weights; raises RangeError for a variance that is negative."""
    variance = weights[VARIANCE]
    if bool((variance < 0).any()):
        raise RangeError("a variance", float(variance.amin()), "at least 0")
    return weights


LI_GRU_KINDS = tuple(
    program_kind(
        f"li-gru-{rho}",
        partial(LiGRU, candidate=rho),
        fixed(_SHAPES),
        prepare=require_variances,
        default=False,
    )
    for rho in ("relu", "leaky-relu", "tanh")
)
