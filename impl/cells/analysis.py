"""Certified bounds on one cell, from its comparison matrices on the proved invariant box."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.coarse import rounds_to_one
from rnnbounds.impl.arithmetic.invariance import held
from rnnbounds.impl.arithmetic.roundings import Runs
from rnnbounds.impl.cells.kind import Analysis
from rnnbounds.impl.cells.refutation.constants import Given
from rnnbounds.impl.cells.refutation.refute import ALL, BOX, BOXLESS, IMPLIED, Witness
from rnnbounds.impl.cells.rounding import Fed, Step, dtype_of, run_error, safely
from rnnbounds.impl.gradients.rounding import Rounding
from rnnbounds.impl.gradients.step_errors import step_error
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.comparison import Comparison, two_norm_steps
from rnnbounds.impl.norms.state_norms import StateNorm
from rnnbounds.impl.numbers.outward import norm_up


@dataclass(frozen=True, eq=False)
class ProgramAnalysis(Analysis):
    """Certified bounds on one cell of `impl.cells.program`.

    `named`: constants specific to the cell. `B`: bound on ‖x‖₂. `refused`: why the stated box is
    not proved invariant and what to do (no bound then uses it), None if it is proved. `dtype`: that
    of the model.
    """

    cell: Any
    comparison: Comparison
    named: Mapping[str, float]
    B: float
    refused: str | None = None
    dtype: str = "float64"

    @classmethod
    def of(cls, model: LoadedModel[Any], B: float, **more: Any) -> Self:
        """The analysis of a model under inputs ‖x_t‖₂ ≤ B."""
        cell, told = model.cell, model.cell.held(B)
        found, named = cell.compared(told.box, B), cell.constants(told.box, B)
        return cls(cell, found, named, B, cell.unproved(told, B), model.dtype, **more)

    @cached_property
    def rounds_to_one(self) -> Mapping[str, int]:
        """How many decays may round to 1, by dtype."""
        return rounds_to_one(self.cell, self.comparison.box, self.B)

    def norm(self, name: str) -> StateNorm:
        """The norm of that name, one of its kind's."""
        return self.comparison.norm(name)

    def states(self, norm: StateNorm) -> float:
        """B_h: the least of the box's own Euclidean norm and what the norm says."""
        return min(float(norm_up(self.comparison.box[0, -self.comparison.n :])), norm.states)

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """The cell's constants, then those of the norm, then the steps that contract in ‖·‖₂.

        `two_norm_steps` r and `two_norm_factor`: r steps contract by that factor < 1 in the
        Euclidean norm of the whole state.
        """
        steps, factor = two_norm_steps(norm, self.comparison.box.shape[1])
        return {
            **self.named,
            "B_x": float(self.B),
            "S_0": float(norm_up(self.comparison.drive[0, -self.comparison.n :])),
            "B_h": self.states(norm),
            "drive": norm.drive,
            "radius": norm.radius,
            "equivalence": norm.equivalence,
            "reach": norm.reach,
            "two_norm_steps": steps,
            "two_norm_factor": factor,
        }

    def proof(self, norm: StateNorm) -> dict[str, Any]:
        """The box, side by side."""
        return {"box": sides(self.comparison.box[0])}

    def inputs(self) -> Tensor:
        """How far the inputs move a state, unit by unit: (N, d)."""
        return self.comparison.inputs[0]

    def rounding(self, norm: StateNorm, fed: Fed | None = None) -> Rounding:
        """A bound on ‖fl(h_t) − h_t‖₂, from the running errors of a step; see
        `impl.cells.rounding`."""
        box, inputs, off = self.comparison.box, self.B, 0.0
        if fed is not None:
            box, inputs, off = box if fed.states is None else fed.states, fed.inputs, fed.off
        if not norm.lam < 1:
            return Rounding(reason="no norm certifies the model")
        if not bool(torch.isfinite(box).all()):
            return Rounding(reason="no bound on its states is known")
        by = self.reached(norm)

        def step(wide: Tensor) -> Step:
            one = (self.cell.program, self.cell.parameters, wide, inputs, self.cell.d)
            return self.on(norm, wide, inputs, step_error(*one, dtype_of(self.dtype)))

        def anywhere() -> Tensor:
            run = Runs((dtype_of(self.dtype),), fused=True)
            one = (self.cell.program, self.cell.parameters, box, inputs, self.cell.d)
            return torch.maximum(box, held(*one, run=run).box)

        return run_error(safely(step), box, by, anywhere, off, norm.equivalence)

    def reached(self, norm: StateNorm) -> Tensor:
        """At least |s_i| for ‖s‖_* = 1, (1, N)."""
        box = self.comparison.box
        if norm.weights is None:
            return torch.ones_like(box)
        each = box.shape[1] // len(norm.weights)
        return box.new_tensor(norm.weights).repeat_interleave(each)[None]

    def on(self, norm: StateNorm, box: Tensor, inputs: float, error: Tensor) -> Step:
        """Bound λ, L and δ of a step on another box in that norm, for an error (1, N)."""
        known = self.comparison
        if box is known.box and inputs is self.B:
            known = replace(known, norms=lambda: self.comparison.euclidean, drive=error)
        else:
            known = self.cell.compared(box, inputs, error)
        told = known.reweighted(norm)
        return Step(told.lam, told.input_lipschitz, told.drive)

    def refute(self, given: Given = None) -> Witness | None:
        """Search for a certified witness that the cell is no contraction on its box, or None."""
        found: Witness | None = self.cell.refute(self.comparison.box[0], self.B, given)
        return found

    @property
    def unsought(self) -> str | None:
        """Why no witness is sought, if it is not."""
        reason: str | None = self.cell.unsought(self.comparison.box.shape[1])
        return reason

    @property
    def region(self) -> str:
        """The states that are spoken of: a box also where some of its sides are infinite."""
        bounded = bool(torch.isfinite(self.comparison.box).any())
        if self.cell.states_box:
            return BOX if bounded else ALL
        return (IMPLIED if bounded else ALL) + BOXLESS


def sides(box: Tensor) -> list[float | None]:
    """A box (N,) as plain JSON data: None for a side where nothing is known."""
    return [side if math.isfinite(side) else None for side in box.tolist()]
