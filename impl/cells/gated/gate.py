"""Names, boxes and cell types shared by torch's gated cells whose gates depend on the state.

A gate g_j = σ(a_j) or tanh(a_j) has the pre-activation a = W h + U x + b, which lies in an interval
that is certified unit by unit for |h_j| ≤ h̄_j and ‖x‖₂ ≤ B:

    |a_j − b_j| ≤ Σ_l |W_jl| h̄_l + ‖U_j‖₂ B.

Source: Miller & Hardt, Proposition 1, made explicit unit by unit.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.cells.kind import SUFFIX, Kind, Weights, input_drive, with_zero_biases
from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.numbers.outward import sum_up

_ITERATES = 24
_CONVERGED = 0.99


@dataclass(frozen=True, eq=False)
class Gated(ProgramCell):
    """B cells by torch's names, the rows of each gate one after another: weight_hh (B, g n, n),
    weight_ih (B, g n, d) and biases (B, g n)."""

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

    def row_sums(self, gates: str) -> dict[str, Tensor]:
        """‖W‖_∞ of each gate, by its letter."""
        sizes = zip(gates, self.W.detach().abs().chunk(len(gates), dim=1), strict=True)
        return {gate: sum_up(size).amax(1) for gate, size in sizes}

    def intervals(
        self, box: Tensor, B: float | Tensor
    ) -> tuple[IntervalArithmetic, IntervalVector, IntervalVector]:
        """The arithmetic of intervals, |s| ≤ box (B, N) and ‖x‖₂ ≤ B."""
        m = IntervalArithmetic(self.parameters)
        return m, m.box(box), m.inputs(B, box, self.d)

    @abstractmethod
    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """A box (B, N) of the next states, which is invariant if it lies within the box of s."""

    def iterated_box(self, start: Tensor, B: float | Tensor) -> Tensor:
        """The box after iterates of `smaller_box`, each of which is valid, until it settles: each
        system by itself, so that its box does not depend on the others of its batch."""
        box, active = start, torch.ones_like(start[:, :1], dtype=torch.bool)
        m, _, x = self.intervals(start, B)

        def next_box(box: Tensor) -> Tensor:
            return torch.minimum(box, self.smaller_box(m, m.box(box), x))

        for _ in range(_ITERATES):
            previous, box = box, torch.where(active, next_box(box), box)
            active = active & ~(box >= _CONVERGED * previous).all(1, keepdim=True)
            if not bool(active.any()):
                break
        return next_box(box)


def magnitude(v: IntervalVector) -> Tensor:
    """At least |v|."""
    return v.range.magnitude


def gated_kind(name: str, make: Callable[[Weights], Gated], layout: Layout, **options: Any) -> Kind:
    """The kind of cells that `make` makes of parameters by torch's names."""
    return program_kind(
        name,
        make,
        lambda names: layout,
        prepare=with_zero_biases,
        drive=input_drive,
        suffix=SUFFIX,
        **options,
    )
