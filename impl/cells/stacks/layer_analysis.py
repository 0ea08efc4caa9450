"""Certified bounds on one layer of a stack, whose inputs are the outputs of the layer below.

These are bounded by ‖h‖₂ and, for cells with a box, unit by unit: both comparisons are made, and
for each norm the better one is used. Norms that are maxima over units, such as max |s_i|/v_i, are
coupled unit by unit: with |Δs⁺| ≤ … + N|Δx|, and u the weights of the layer below, the coupling is
max_i (N u)_i/v_i. Other norms are coupled through ‖·‖₂.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.slopes import LipschitzBounds, SlopeArithmetic
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.kind import Analysis, Kind
from rnnbounds.impl.format.fields import Layer
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.fixed_point import certified_point
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.norms.remaining import LayerMatrices, initial_difference
from rnnbounds.impl.numbers.outward import div_up, mul_up, norm_up, rows_up, sum_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

CASCADE = "cascade"  # each layer in the norm that is best for it
_UNIT_NORMS = ("infinity", "perron", "comparison")
_REFERENCE_EPSILON = 1e-6  # the ε at which norms are compared
_ITERATES = 4


@dataclass(frozen=True, eq=False)
class LayerAnalysis:
    """One layer: all its norms, with the best one first.

    slopes: N (state, d). state_box: |s_i| ≤ state_box_i for the states (state,), None where nothing
    is known. n: how many outputs there are. B: the bound on the inputs. compare_on: what compares
    states, (R, state, state), and beside it inputs if there is a layer below that has a box; None
    for vanilla cells.
    """

    analysis: Analysis
    norms: tuple[StateNorm, ...]
    slopes: Tensor
    state_box: Tensor | None
    n: int
    B: float
    compare_on: Tensor | None = None

    @property
    def box(self) -> Tensor | None:
        """|h_i| ≤ box_i for the outputs (n,)."""
        return None if self.state_box is None else self.state_box[-self.n :]

    @property
    def states(self) -> float:
        """At least ‖h_t‖₂ for all t."""
        bounds = [self.analysis.states(norm) for norm in self.norms]
        return min(bounds if self.box is None else [*bounds, float(norm_up(self.box))])

    def proof(self, norm: StateNorm, coupling: float) -> Layer:
        """Return the data that prove this layer again: its norm, the norm that bounds its outputs
        if it is another, the coupling to the layer below, the input bound, and the box."""
        smallest = min(self.norms, key=lambda one: one.states)
        compare_in_box = self.box is not None and float(norm_up(self.box)) <= smallest.states
        return Layer(
            norm=norm.stated,
            bounded=None if compare_in_box or smallest is norm else smallest.stated,
            coupling=coupling,
            input_bound=float(self.B),
            box=None if self.state_box is None else self.state_box.tolist(),
        )

    def norm(self, name: str) -> StateNorm:
        """The norm of that name; of CASCADE the best."""
        return next(norm for norm in self.norms if name in (CASCADE, norm.name))

    def layer_matrices(self, norm: StateNorm) -> LayerMatrices | None:
        """Compare states from a start that the box and that norm bound; None without a box."""
        if self.compare_on is None or self.state_box is None:
            return None
        start = self.state_box
        if norm.name in (*_UNIT_NORMS, "spectral") and isinstance(self.analysis, ProgramAnalysis):
            v = self.analysis.unit_reach(norm)[0]
            start = initial_difference(start, v, norm.drive, norm.lam, norm.radius)
        return LayerMatrices(self.compare_on, start)

    def unit_gains(self, below: Tensor | None) -> Tensor:
        """How far the inputs move each unit of the layer, (state,), those of the outputs below
        being known, (d,), or for inputs of the stack."""
        if below is None:
            return self.analysis.unit_gains()
        rows, N = self.compare_on, len(self.slopes)
        if rows is None:
            rows = torch.cat([self.analysis.matrices, self.slopes[None]], 2)
        return certified_point(rows[..., :N], rows_up(rows[..., N:], below.expand(len(rows), -1)))

    def coupling(self, norm: StateNorm, below: StateNorm, n: int) -> float:
        """μ, at least ‖Δs⁺‖ in the norm for ‖Δs‖ = 1 in the norm of the layer below, of n units."""
        N, v = self.slopes, _unit_weights(norm, len(self.slopes))
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
    B = below if isinstance(below, float) else below.states
    analysis = kind.analyse(model, B)
    norms = [analysis.norm(name) for name in names]
    slopes, box, matrices = analysis.inputs(), None, None
    if isinstance(analysis, ProgramAnalysis):
        comparison = analysis.comparison
        if isinstance(below, float):
            matrices = comparison.matrices[0].detach()
        elif below.box is not None:
            comparison, slopes_in_box = compare_in_box(model.cell, comparison, below.box)
            matrices = slopes_in_box[0].detach()
            box_norms = [comparison.norm(norm.name) for norm in norms if norm.name in _UNIT_NORMS]
            best_by_name = {
                norm.name: norm
                for norm in sorted([*norms, *box_norms], key=_preference, reverse=True)
            }
            norms = list(best_by_name.values())
        slopes, box = comparison.inputs[0], comparison.box[0]
    best = tuple(sorted(norms, key=_preference))
    return LayerAnalysis(analysis, best, slopes, box, model.n, B, matrices)


def compare_in_box(cell: Any, comparison: Comparison, inputs: Tensor) -> tuple[Comparison, Tensor]:
    """The comparison of one system under |x_j| ≤ inputs_j (d,) too, on the box that these leave;
    and all slopes there, in states and inputs together (1, R, N, N + d)."""
    N, d = comparison.box.shape[1], len(inputs)
    eye = torch.eye(N + d, dtype=inputs.dtype, device=inputs.device)[None, None]
    m = SlopeArithmetic(cell.parameters, N + d)
    x = LipschitzBounds(Interval.symmetric(inputs[None]), eye[:, :, N:])

    def step_slopes(box: Tensor) -> LipschitzBounds:
        slopes: LipschitzBounds = cell.program(
            m, LipschitzBounds(Interval.symmetric(box), eye[:, :, :N]), x
        )
        return slopes

    box, intervals = comparison.box, IntervalArithmetic(cell.parameters)
    input_box = intervals.box(inputs[None])
    for _ in range(_ITERATES):
        image: IntervalVector = cell.program(intervals, intervals.box(box), input_box)
        box = torch.minimum(box, image.range.magnitude)
    slopes, drive = step_slopes(box).slopes, step_slopes(torch.zeros_like(box)).range.magnitude
    restricted = replace(
        comparison,
        matrices=slopes[..., :N],
        box=box,
        drive=torch.minimum(comparison.drive, drive),
        inputs=torch.minimum(comparison.inputs, slopes[..., N:].amax(1)),
    )
    return restricted, slopes


def _unit_weights(norm: StateNorm, size: int) -> Tensor | None:
    """v of max |s_i|/v_i, None for other norms; only as many ones as are asked for."""
    if norm.name not in _UNIT_NORMS:
        return None
    return torch.tensor(norm.weights or [1.0] * size, dtype=torch.float64)


def _preference(norm: StateNorm) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = norm.geometric_window(_REFERENCE_EPSILON) if norm.lam < 1 else None
    return (not norm.lam < 1, math.inf if k is None else k, norm.lam)
