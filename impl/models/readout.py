"""A readout y = f(h) after a cell: linear layers with activations and normalisations between them,
and the ε of h that keeps y within an ε.

‖f(h) − f(h′)‖₂ ≤ L‖h − h′‖₂, where L is the product of all ‖C_i‖₂ and sup ‖ρ_j′‖₂, or what
`impl.norms.chains` makes of norms of products of the C_i, if that is less: so y is within ε
where h is within ε/L. Source: Miller & Hardt, Proposition 3, with L_f = L.
"""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeAlias

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.errors import RangeError, at_least
from rnnbounds.impl.models.digest import digest
from rnnbounds.impl.models.normalisation import Normalisation
from rnnbounds.impl.norms.chains import Averaged, Range, averaged
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

COLUMNS = re.compile(r"\[([0-9]+):([0-9]+)\]$")  # at the end of a weight's name: those that read h
CLEAR = 1 - 2.0**-20  # below it a number is less by more than roundings
FIRST = "C_0 h"  # the first stage's weight in an arithmetic, if it is linear


@dataclass(frozen=True, eq=False)
class Linear:
    """The layer C v + c: the full name of C (p, q), which is as stored; c (p,) and its name.

    "head.weight[a:b]" are the columns a … b − 1 of a stored matrix: the others read what is equal
    in both runs, as their last input, and move no difference.
    """

    name: str
    weight: Tensor
    bias: tuple[str, Tensor] | None = None

    @property
    def stored(self) -> str:
        """The name of the stored matrix, of all its columns."""
        return COLUMNS.sub("", self.name)

    @cached_property
    def slope(self) -> float:
        """At least ‖C‖₂."""
        return float(certified_norm(self.weight.double()[None]))


Stage: TypeAlias = Linear | Activation | Normalisation


@dataclass(frozen=True, eq=False)
class Readout:
    """Stages in the order in which they are applied to h, at least one of them linear."""

    stages: tuple[Stage, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The full names of weights, and the names of activations and normalisations."""
        return tuple(stage.name for stage in self.stages)

    @property
    def linear(self) -> dict[str, Linear]:
        """The linear stages, by the names of their weights in an arithmetic."""
        return {f"C_{i} h": s for i, s in enumerate(self.stages) if isinstance(s, Linear)}

    @property
    def weighted(self) -> dict[str, str]:
        """The full names of the weights of stages, by the names of the stages."""
        own = {s.name: s.weight for s in self.stages if isinstance(s, Normalisation)}
        scales = {name: weight[0] for name, weight in own.items() if weight is not None}
        return {one.name: one.name for one in self.linear.values()} | scales

    @property
    def outputs(self) -> int:
        """The number of entries of y."""
        return len([*self.linear.values()][-1].weight)

    @property
    def product(self) -> float:
        """At least the product of the bounds of all stages."""
        slopes = [stage.slope for stage in self.stages]
        return reduce(lambda a, b: float(mul_up(a, b)), slopes) if slopes else 1.0

    @property
    def norm(self) -> float:
        """At least L: of a single layer its ‖C‖₂, of no stages 1."""
        return self.product if self.averaged is None else self.averaged.norm

    @property
    def blocks(self) -> list[list[Tensor]]:
        """The linear maps between activations and normalisations, whose γ is a diagonal (n,)."""
        found: list[list[Tensor]] = [[]]
        for stage in self.stages:
            if isinstance(stage, Linear):
                found[-1].append(stage.weight)
            else:
                scale = stage.weight if isinstance(stage, Normalisation) else None
                found.append([] if scale is None else [scale[1]])
        return found

    @cached_property
    def averaged(self) -> Averaged | None:
        """The bound by averaged operators, None if it is not less than the product."""
        if len(self.stages) < 2:
            return None
        found = averaged(self.blocks, [_range(s) for s in self.stages if not isinstance(s, Linear)])
        return found if found and found.norm < self.product * CLEAR else None

    @cached_property
    def tensors(self) -> Mapping[str, Tensor]:
        """The tensors that y − y′ depends on, by full names: of a single layer its C alone, since c
        moves y and y′ alike."""
        layers = self.linear.values()
        own = dict(one.bias for one in layers if one.bias and len(self.stages) > 1)
        for stage in self.stages:
            own |= stage.tensors if isinstance(stage, Normalisation) else {}
        return {one.name: one.weight for one in layers} | own

    @cached_property
    def parameters(self) -> Mapping[str, Tensor]:
        """Weights (p, q) and biases (p,) in float64 for an arithmetic; no cell has such names."""
        weights = {name: one.weight for name, one in self.linear.items()}
        own = {f"{name} bias": one.bias[1] for name, one in self.linear.items() if one.bias}
        for i, stage in enumerate(self.stages):
            own |= stage.parameters(f"C_{i} h") if isinstance(stage, Normalisation) else {}
        return {name: part.double() for name, part in (weights | own).items()}

    def apart(self, m: Arithmetic[V], a: V, b: V) -> V:
        """f(a) − f(b) over an arithmetic of `parameters`: linear stages after the last activation
        are applied to the difference, which no rounding of large outputs blurs then."""
        last = max((i for i, s in enumerate(self.stages) if not isinstance(s, Linear)), default=-1)
        a, b = (self.run(m, v, last + 1) for v in (a, b))
        apart = a - b
        for i in range(last + 1, len(self.stages)):
            apart = m.affine(f"C_{i} h", None, apart)
        return apart

    def run(self, m: Arithmetic[V], v: V, count: int | None = None) -> V:
        """f(v) over an arithmetic of `parameters`, or what its first stages make of v."""
        for i, stage in enumerate(self.stages[:count]):
            name = f"C_{i} h"
            if isinstance(stage, Activation):
                v = m.activate(stage.name, v)
            elif isinstance(stage, Normalisation):
                v = stage.apply(m, name, v)
            else:
                v = m.affine(name, f"{name} bias", v)
        return v

    def within(self, eps: float, norm: float | None = None) -> float:
        """An ε of the output h that keeps y within eps, by a constant `norm` in place of L; raises
        RangeError for none."""
        L = self.norm if norm is None else norm
        found = math.nextafter(eps / L, 0.0) if L else sys.float_info.max
        if not found > 0:
            raise RangeError("ε", eps, f"larger for a readout with ‖C‖₂ ≤ {at_least(L, 3)}")
        return found

    def stated(self) -> dict[str, Any]:
        """The readout by its names, its number of outputs and a digest of its tensors."""
        chain = len(self.stages) > 1
        named = {"chain": list(self.names)} if chain else {"tensor": self.names[0]}
        title = f"readout {','.join(self.names)}" if chain else "readout"
        return {**named, "outputs": self.outputs, "sha256": digest(title, self.tensors)}

    def to_json(self) -> dict[str, Any]:
        """The record of a certificate: the readout, L, for several stages the bound of each, and
        if L is less than their product what it follows from."""
        norms = {"norms": [s.slope for s in self.stages]} if len(self.stages) > 1 else {}
        own = {} if self.averaged is None else {"averaged": self.averaged.to_json()}
        return {**self.stated(), **norms, **own, "norm": self.norm}


def _range(stage: Activation | Normalisation) -> Range:
    """The slopes of a stage everywhere, of a normalisation before γ."""
    ends = (0.0, stage.steepest) if isinstance(stage, Normalisation) else (stage.least, stage.slope)
    low, high = (torch.tensor([end], dtype=torch.float64) for end in ends)
    return low, high
