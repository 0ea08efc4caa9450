"""Cells whose gates see the input alone: linear in the state, so that a scan computes them.

    h⁺ = d(x)∘h + u(x)

forgets by the product of the decays d that it meets: over all inputs ‖x‖₂ ≤ B by at least the
k-th power of d̄_j = sup d_j, which is certified, and over given data by what is measured there.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, Floats, Rows, V
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.cells.program import ProgramCell
from rnnbounds.impl.cells.refutation.constants import CandidateInputs
from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.outward import div_up, mul_up, subtract_down


@dataclass(frozen=True, eq=False)
class ScanCell(ProgramCell):
    """B scans, of one state of n numbers each."""

    @abstractmethod
    def decay(self, m: Arithmetic[V], x: V) -> V:
        """d(x) over any arithmetic."""

    def intervals(self, B: float | Tensor) -> tuple[IntervalArithmetic, IntervalVector]:
        """The arithmetic of intervals, and the inputs ‖x‖₂ ≤ B in it."""
        m = IntervalArithmetic(self.parameters)
        return m, m.inputs(B, self.U.detach()[:, :, 0], self.d)

    def candidate_bound(self, B: float | Tensor) -> Tensor:
        """More than sup |h̃_j|, which states come nearer to than any precision can tell."""
        m, x = self.intervals(B)
        return mul_up(1 + 2.0**-52, m.affine("weight_h", "bias_h", x).range.magnitude)

    def decay_bound(self, B: float | Tensor) -> Tensor:
        """d̄ (B, n), at least |d_j| over ‖x‖₂ ≤ B."""
        m, x = self.intervals(B)
        return self.decay(m, x).range.magnitude

    def refute(self, box: Tensor, B: float, given: CandidateInputs = None) -> None:
        """Nothing: under one input the step is linear in the state, with a decay below 1."""

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The largest and the least of the certified bounds on the decays."""
        bound = self.decay_bound(B)
        return {"decay_high": float(bound.amax()), "decay_low": float(bound.amin())}

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """The decay d."""
        return self.decay(m, x), False

    def decay_powers(self, B: float, k: int) -> Tensor:
        """At least what is left of each unit after k steps, d̄ᵏ: (B, n)."""
        bound = self.decay_bound(B)
        powers = torch.ones_like(bound)
        for _ in range(k):
            powers = mul_up(powers, bound)
        return powers


@dataclass(frozen=True, eq=False)
class DrivenScan(ScanCell):
    """B scans h⁺ = d(x)∘h + u(x) that are defined by their decay d and their drive u."""

    @abstractmethod
    def drive(self, m: Arithmetic[V], x: V) -> V:
        """u(x) over any arithmetic."""

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        return self.decay(m, x) * s + self.drive(m, x)

    def box(self, B: float | Tensor) -> Tensor:
        """sup |u|/(1 − d̄), infinite where d̄ is not below 1."""
        m, x = self.intervals(B)
        margin = subtract_down(1.0, self.decay_bound(B)).clamp(min=0.0)
        drive = self.drive(m, x).range.magnitude
        return torch.where(margin > 0, div_up(drive, margin), torch.inf)


@dataclass(frozen=True)
class MeasuredRate:
    """Decay rate measured on data; it bounds nothing beyond these data.

    rate: the largest (Π_t |d_j(x_t)|)^{1/T} over units j and sequences. sequences: how many, of
    `steps` inputs each.
    """

    rate: float
    sequences: int
    steps: int

    def to_json(self) -> dict[str, Any]:
        """The measurement as plain JSON data, which says that it is one."""
        return {
            "kind": "measurement",
            "certified": False,
            "rate": self.rate,
            "sequences": self.sequences,
            "steps": self.steps,
        }


def measured_rate(cell: ScanCell, x: Tensor) -> MeasuredRate:
    """The rate at which the one scan of a batch of one forgets on data x (N, T, d), in floats.

    A measurement, unlike `ScanCell.decay_bound`. Raises ShapeError.
    """
    if x.ndim != 3 or x.shape[2] != cell.d or 0 in x.shape:
        raise ShapeError("x", f"(N, T, {cell.d}) with N, T ≥ 1", x)
    weights = {name: part[0] for name, part in cell.parameters.items()}
    decays = cell.decay(Floats(weights), Rows(x.double())).value.abs()
    rates = decays.log().mean(1).exp()
    return MeasuredRate(float(rates.max()), x.shape[0], x.shape[1])
