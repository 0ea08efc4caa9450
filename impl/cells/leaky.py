"""The echo-state network: a vanilla cell that keeps a part of its state.

    h⁺ = (1 − a)∘h + a∘ρ(W h + W_in x + b),    0 < a ≤ 1 unit by unit,

with a ("leak") stored as a weight, (n,). So |Δh⁺| ≤ ((1 − a) + a L_ρ|W|)|Δh| row by row, and in the
Euclidean norm λ = max(1 − a) + L_ρ‖diag(a) W‖₂, which for equal leaks is (1 − a) + a L_ρ‖W‖₂; where
|ρ| ≤ M, states stay in |h_j| ≤ M. Sources: Jaeger (2001); Jaeger et al. (2007), leaky units.
"""

from dataclasses import dataclass

from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import Kind, Weights, fixed
from rnnbounds.impl.cells.leaky_analysis import EUCLIDEAN_NORMS, LeakyAnalysis, leaky_norm_data
from rnnbounds.impl.cells.program import Activated, program_kind
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.state_norms import dense_norms
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


@dataclass(frozen=True, eq=False)
class Leaky(Activated):
    """B echo-state networks: W (B, n, n), W_in (B, n, d), leak (B, n) and perhaps b (B, n)."""

    reads = "W_in"

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        pre_activation = m.affine("W_in", "b", x) + m.affine("W", None, s)
        return m.mix(m.vector("leak"), m.activate(self.activation.name, pre_activation), s)

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The Euclidean norm of W, how steep ρ is, and the least and the largest leak."""
        leak = self.parameters["leak"].detach()
        return {
            "L_rho": self.activation.slope,
            "W_norm": float(certified_norm(self.parameters["W"])),
            "leak_low": float(leak.amin()),
            "leak_high": float(leak.amax()),
        }

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """1 − a: what a unit keeps beside what comes back through W."""
        return m.vector("leak"), True


def require_leaks_in_range(weights: Weights) -> Weights:
    """The weights; raises RangeError for leaks that are not in (0, 1].

    Asked where a cell is built, not at each step: a step that is traced has no numbers.
    """
    leak = weights["leak"]
    outside = ~((leak > 0) & (leak <= 1))
    if bool(outside.any()):
        raise RangeError("a leak", float(leak[outside][0]), "in (0, 1]")
    return weights


def leaky_kind(rho: Activation) -> Kind:
    """The kind with that activation; its leaks are in (0, 1]."""

    def make(weights: Weights) -> Leaky:
        return Leaky(weights, rho)

    def analyse(model: LoadedModel[Leaky], B: float) -> LeakyAnalysis:
        return LeakyAnalysis.of(model, B, parts=leaky_norm_data(model.cell.parameters, rho, B))

    return program_kind(
        f"leaky-{rho.name}",
        make,
        fixed({"W": "n n", "W_in": "n d", "leak": "n", "b": "n"}, optional=("b",)),
        prepare=require_leaks_in_range,
        norms=(
            "spectral",
            "infinity",
            "perron",
            *dense_norms(EUCLIDEAN_NORMS, rho.least, rho.slope),
        ),
        default=False,
        analyse=analyse,
    )


LEAKY_KINDS = tuple(leaky_kind(rho) for rho in ACTIVATIONS.values())
