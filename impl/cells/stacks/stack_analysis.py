"""Certified bounds on stacks of recurrent cells: of each layer, and of their cascade.

The inputs of a layer are the outputs of the one below. They are bounded by ‖h‖₂ and, for cells with
a box, unit by unit, which is one set of inputs. Norms that are maxima over units, such as
max |s_i|/v_i, are coupled unit by unit: with |Δs⁺| ≤ … + N|Δx|, and u the weights of the layer
below, the coupling is max_i (N u)_i/v_i. Other norms are coupled through ‖·‖₂.

A cascade of contractions is one. Let layer l contract by λ_l in ‖·‖_l, and let its inputs move it
by μ_l in it, as much as the states of the layer below move in theirs:

    ‖Δs^l⁺‖_l ≤ λ_l ‖Δs^l‖_l + μ_l ‖Δs^{l−1}⁺‖_{l−1}.

Then the stack contracts by Λ = max Λ_l in max ‖s^l‖_l/t_l for all t > 0, with Λ_1 = λ_1 and

    Λ_l = λ_l + μ_l Λ_{l−1} t_{l−1}/t_l,

and Λ is as close to max λ_l as the lower t are small; but what lower layers start from is large in
such a norm. Of many t, each made for one Λ, that with the shortest window is taken. What is found
is checked, rounded up. Sources: Miller & Hardt, Lemma 1; Michel & Miller, Qualitative Analysis of
Large Scale Dynamical Systems, for comparison by layers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from msgspec import structs
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.kind import Analysis, CellAnalysis, Kind
from rnnbounds.impl.cells.refutation.refute import ALL, reason_too_large
from rnnbounds.impl.cells.rounding import LayerInputs, Rounding
from rnnbounds.impl.format.fields import Layer
from rnnbounds.impl.format.record import Witness
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.differences import DifferenceBounds, LayerMatrices, initial_difference
from rnnbounds.impl.norms.metric import METRIC_SDP
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up, subtract_down, sum_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

CASCADE = "cascade"  # each layer in the norm that is best for it
_UNIT_NORMS = ("infinity", "perron", "comparison")
_REFERENCE_EPSILON = 1e-6  # the ε at which norms and weights are compared


@dataclass(frozen=True, eq=False)
class LayerAnalysis:
    """One layer: all its norms, with the best one first.

    n: how many outputs there are. B: the bound on the inputs, or their set.
    """

    analysis: CellAnalysis
    norms: tuple[StateNorm, ...]
    n: int
    B: InputBound

    @property
    def box(self) -> Tensor | None:
        """|h_i| ≤ box_i for the outputs (n,); None where no box is stated."""
        return None if self.analysis.box is None else self.analysis.box[-self.n :]

    @property
    def states(self) -> float:
        """At least ‖h_t‖₂ for all t."""
        return min(self.analysis.states(norm) for norm in self.norms)

    @property
    def outputs(self) -> InputBound:
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
    kind: Kind, model: LoadedModel[Any], names: Sequence[str], below: LayerAnalysis | InputBound
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


_MOST_RATIO = 2.0**64  # between the weights of neighbours, at most
_LARGEST = 2.0**500


@dataclass(frozen=True)
class Cascade:
    """The weights t of the layers, the factor Λ, and sup ‖φ(0, x)‖ and a bound on the states."""

    weights: tuple[float, ...]
    lam: float
    drive: float
    radius: float


def cascade_norm(norms: Sequence[StateNorm], couplings: Sequence[float]) -> Cascade:
    """The cascade of layers that contract in those norms, with μ_1, μ_2, …; μ_1 is not asked.

    The factor is at least 1 unless all layers contract, and infinite where μ is.
    """
    lams = [norm.lam for norm in norms]
    radii = [state_radius(norm) for norm in norms]
    targets = _candidate_factors(max(lams))
    t = _largest_weights(targets, lams, couplings)
    lam = largest = torch.full_like(targets, lams[0])
    drive, bound = div_up(norms[0].drive, t[0]), div_up(radii[0], t[0])
    for l in range(1, len(norms)):
        coupled = mul_up(mul_up(couplings[l], div_up(t[l - 1], t[l])), lam)
        lam = add_up(lams[l], torch.where(lam == 0, 0.0, coupled))
        largest = torch.maximum(largest, lam)
        drive = torch.maximum(drive, div_up(norms[l].drive, t[l]))
        bound = torch.maximum(bound, div_up(radii[l], t[l]))
    best = _shortest_window(
        largest, torch.minimum(drive / (1 - largest), bound) * norms[-1].equivalence
    )
    weights = tuple(float(weights_l[best]) for weights_l in t)
    return Cascade(weights, *(float(values[best]) for values in (largest, drive, bound)))


def state_radius(norm: StateNorm) -> float:
    """At least ‖s_t‖ for all t: the least of S/(1 − λ) and what needs no contraction."""
    margin = subtract_down(1.0, norm.lam).clamp(min=0.0)
    return min(float(div_up(norm.drive, margin)) if margin > 0 else math.inf, norm.radius)


def _candidate_factors(largest: float) -> Tensor:
    """Factors Λ worth trying, from the largest of the layers' to 1."""
    if not largest < 1:
        return torch.tensor([largest * (1 + 2.0**-20)], dtype=torch.float64)
    steps = [0.0, *(2.0**-i for i in range(30, 5, -1)), *(i / 64 for i in range(1, 64))]
    return largest + (1 - largest) * torch.tensor(steps, dtype=torch.float64)


