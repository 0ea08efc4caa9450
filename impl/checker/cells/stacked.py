"""A stack of layers: each is proved under the outputs of the one below, then their cascade.

If layer l contracts by λ_l in ‖·‖_l and ‖Δs^l⁺‖_l ≤ λ_l‖Δs^l‖_l + μ_l‖Δs^{l−1}⁺‖_{l−1}, then in
max ‖s^l‖_l/t_l the stack contracts by max Λ_l, Λ_1 = λ_1, Λ_l = λ_l + μ_l Λ_{l−1} t_{l−1}/t_l.
Source: Michel & Miller, Qualitative Analysis of Large Scale Dynamical Systems, for comparison by
layers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat

from rnnbounds.impl.checker.cells.claimed import bounded, cell_of, norm_of, positive_weights, proofs
from rnnbounds.impl.checker.cells.layouts import STACKED, layers
from rnnbounds.impl.checker.cells.norms import Norm
from rnnbounds.impl.checker.cells.stepped import Stepped
from rnnbounds.impl.checker.cells.units import InputRanges
from rnnbounds.impl.checker.definite import largest, norm, norm_above, smaller
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.errors import at_least
from rnnbounds.impl.format.fields import Layer, RecordError, Stated
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.tensors import Array

CASCADE = "cascade"


@dataclass(frozen=True, eq=False)
class Stack:
    """All layers as one cell, whose output is the last one's; as they are stated."""

    cells: list[Any]
    stated: tuple[Layer, ...]

    @property
    def n(self) -> int:
        """The size of the output."""
        return int(self.cells[-1].n)

    @property
    def box(self) -> list[arb]:
        """That of the last layer."""
        return list(self.cells[-1].box)

    @property
    def start(self) -> arb:
        """That of the last layer."""
        found: arb = self.cells[-1].start
        return found

    def below(self, most: float) -> bool:
        """True if ‖h_t‖₂ ≤ most is proved for all t, from the last layer's statements."""
        return _known(self.stated[-1], self.cells[-1], most)


@dataclass(frozen=True, eq=False)
class Cascade(Norm):
    """max ‖s^l‖_l/t_l, of layers that are proved."""

    t: list[arb]
    norms: list[Norm]

    def contracts(self, cell: Stack, lam: float) -> bool:
        """Λ_l ≤ λ for all l."""
        factor, found = arb(0), []
        for l, layer in enumerate(cell.stated):
            moved = arb(layer.coupling) * factor * self.t[l - 1] / self.t[l] if l else arb(0)
            factor = arb(layer.norm.lam) + moved
            found.append(bool(factor <= arb(lam)))
        return all(found)

    def _most(self, sizes: list[arb]) -> arb:
        return largest([size / t for size, t in zip(sizes, self.t, strict=True)])

    def drive(self, cell: Stack) -> arb:
        """max S_l/t_l."""
        return self._most([arb(layer.norm.drive) for layer in cell.stated])

    def moved(self, cell: Stack) -> arb:
        """max μ_l ⋯ μ_2 L_1/t_l."""
        sizes = [self.norms[0].moved(cell.cells[0])]
        for layer in cell.stated[1:]:
            sizes.append(arb(layer.coupling) * sizes[-1])
        return self._most(sizes)

    def radius(self, cell: Stack) -> arb:
        """max of the least of S_l/(1 − λ_l) and R_l, over t_l."""
        sizes = []
        for told in (layer.norm for layer in cell.stated):
            size = arb(told.drive) / (1 - arb(told.lam))
            sizes.append(smaller(size, arb(told.radius)))
        return self._most(sizes)

    def equivalent(self, cell: Stack, C: float) -> bool:
        """C_L t_L ≤ C."""
        return bool(arb(cell.stated[-1].norm.equivalence) * self.t[-1] <= arb(C))

    def reached(self, cell: Stack, c: float) -> bool:
        """max c_l/t_l ≤ c."""
        reaches = [layer.norm.reach for layer in cell.stated]
        return max(reaches) < math.inf and bool(self._most([arb(r) for r in reaches]) <= arb(c))


