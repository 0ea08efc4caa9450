"""Certified bounds on stacks of recurrent cells: of each layer, and of their cascade."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.cells.kind import Analysis, Kind
from rnnbounds.impl.cells.refutation.constants import Given
from rnnbounds.impl.cells.refutation.refute import ALL, Witness, unsought
from rnnbounds.impl.cells.rounding import Fed
from rnnbounds.impl.cells.stacks.cascade import Cascade, cascade
from rnnbounds.impl.cells.stacks.layer_analysis import LayerAnalysis, analysed
from rnnbounds.impl.gradients.rounding import Rounding
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.remaining import DifferenceBounds
from rnnbounds.impl.norms.solver.client import SOLVER_NORM
from rnnbounds.impl.norms.state_norms import StateNorm
from rnnbounds.impl.numbers.outward import div_up, mul_up, sum_up


@dataclass(frozen=True, eq=False)
class StackAnalysis(Analysis):
    """Certified bounds on one stack; the methods are those of `impl.cells.kind.Analysis`.

    whole: search for a witness against all layers together.
    """

    layers: tuple[LayerAnalysis, ...]
    at_one: Mapping[str, int]
    whole: Callable[[Given], Witness | None] | None = None

    @classmethod
    def of(
        cls,
        kind: Kind,
        models: Sequence[LoadedModel[Any]],
        input_bound: float,
        at_one: Mapping[str, int],
        whole: Callable[[Given], Witness | None] | None = None,
    ) -> "StackAnalysis":
        """The analysis of layers of one kind, the lowest first; how many decays round to 1."""
        layers: list[LayerAnalysis] = []
        names = [name for name in kind.norms if name != SOLVER_NORM]
        for model in models:
            below = layers[-1] if layers else input_bound
            layers.append(analysed(kind, model, names, below))
        return cls(tuple(layers), at_one, whole)

    def norm(self, name: str) -> StateNorm:
        """The cascade of the layers' norms of that name, of the best ones if it is CASCADE."""
        norms, (couplings, found) = self._chosen(name), self._cascade(name)
        reach = max(
            float(div_up(norm.reach, t)) for norm, t in zip(norms, found.weights, strict=True)
        )
        scale = mul_up(norms[-1].equivalence, found.weights[-1])
        rows = tuple((t, *_row(norm)) for norm, t in zip(norms, found.weights, strict=True))
        moved = [norms[0].input_lipschitz]
        for coupling in couplings[1:]:
            moved.append(float(mul_up(coupling, moved[-1])))
        fed = max(float(div_up(size, t)) for size, t in zip(moved, found.weights, strict=True))
        parts = [one.remaining(norm) for one, norm in zip(self.layers, norms, strict=True)]
        known = tuple(part for part in parts if part is not None)
        return StateNorm(
            name, found.lam, found.drive, float(scale), reach, rows, found.radius,
            input_lipschitz=fed,
            remaining=DifferenceBounds(known, self.layers[-1].n)
            if len(known) == len(parts) else None,
        )  # fmt: skip

    def states(self, norm: StateNorm) -> float:
        """B_h: the least of the last layer's own bound and what the norm says."""
        return min(self.layers[-1].states, norm.states)

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """The constants of the stack, then those of each layer, which end in _l0, _l1, … .

        Of a layer: its factor lam, what the layer below moves it by, mu, and its weight t.
        """
        norms = self._chosen(norm.name)
        couplings, found = self._cascade(norm.name)
        top = self.layers[-1].analysis.constants(norms[-1])
        named = {
            "layers": float(len(self.layers)),
            "B_x": float(self.layers[0].B),
            "S_0": top["S_0"],
            "B_h": self.states(norm),
            "drive": norm.drive,
            "radius": norm.radius,
            "equivalence": norm.equivalence,
            "reach": norm.reach,
        }
        for l, one in enumerate(self.layers):
            own = one.analysis.constants(norms[l])
            own |= {"lam": norms[l].lam, "mu": couplings[l], "t": found.weights[l]}
            named |= {f"{name}_l{l}": value for name, value in own.items()}
        return named

    def proof(self, norm: StateNorm) -> dict[str, Any]:
        """Each layer, the lowest first."""
        each = zip(self.layers, self._chosen(norm.name), self._cascade(norm.name)[0], strict=True)
        return {"layers": [layer.proof(chosen, moved) for layer, chosen, moved in each]}

    def inputs(self) -> Tensor:
        """How far the inputs move a state, unit by unit: (state, d)."""
        moved = [self.layers[0].slopes]
        for below, one in zip(self.layers, self.layers[1:], strict=False):
            fed = moved[-1][-below.n :]
            moved.append(sum_up(mul_up(one.slopes[:, None, :], fed.mT[None])))
        return torch.cat(moved)

    def rounding(self, norm: StateNorm, fed: Fed | None = None) -> Rounding:
        """That of the last layer, each fed what the run of the one below computes."""
        told = Rounding(reason="it has no layers")
        for l, (one, own) in enumerate(zip(self.layers, self._chosen(norm.name), strict=True)):
            told = one.analysis.rounding(own, fed)
            if told.bound is None:
                return replace(told, reason=f"layer {l + 1}: {told.reason}")
            if l + 1 < len(self.layers):
                above = self.layers[l + 1].whole
                whole = None if above is None else above[None]
                fed = Fed.by(told.bound, one.states, one.box, whole)
        return told

    @property
    def rounds_to_one(self) -> Mapping[str, int]:
        """How many decays of all layers may, by dtype."""
        return self.at_one

    @property
    def refused(self) -> str | None:
        """Why the box of the first layer that is not proved is not."""
        for l, one in enumerate(self.layers, start=1):
            if reason := getattr(one.analysis, "refused", None):
                return f"in layer {l} {reason}"
        return None

    @property
    def region(self) -> str:
        """The states that are spoken of: a box if each layer has one."""
        told = {one.analysis.region for one in self.layers}
        return told.pop() if len(told) == 1 else ALL

    @property
    def unsought(self) -> str | None:
        """Why no witness is sought, if it is not: against the first layer, or against the whole."""
        if reason := self.layers[0].analysis.unsought:
            return reason
        states = sum(len(one.slopes) for one in self.layers)
        return None if self.whole is None else unsought(states)

    def refute(self, given: Given = None) -> Witness | None:
        """A witness against the first layer, which depends on no other, or against the whole."""
        if found := self.layers[0].analysis.refute(given):
            return replace(found, text=f"in the first layer: {found.text}")
        return None if self.whole is None else self.whole(given)

    def _chosen(self, name: str) -> list[StateNorm]:
        return [one.norm(name) for one in self.layers]

    def _cascade(self, name: str) -> tuple[list[float], Cascade]:
        """μ_1 = 0, μ_2, … and the cascade."""
        if name not in self._known:
            norms, couplings = self._chosen(name), [0.0]
            for l, one in enumerate(self.layers[1:], start=1):
                below = self.layers[l - 1]
                couplings.append(one.coupling(norms[l], norms[l - 1], below.n))
            self._known[name] = couplings, cascade(norms, couplings)
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, tuple[list[float], Cascade]]:
        return {}


def _row(norm: StateNorm) -> tuple[float, ...]:
    """The weights of a layer's own norm in one row."""
    flat: list[float] = []
    for value in norm.weights or ():
        flat += value if isinstance(value, tuple) else (value,)
    return tuple(flat)
