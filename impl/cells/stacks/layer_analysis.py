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

from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.slopes import LipschitzBounds, SlopeArithmetic
from rnnbounds.impl.arithmetic.spans import IntervalVector, SpanArithmetic
from rnnbounds.impl.cells.analysis import ProgramAnalysis, sides
from rnnbounds.impl.cells.kind import Analysis, Kind
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.remaining import LayerMatrices, initial_difference
from rnnbounds.impl.norms.state_norms import StateNorm
from rnnbounds.impl.numbers.outward import div_up, mul_up, norm_up, sum_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

CASCADE = "cascade"  # each layer in the norm that is best for it
_UNITWISE = ("infinity", "perron", "comparison")
_WANTED = 1e-6  # the ε at which norms are compared
_ITERATES = 4


@dataclass(frozen=True, eq=False)
class LayerAnalysis:
    """One layer: all its norms, with the best one first.

    slopes: N (state, d). whole: |s_i| ≤ whole_i for the states (state,), None where nothing is
    known. n: how many outputs there are. B: the bound on the inputs. compared: what compares
    states, (R, state, state), and beside it inputs if there is a layer below that has a box; None
    for vanilla cells.
    """

    analysis: Analysis
    norms: tuple[StateNorm, ...]
    slopes: Tensor
    whole: Tensor | None
    n: int
    B: float
    compared: Tensor | None = None

    @property
    def box(self) -> Tensor | None:
        """|h_i| ≤ box_i for the outputs (n,)."""
        return None if self.whole is None else self.whole[-self.n :]

    @property
    def states(self) -> float:
        """At least ‖h_t‖₂ for all t."""
        known = [self.analysis.states(norm) for norm in self.norms]
        return min(known if self.box is None else [*known, float(norm_up(self.box))])

    def proof(self, norm: StateNorm, coupling: float) -> dict[str, Any]:
        """Return the data that prove this layer again: its norm, the norm that bounds its outputs
        if it is another, the coupling to the layer below, the input bound, and the box."""
        least = min(self.norms, key=lambda one: one.states)
        boxed = self.box is not None and float(norm_up(self.box)) <= least.states
        return {
            "norm": norm.to_json(),
            "bounded": None if boxed or least is norm else least.to_json(),
            "coupling": coupling,
            "input_bound": float(self.B),
            "box": None if self.whole is None else sides(self.whole),
        }

    def norm(self, name: str) -> StateNorm:
        """The norm of that name; of CASCADE the best."""
        return next(norm for norm in self.norms if name in (CASCADE, norm.name))

    def remaining(self, norm: StateNorm) -> LayerMatrices | None:
        """Compare states from a start that the box and that norm bound; None without a box."""
        if self.compared is None or self.whole is None:
            return None
        start = self.whole
        if norm.name in (*_UNITWISE, "spectral") and isinstance(self.analysis, ProgramAnalysis):
            v = self.analysis.reached(norm)[0]
            start = initial_difference(start, v, norm.drive, norm.lam, norm.radius)
        return LayerMatrices(self.compared, start)

    def coupling(self, norm: StateNorm, below: StateNorm, n: int) -> float:
        """μ, at least ‖Δs⁺‖ in the norm for ‖Δs‖ = 1 in the norm of the layer below, of n units."""
        N, v = self.slopes, _units(norm, len(self.slopes))
        if v is None:
            lipschitz = mul_up(norm.reach, certified_norm(N[None])[0])
        else:
            lipschitz = div_up(norm_up(N), v).amax()
        found = mul_up(lipschitz, below.equivalence)
        u = _units(below, n)
        if v is not None and u is not None:
            moved = div_up(sum_up(mul_up(N, u[-n:])), v).amax()
            found = torch.minimum(found, moved)
        return float(found)


def analysed(
    kind: Kind, model: LoadedModel[Any], names: Sequence[str], below: LayerAnalysis | float
) -> LayerAnalysis:
    """A layer in norms of those names, under the outputs of a layer or ‖x‖₂ ≤ B."""
    B = below if isinstance(below, float) else below.states
    found = kind.analyse(model, B)
    norms = [found.norm(name) for name in names]
    slopes, box, compared = found.inputs(), None, None
    if isinstance(found, ProgramAnalysis):
        told = found.comparison
        if isinstance(below, float):
            compared = told.matrices[0].detach()
        elif below.box is not None:
            told, steep = boxed(model.cell, told, below.box)
            compared = steep[0].detach()
            better = [told.norm(norm.name) for norm in norms if norm.name in _UNITWISE]
            kept = {norm.name: norm for norm in sorted([*norms, *better], key=_rank, reverse=True)}
            norms = list(kept.values())
        slopes, box = told.inputs[0], told.box[0]
    best = tuple(sorted(norms, key=_rank))
    return LayerAnalysis(found, best, slopes, box, model.n, B, compared)


def boxed(cell: Any, found: Comparison, inputs: Tensor) -> tuple[Comparison, Tensor]:
    """The comparison of one system under |x_j| ≤ inputs_j (d,) too, on the box that these leave;
    and all slopes there, in states and inputs together (1, R, N, N + d)."""
    N, d = found.box.shape[1], len(inputs)
    eye = torch.eye(N + d, dtype=inputs.dtype, device=inputs.device)[None, None]
    m = SlopeArithmetic(cell.parameters, N + d)
    x = LipschitzBounds(Interval.symmetric(inputs[None]), eye[:, :, N:])

    def moved(box: Tensor) -> LipschitzBounds:
        told: LipschitzBounds = cell.program(
            m, LipschitzBounds(Interval.symmetric(box), eye[:, :, :N]), x
        )
        return told

    box, spans = found.box, SpanArithmetic(cell.parameters)
    fed = spans.box(inputs[None])
    for _ in range(_ITERATES):
        there: IntervalVector = cell.program(spans, spans.box(box), fed)
        box = torch.minimum(box, there.range.magnitude)
    told, rest = moved(box).slopes, moved(torch.zeros_like(box)).range.magnitude
    better = replace(
        found,
        matrices=told[..., :N],
        box=box,
        drive=torch.minimum(found.drive, rest),
        inputs=torch.minimum(found.inputs, told[..., N:].amax(1)),
    )
    return better, told


def _units(norm: StateNorm, size: int) -> Tensor | None:
    """v of max |s_i|/v_i, None for other norms; only as many ones as are asked for."""
    if norm.name not in _UNITWISE:
        return None
    return torch.tensor(norm.weights or [1.0] * size, dtype=torch.float64)


def _rank(norm: StateNorm) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = norm.geometric_window(_WANTED) if norm.lam < 1 else None
    return (not norm.lam < 1, math.inf if k is None else k, norm.lam)