def stack_of(
    told: Record, weights: Mapping[str, Array], B: arb, inputs: InputRanges | None
) -> tuple[list[Finding], Stack, Norm]:
    """The stack with its norm, and what is proved of each layer; raises RecordError."""
    parts, inner = layers(weights), told.cell.removeprefix(STACKED)
    if told.layers is None or told.box is not None or len(told.layers) != len(parts):
        raise RecordError("no layers of a stack")
    t = [arb(weight) for weight in positive_weights(told.weights, len(parts))]
    if told.norm != CASCADE and any(layer.norm.name != told.norm for layer in told.layers):
        raise RecordError("no norm of a stack")
    if told.layers[0].input_bound != told.input_bound or told.layers[0].coupling != 0:
        raise RecordError("other inputs of the first layer")
    found: list[Finding] = []
    cells: list[Any] = []
    norms: list[Norm] = []
    for l, (part, layer) in enumerate(zip(parts, told.layers, strict=True)):
        if l:
            B, below = arb(layer.input_bound), cells[-1]
            held = _known(told.layers[l - 1], below, layer.input_bound)
            size = at_least(layer.input_bound, 9)
            found.append(_finding(l, held, f"‖h‖₂ ≤ {size} feeds the next"))
            inputs = None
            if isinstance(below, Stepped):
                sides = below.box[-below.n :]
                inputs = InputRanges([-side for side in sides], sides)
        cell = cell_of(inner, part, B, inputs, layer.box)
        norms.append(norm_of(layer.norm, cell))
        found += _layer(l + 1, layer, norms[-1], cell)
        if l:
            moved = _coupling(layer.norm, norms[-2:], told.layers[l - 1].norm, cell, cells[-1].n)
            holds = bool(moved <= arb(layer.coupling))
            size = at_least(layer.coupling, 9)
            found.append(_finding(l + 1, holds, f"moves by at most {size} with the one below"))
        cells.append(cell)
    return found, Stack(cells, told.layers), Cascade(t, norms)


def _layer(l: int, layer: Layer, chosen: Norm, cell: Any) -> list[Finding]:
    """Prove the box and the norms stated of one layer."""
    found = []
    if isinstance(cell, Stepped):
        found.append(_finding(l, cell.held(), "states stay in the box that is stated"))
    both = [(layer.norm, chosen)]
    if layer.bounded is not None:
        both.append((layer.bounded, norm_of(layer.bounded, cell)))
    for told, one in both:
        found += [_finding(l, holds, detail) for _, holds, detail in proofs(told, one, cell)]
    return found


def _finding(l: int, holds: bool, detail: str) -> Finding:
    return Finding(f"layer {l}", holds, detail)


def _known(layer: Layer, cell: Any, most: float) -> bool:
    told = (layer.norm, layer.bounded)
    return any(bounded(one, cell, most) for one in told if one is not None)


def _coupling(told: Stated, norms: list[Norm], below: Stated, cell: Any, n: int) -> arb:
    """At least ‖Δs⁺‖ in the norm for ‖Δs‖ = 1 in that of the layer below, of n outputs."""
    (lower, upper), N = norms, cell.slopes
    if (v := upper.units) is None:
        return arb(told.reach) * norm_above([arb_mat(N)]) * arb(below.equivalence)
    found = largest([norm(row) / arb(a) for row, a in zip(N, v, strict=True)])
    found = found * arb(below.equivalence)
    if (u := lower.units) is None:
        return found
    sums = (sum((a * arb(b) for a, b in zip(row, u[-n:], strict=True)), arb(0)) for row in N)
    return smaller(found, largest([size / arb(a) for size, a in zip(sums, v, strict=True)]))
