"""A readout y = f(h) after a cell: linear layers with activations between them, and the ε of h that
keeps y within an ε.

‖f(h) − f(h′)‖₂ ≤ L‖h − h′‖₂, where L is the product of all ‖C_i‖₂ and sup |ρ_j′|: so y is within ε
where h is within ε/L. Source: Miller & Hardt, Proposition 3, with L_f = L.
"""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.errors import RangeError, at_least
from rnnbounds.impl.models.digest import digest
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

COLUMNS = re.compile(r"\[([0-9]+):([0-9]+)\]$")  # at the end of a weight's name: those that read h
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


@dataclass(frozen=True, eq=False)
class Readout:
    """Stages in the order in which they are applied to h, at least one of them linear."""

    stages: tuple[Linear | Activation, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The full names of weights, and the names of activations."""
        return tuple(stage.name for stage in self.stages)

    @property
    def linear(self) -> dict[str, Linear]:
        """The linear stages, by the names of their weights in an arithmetic."""
        return {f"C_{i} h": s for i, s in enumerate(self.stages) if isinstance(s, Linear)}

    @property
    def outputs(self) -> int:
        """The number of entries of y."""
        return len([*self.linear.values()][-1].weight)

    @property
    def norm(self) -> float:
        """At least L: of a single layer its ‖C‖₂, of no stages 1."""
        slopes = [stage.slope for stage in self.stages]
        return reduce(lambda a, b: float(mul_up(a, b)), slopes) if slopes else 1.0

    @cached_property
    def tensors(self) -> Mapping[str, Tensor]:
        """The tensors that y − y′ depends on, by full names: of a single layer its C alone, since c
        moves y and y′ alike."""
        layers = self.linear.values()
        biases = dict(one.bias for one in layers if one.bias and len(self.stages) > 1)
        return {one.name: one.weight for one in layers} | biases

    @cached_property
    def parameters(self) -> Mapping[str, Tensor]:
        """Weights (p, q) and biases (p,) in float64 for an arithmetic; no cell has such names."""
        weights = {name: one.weight for name, one in self.linear.items()}
        biases = {f"{name} bias": one.bias[1] for name, one in self.linear.items() if one.bias}
        return {name: part.double() for name, part in (weights | biases).items()}

    def apart(self, m: Arithmetic[V], a: V, b: V) -> V:
        """f(a) − f(b) over an arithmetic of `parameters`: linear stages after the last activation
        are applied to the difference, which no rounding of large outputs blurs then."""
        last = max((i for i, s in enumerate(self.stages) if isinstance(s, Activation)), default=-1)
        for i, stage in enumerate(self.stages[: last + 1]):
            name = f"C_{i} h"
            if isinstance(stage, Activation):
                a, b = m.activate(stage.name, a), m.activate(stage.name, b)
            else:
                a, b = (m.affine(name, f"{name} bias", v) for v in (a, b))
        apart = a - b
        for i in range(last + 1, len(self.stages)):
            apart = m.affine(f"C_{i} h", None, apart)
        return apart

    def within(self, eps: float) -> float:
        """An ε of the output h that keeps y within eps; raises RangeError for none."""
        found = math.nextafter(eps / self.norm, 0.0) if self.norm else sys.float_info.max
        if not found > 0:
            raise RangeError("ε", eps, f"larger for a readout with ‖C‖₂ ≤ {at_least(self.norm, 3)}")
        return found

    def stated(self) -> dict[str, Any]:
        """The readout by its names, its number of outputs and a digest of its tensors."""
        chain = len(self.stages) > 1
        named = {"chain": list(self.names)} if chain else {"tensor": self.names[0]}
        title = f"readout {','.join(self.names)}" if chain else "readout"
        return {**named, "outputs": self.outputs, "sha256": digest(title, self.tensors)}

    def to_json(self) -> dict[str, Any]:
        """The record of a certificate: the readout, L, and the factors of L for several stages."""
        norms = {"norms": [s.slope for s in self.stages]} if len(self.stages) > 1 else {}
        return {**self.stated(), **norms, "norm": self.norm}
