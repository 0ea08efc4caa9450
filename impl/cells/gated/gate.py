"""Names, boxes and cell types shared by torch's gated cells whose gates depend on the state.

A gate g_j = σ(a_j) or tanh(a_j) has the pre-activation a = W h + U x + b, which lies in an interval
that is certified unit by unit for |h_j| ≤ h̄_j and ‖x‖₂ ≤ B:

    |a_j − b_j| ≤ Σ_l |W_jl| h̄_l + ‖U_j‖₂ B.

Source: Miller & Hardt, Proposition 1, made explicit unit by unit.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.spans import IntervalVector, SpanArithmetic
from rnnbounds.impl.cells.kind import SUFFIX, Kind, Weights, drive, filled
from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.numbers.outward import sum_up

_ITERATES = 24
_SETTLED = 0.99


@dataclass(frozen=True, eq=False)
class Gated(ProgramCell):
    """B cells by torch's names, the rows of each gate one after another: weight_hh (B, g n, n),
    weight_ih (B, g n, d) and biases (B, g n)."""

    count: ClassVar[int]  # g
    reads = "weight_ih"

    @property
    def W(self) -> Tensor:
        """Recurrent weights of all gates, `weight_hh` (B, g n, n)."""
        return self.parameters["weight_hh"]

    @property
    def b_ih(self) -> Tensor:
        """The bias of the inputs."""
        return self.parameters["bias_ih"]

    @property
    def b_hh(self) -> Tensor:
        """The bias of the output."""
        return self.parameters["bias_hh"]

    @property
    def n(self) -> int:
        """The size of the output h."""
        return self.W.shape[2]

    def sizes(self) -> tuple[Tensor, ...]:
        """|W| of each gate, (B, n, n)."""
        return self.W.detach().abs().chunk(self.count, dim=1)

    def row_sums(self, gates: str) -> dict[str, Tensor]:
        """‖W‖_∞ of each gate, by its letter."""
        sizes = zip(gates, self.sizes(), strict=True)
        return {gate: sum_up(size).amax(1) for gate, size in sizes}

    def over(
        self, box: Tensor, B: float | Tensor
    ) -> tuple[SpanArithmetic, IntervalVector, IntervalVector]:
        """The arithmetic of intervals, |s| ≤ box (B, N) and ‖x‖₂ ≤ B."""
        m = SpanArithmetic(self.parameters)
        return m, m.box(box), m.inputs(B, box, self.d)

    @abstractmethod
    def image(self, m: SpanArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """A box (B, N) that is never left if it lies within that of s, which is none: (B, N)."""

    def iterated(self, start: Tensor, B: float | Tensor) -> Tensor:
        """The box after iterates of `image`, each of which is valid, until it settles: each system
        by itself, so that its box does not depend on the others of its batch."""
        box, open_ = start, torch.ones_like(start[:, :1], dtype=torch.bool)
        m, _, x = self.over(start, B)

        def smaller(box: Tensor) -> Tensor:
            return torch.minimum(box, self.image(m, m.box(box), x))

        for _ in range(_ITERATES):
            before, box = box, torch.where(open_, smaller(box), box)
            open_ = open_ & ~(box >= _SETTLED * before).all(1, keepdim=True)
            if not bool(open_.any()):
                break
        return smaller(box)


def most(v: IntervalVector) -> Tensor:
    """At least |v|."""
    return v.range.magnitude


def gated_kind(name: str, make: Callable[[Weights], Gated], layout: Layout, **more: Any) -> Kind:
    """The kind of cells that `make` makes of parameters by torch's names."""
    return program_kind(
        name, make, lambda names: layout, prepared=filled, drive=drive, suffix=SUFFIX, **more
    )
