"""Certified bounds on one layer of a stack, whose inputs are the outputs of the layer below.

These are bounded by ‖h‖₂ and, for cells with a box, unit by unit, which is one set of inputs. Norms
that are maxima over units, such as max |s_i|/v_i, are coupled unit by unit: with |Δs⁺| ≤ … + N|Δx|,
and u the weights of the layer below, the coupling is max_i (N u)_i/v_i. Other norms are coupled
through ‖·‖₂.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.kind import CellAnalysis, Kind
from rnnbounds.impl.format.fields import Layer
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.norms.remaining import LayerMatrices, initial_difference
from rnnbounds.impl.numbers.outward import div_up, mul_up, norm_up, sum_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

CASCADE = "cascade"  # each layer in the norm that is best for it
_UNIT_NORMS = ("infinity", "perron", "comparison")
_REFERENCE_EPSILON = 1e-6  # the ε at which norms are compared


@dataclass(frozen=True, eq=False)
class LayerAnalysis:
    """One layer: all its norms, with the best one first.

    n: how many outputs there are. B: the bound on the inputs, or their set.
    """

    analysis: CellAnalysis
    norms: tuple[StateNorm, ...]
    n: int
    B: float

    @property
    def box(self) -> Tensor | None:
        """|h_i| ≤ box_i for the outputs (n,); None where no box is stated."""
        return None if self.analysis.box is None else self.analysis.box[-self.n :]

    @property
    def states(self) -> float:
        """At least ‖h_t‖₂ for all t."""
        return min(self.analysis.states(norm) for norm in self.norms)

    @property
    def outputs(self) -> float:
        """The set of the outputs, a ball where no box is stated."""
        if self.box is None:
            return self.states
        return InputSet(self.states, -self.box, self.box, "the outputs of the layer below")

    def proof(self, norm: StateNorm, coupling: float) -> Layer:
        """Return the data that prove this layer again: its norm, the norm that bounds its outputs
        if it is another, the coupling to the layer below, the input bound, and the box."""
        smallest = min(self.norms, key=lambda one: one.states)
        by_box = self.box is not None and float(norm_up(self.box)) <= smallest.states
        return Layer(
            norm=norm.stated,
            bounded=None if by_box or smallest is norm else smallest.stated,
            coupling=coupling,
            input_bound=float(self.B),
            box=None if self.analysis.box is None else self.analysis.box.tolist(),
        )

    def norm(self, name: str) -> StateNorm:
        """The norm of that name; of CASCADE the best."""
        return next(norm for norm in self.norms if name in (CASCADE, norm.name))

    def layer_matrices(self, norm: StateNorm, *, first: bool) -> LayerMatrices | None:
        """Compare states, and beside them inputs unless it is the `first` layer, from a start that
        the box and that norm bound; None without a box."""
        if not isinstance(self.analysis, ProgramAnalysis):
            return None
        start, slopes = self.analysis.box, self.analysis.slopes
        if norm.name in (*_UNIT_NORMS, "spectral"):
            v = self.analysis.unit_reach(norm)[0]
            start = initial_difference(start, v, norm.drive, norm.lam, norm.radius)
        return LayerMatrices(slopes[..., : len(start)] if first else slopes, start)

    def coupling(self, norm: StateNorm, below: StateNorm, n: int) -> float:
        """μ, at least ‖Δs⁺‖ in the norm for ‖Δs‖ = 1 in the norm of the layer below, of n units."""
        N = self.analysis.inputs()
        v = _unit_weights(norm, len(N))
        if v is None:
            lipschitz = mul_up(norm.reach, certified_norm(N[None])[0])
        else:
            lipschitz = div_up(norm_up(N), v).amax()
        coupling = mul_up(lipschitz, below.equivalence)
        u = _unit_weights(below, n)
        if v is not None and u is not None:
            by_units = div_up(sum_up(mul_up(N, u[-n:])), v).amax()
            coupling = torch.minimum(coupling, by_units)
        return float(coupling)


def analyse_layer(
    kind: Kind, model: LoadedModel[Any], names: Sequence[str], below: LayerAnalysis | float
) -> LayerAnalysis:
    """A layer in norms of those names, under the outputs of a layer or ‖x‖₂ ≤ B."""
    B = below.outputs if isinstance(below, LayerAnalysis) else below
    analysis: Any = kind.analyse(model, B)
    norms = sorted((analysis.norm(name) for name in names), key=_preference)
    return LayerAnalysis(analysis, tuple(norms), model.n, B)


def _unit_weights(norm: StateNorm, size: int) -> Tensor | None:
    """v of max |s_i|/v_i, None for other norms; only as many ones as are asked for."""
    if norm.name not in _UNIT_NORMS:
        return None
    return torch.tensor(norm.weights or [1.0] * size, dtype=torch.float64)


def _preference(norm: StateNorm) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = norm.geometric_window(_REFERENCE_EPSILON) if norm.lam < 1 else None
    return (not norm.lam < 1, math.inf if k is None else k, norm.lam)
