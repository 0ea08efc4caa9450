"""Certified bounds on one cell, from its comparison matrices on the proved invariant box."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic
from rnnbounds.impl.arithmetic.intervals import PoleError
from rnnbounds.impl.arithmetic.invariance import prove_box, rounds_to_one
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.cells.kind import CellAnalysis
from rnnbounds.impl.cells.refutation.refute import (
    ALL,
    BOX,
    IMPLIED_BOX,
    NO_BOX_SUFFIX,
    reason_too_large,
    refute_gated,
)
from rnnbounds.impl.cells.rounding import (
    LayerInputs,
    Rounding,
    RunGap,
    StepBounds,
    dtype_of,
    run_error,
)
from rnnbounds.impl.format.record import Witness
from rnnbounds.impl.gradients.step_errors import step_error
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.outward import add_up, norm_up


@dataclass(frozen=True, eq=False)
class ProgramAnalysis(CellAnalysis):
    """Certified bounds on one cell of `impl.cells.program`.

    `named`: constants specific to the cell. `B`: bound on ‖x‖₂. `refused`: why the stated box is
    not proved invariant and what to do (no bound then uses it), None if it is proved.
    """

    cell: Any
    comparison: Comparison
    named: Mapping[str, float]
    B: InputBound
    refused: str | None = None
    dtype: str = "float64"

    @classmethod
    def of(cls, model: LoadedModel[Any], B: InputBound, **options: Any) -> Self:
        """The analysis of a model under inputs ‖x_t‖₂ ≤ B."""
        cell, boxes = model.cell, model.cell.proved_box(B)
        comparison, named = cell.compare_on(boxes.box, B), cell.constants(boxes.box, B)
        return cls(
            cell,
            comparison,
            named,
            B,
            cell.explain_unproved_box(boxes, B),
            model.dtype,
            **options,
        )

    @cached_property
    def rounds_to_one(self) -> Mapping[str, int]:
        """Number of gates that may round to 1, by the name of the model's dtype."""
        return rounds_to_one(self.cell, self.dtype, self.comparison.box, self.B)

    @cached_property
    def unbounded(self) -> str | None:
        """Which number of the state has no bound, and what it keeps of itself; None if all have
        one."""
        box = self.comparison.box
        free = ~torch.isfinite(box[0])
        if not bool(free.any()):
            return None
        row, N = int(free.to(torch.int8).argmax()), len(free)
        count = int(free.sum())
        have = "have" if count > 1 else "has"
        what = f"{count} of the {N} numbers of its state {have} no proved bound"
        m = IntervalArithmetic(self.cell.parameters)
        kept = self.cell.kept(m, m.box(box), m.inputs(self.B, box, self.cell.d))
        if kept is not None:
            gate, is_input_gate = kept
            share = (1.0 - gate if is_input_gate else gate).range.high[0]
            endless = (~(share < 1)).nonzero().flatten().tolist()
            if endless:
                unit = next((i for i in endless if i < N and free[i]), endless[0])
                return f"{what}: unit {unit + 1} may keep all of itself in a step, its gate being 1"
        return f"{what}, the first of them s_{row + 1}, which may grow with every step"

    def norm(self, name: str) -> StateNorm:
        """The norm of that name, one of its kind's."""
        return self.comparison.norm(name)

    def states(self, norm: StateNorm) -> float:
        """B_h: the least of the box's own Euclidean norm and what the norm says."""
        return min(float(norm_up(self.comparison.box[0, -self.comparison.n :])), norm.states)

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """The cell's constants, then those of the norm."""
        return {
            **self.named,
            "B_x": float(self.B),
            "S_0": float(norm_up(self.comparison.drive[0, -self.comparison.n :])),
            **norm.constants(self.states(norm)),
        }

    def proof(self, norm: StateNorm) -> dict[str, Any]:
        """The proved box of states: {"box": sides}."""
        return {"box": self.comparison.box[0].tolist()}

    @property
    def slopes(self) -> Tensor:
        """How far states and inputs move a state on the box: (R, N, N + d)."""
        return self.comparison.slopes[0].detach()

    @property
    def box(self) -> Tensor:
        """The proved box, (N,)."""
        return self.comparison.box[0]

    def rounding(self, norm: StateNorm, fed: LayerInputs | None = None) -> Rounding:
        """A bound on ‖fl(h_t) − h_t‖₂, from the running errors of a step; see
        `impl.cells.rounding`."""
        box, fed = self.comparison.box, fed or LayerInputs(0.0, self.B)
        box = box if fed.states is None else fed.states
        if not norm.lam < 1:
            return Rounding(reason="no norm certifies the model")
        if not bool(torch.isfinite(box).all()):
            return Rounding(reason="no bound on its states is known")
        system = self.cell.program, self.cell.parameters

        def step(larger_box: Tensor) -> RunGap:
            arguments = (*system, larger_box, fed.inputs, self.cell.d)
            try:
                error = step_error(*arguments, dtype_of(self.dtype))
                return self.gap(norm, larger_box, fed, error)
            except PoleError:
                return RunGap(torch.full_like(box[0], torch.inf), box.new_full((1,), torch.inf))

        def run_box() -> Tensor:
            run = DtypeRun(dtype_of(self.dtype), fused=True)
            return torch.maximum(box, prove_box(*system, box, fed.inputs, self.cell.d, run=run).box)

        return run_error(step, box, run_box, self.comparison.n)

    def gap(self, norm: StateNorm, box: Tensor, fed: LayerInputs, error: Tensor) -> RunGap:
        """Bounds on the gap of two runs on a box, of which one has that error (1, N) in a step and
        the inputs of a layer."""
        comparison = self.comparison
        if box is not comparison.box or fed.inputs is not self.B:
            comparison = self.cell.compare_on(box, fed.inputs, error)
        if fed.input_error:
            error = add_up(error, fed.moved(comparison.inputs))
        return StepBounds(comparison, error[0]).gap

    def unit_reach(self, norm: StateNorm) -> Tensor:
        """At least |s_i| for ‖s‖_* = 1, (1, N)."""
        box = self.comparison.box
        if norm.weights is None:
            return torch.ones_like(box)
        block = box.shape[1] // len(norm.weights)
        return box.new_tensor(norm.weights).repeat_interleave(block)[None]

    def refute(self) -> Witness | None:
        """Search for a certified witness that the cell is no contraction on its box, or None."""
        return refute_gated(self.cell, self.comparison.box[0], self.B)

    @property
    def reason_for_no_search(self) -> str | None:
        """Reason why no witness is sought, None if one is."""
        return reason_too_large(self.comparison.box.shape[1])

    @property
    def region(self) -> str:
        """The set of states that the verdict is about: a box, also with infinite sides."""
        is_bounded = bool(torch.isfinite(self.comparison.box).any())
        if self.cell.has_own_box:
            return BOX if is_bounded else ALL
        return (IMPLIED_BOX if is_bounded else ALL) + NO_BOX_SUFFIX