def _largest_weights(
    targets: Tensor, lams: Sequence[float], couplings: Sequence[float]
) -> list[Tensor]:
    """The largest t for each Λ, that of the last layer being 1, within the spread."""
    t = [torch.ones_like(targets)]
    for l in range(len(lams) - 1, 0, -1):
        coupling = couplings[l] * (targets if l > 1 else lams[0])
        below = t[0] * (targets - lams[l]) / coupling * (1 - 2.0**-40)
        below = torch.minimum(below.nan_to_num(math.inf), t[0] * _MOST_RATIO)
        t.insert(0, below.clamp(0.0, _LARGEST))
    return t


def _shortest_window(lam: Tensor, scale: Tensor) -> int:
    """Index of the Λ with the shortest window; of the least Λ if none has one."""
    steps = (scale / _REFERENCE_EPSILON).log().clamp(min=0.0) / -lam.log()
    usable = (lam < 1) & torch.isfinite(scale) & ~torch.isnan(steps)
    if not bool(usable.any()):
        return int(lam.nan_to_num(math.inf).argmin())
    return int(torch.where(usable, steps, math.inf).argmin())


@dataclass(frozen=True, eq=False)
class StackAnalysis(Analysis):
    """Certified bounds on one stack; the methods are those of `impl.cells.kind.Analysis`.

    whole: search for a witness against all layers together.
    """

    layers: tuple[LayerAnalysis, ...]
    saturating_gates: Mapping[str, int]
    whole: Callable[[], Witness | None] | None = None

    @classmethod
    def of(
        cls,
        kind: Kind,
        models: Sequence[LoadedModel[Any]],
        input_bound: InputBound,
        at_one: Mapping[str, int],
        whole: Callable[[], Witness | None] | None = None,
    ) -> "StackAnalysis":
        """The analysis of layers of one kind, the lowest first; how many decays round to 1."""
        layers: list[LayerAnalysis] = []
        names = [name for name in kind.norms if name != METRIC_SDP]
        for model in models:
            below = layers[-1] if layers else input_bound
            layers.append(analyse_layer(kind, model, names, below))
        return cls(tuple(layers), at_one, whole)

    def norm(self, name: str) -> StateNorm:
        """The cascade of the layers' norms of that name, of the best ones if it is CASCADE."""
        norms, (couplings, cascade) = self._layer_norms(name), self._cascade(name)
        reach = max(
            float(div_up(norm.reach, t)) for norm, t in zip(norms, cascade.weights, strict=True)
        )
        scale = mul_up(norms[-1].equivalence, cascade.weights[-1])
        input_factors = [norms[0].input_lipschitz]
        for coupling in couplings[1:]:
            input_factors.append(float(mul_up(coupling, input_factors[-1])))
        input_lipschitz = max(
            float(div_up(size, t)) for size, t in zip(input_factors, cascade.weights, strict=True)
        )
        matrices = [
            layer.layer_matrices(norm, first=layer is self.layers[0])
            for layer, norm in zip(self.layers, norms, strict=True)
        ]
        present = tuple(matrix for matrix in matrices if matrix is not None)
        n = self.layers[-1].n
        remaining = DifferenceBounds(present, n) if len(present) == len(matrices) else None
        return StateNorm(
            name, cascade.lam, cascade.drive, float(scale), reach, cascade.weights, cascade.radius,
            input_lipschitz=input_lipschitz,
            remaining=remaining,
        )  # fmt: skip

    def states(self, norm: StateNorm) -> float:
        """B_h: the least of the last layer's own bound and what the norm says."""
        return min(self.layers[-1].states, norm.states)

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """The constants of the stack, then those of each layer, which end in _l0, _l1, … .

        Of a layer: its factor lam, what the layer below moves it by, mu, and its weight t.
        """
        norms = self._layer_norms(norm.name)
        couplings, cascade = self._cascade(norm.name)
        top = self.layers[-1].analysis.constants(norms[-1])
        named = {
            "layers": float(len(self.layers)),
            "B_x": float(self.layers[0].B),
            "S_0": top["S_0"],
            **norm.constants(self.states(norm)),
        }
        for l, layer in enumerate(self.layers):
            constants = layer.analysis.constants(norms[l])
            constants |= {"lam": norms[l].lam, "mu": couplings[l], "t": cascade.weights[l]}
            named |= {f"{name}_l{l}": value for name, value in constants.items()}
        return named

    def proof(self, norm: StateNorm) -> dict[str, Any]:
        """Data that prove each layer again, the lowest first: {"layers": (…)}."""
        each = zip(
            self.layers, self._layer_norms(norm.name), self._cascade(norm.name)[0], strict=True
        )
        return {"layers": tuple(layer.proof(chosen, moved) for layer, chosen, moved in each)}

    def unit_gains(self) -> Tensor:
        """How far the inputs move each unit, layer after layer: (state,)."""
        gains = [self.layers[0].analysis.unit_gains()]
        for below, layer in pairwise(self.layers):
            gains.append(layer.analysis.unit_gains(gains[-1][-below.n :]))
        return torch.cat(gains)

    def rounding(self, norm: StateNorm, layer_inputs: LayerInputs | None = None) -> Rounding:
        """Rounding error of the last layer; each layer's inputs have the error of the one below."""
        rounding = Rounding(reason="it has no layers")
        for l, (layer, layer_norm) in enumerate(
            zip(self.layers, self._layer_norms(norm.name), strict=True)
        ):
            rounding = layer.analysis.rounding(layer_norm, layer_inputs)
            if rounding.bound is None:
                return replace(rounding, reason=f"layer {l + 1}: {rounding.reason}")
            if l + 1 < len(self.layers):
                box_above = self.layers[l + 1].analysis.box
                states = None if box_above is None else box_above[None]
                layer_inputs = LayerInputs.of_outputs(rounding, layer.states, layer.box, states)
        return rounding

    @property
    def rounds_to_one(self) -> Mapping[str, int]:
        """Number of gates of all layers that may round to 1, for each dtype by name."""
        return self.saturating_gates

    @property
    def refused(self) -> str | None:
        """Reason why a box is not proved, of the first layer with such a box; None if all are."""
        return self._first("refused")

    @property
    def unbounded(self) -> str | None:
        """Which number of the state of the first such layer has no bound; None if all have one."""
        return self._first("unbounded")

    def _first(self, name: str) -> str | None:
        """The reason of that name of the first layer that has one."""
        reasons = enumerate((getattr(layer.analysis, name) for layer in self.layers), start=1)
        return next((f"in layer {l} {reason}" for l, reason in reasons if reason), None)

    @property
    def region(self) -> str:
        """The set of states that the verdict is about: a box if each layer has one."""
        regions = {layer.analysis.region for layer in self.layers}
        return regions.pop() if len(regions) == 1 else ALL

    @property
    def reason_for_no_search(self) -> str | None:
        """Reason why no witness is sought against the first layer or the stack, None if one is."""
        if reason := self.layers[0].analysis.reason_for_no_search:
            return reason
        states = sum(layer.analysis.slopes.shape[1] for layer in self.layers)
        return None if self.whole is None else reason_too_large(states)

    def refute(self) -> Witness | None:
        """A witness against the first layer, which depends on no other, or against the whole."""
        if witness := self.layers[0].analysis.refute():
            return structs.replace(witness, text=f"in the first layer: {witness.text}")
        return None if self.whole is None else self.whole()

    def _layer_norms(self, name: str) -> list[StateNorm]:
        return [layer.norm(name) for layer in self.layers]

    def _cascade(self, name: str) -> tuple[list[float], Cascade]:
        """μ_1 = 0, μ_2, … and the cascade."""
        if name not in self._known:
            norms, couplings = self._layer_norms(name), [0.0]
            for l, layer in enumerate(self.layers[1:], start=1):
                below = self.layers[l - 1]
                couplings.append(layer.coupling(norms[l], norms[l - 1], below.n))
            self._known[name] = couplings, cascade_norm(norms, couplings)
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, tuple[list[float], Cascade]]:
        return {}
