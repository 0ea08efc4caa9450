"""Boxes of states: a cell proposes one, and what is used is only what is proved here.

A box |s_i| ≤ r_i holds every state that is reached from zero if one step maps it into itself for
every ‖x‖₂ ≤ B, and by induction alone. One step over the box is enclosed with outward rounding. A
box that is right may still stick out by roundings: it is then tried a little larger, and what one
step leaves of that is invariant as well. Sources: Moore, Kearfott & Cloud, Introduction to Interval
Analysis; Rump (1999), INTLAB, for the inflation.

Count the gates of a cell that can round to exactly 1 in a dtype: such units never forget.

What a unit keeps of itself is enclosed as the dtype computes it, over all inputs ‖x‖₂ ≤ B and over
all states that the computed run can have: the rounding of W x + b counts, and that of σ. A kernel
may leave out roundings, or do them. Source: Higham, Accuracy and Stability, sections 2 and 3.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Program, Rows
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.arithmetic.interval_arithmetic import (
    IntervalArithmetic,
    step_bound,
    step_bounds,
)
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.arithmetic.slopes import compare_runs
from rnnbounds.impl.errors import at_least, exactly
from rnnbounds.impl.numbers.outward import add_up, mul_up

# By how much boxes are widened, so many times, and how large they may get; the proof decides,
# whatever they are.
_INFLATION_BITS, _ROUNDS, _LARGEST_FACTOR = (44, 32, 20, 8, 2), 6, 2.0
_DTYPE_INFLATION_BITS = (10, 2)  # in the run of a dtype
_STILL = 2.0**-10  # a side at least, of states that are all 0, which underflow alone moves


@dataclass(frozen=True, eq=False)
class InvariantBox:
    """Boxes (B, N) that are proved, infinite in the systems of which nothing is.

    proposed: the boxes as they were stated; moved: at least how far one step leads from there;
    refused: where a finite bound was stated and not proved, (B,).
    """

    box: Tensor
    proposed: Tensor
    moved: Tensor
    refused: Tensor

    @property
    def reason(self) -> str | None:
        """Message on the first box not proved invariant, with its worst unit; None if all are."""
        if not bool(self.refused.any()):
            return None
        first = int(self.refused.to(torch.int8).argmax())
        proposed, reached = self.proposed[first], self.moved[first]
        worst = int((reached / proposed).nan_to_num(0.0).argmax())
        side, reach = exactly(float(proposed[worst])), at_least(float(reached[worst]))
        return (
            f"the cell's box() is not proved invariant: |s_{worst + 1}| ≤ {side} in it, but one "
            f"step may lead to {reach}"
        )


def prove_box(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: InputBound | Tensor,
    d: int,
    run: DtypeRun | None = None,
) -> InvariantBox:
    """The proposed box (B, N) under inputs ‖x‖₂ ≤ B (a number or (B, 1)), as far as it is proved.

    `run`: of states as that dtype computes them.
    """
    box = torch.where(box >= 0, box, torch.inf)  # NaN and negative sizes hold nothing
    largest = mul_up(_LARGEST_FACTOR, box)  # no box that is tried is larger
    if run is not None:  # rounding moves units that stand still, as a ReLU that never opens
        sides = torch.where(torch.isfinite(box), box, 0.0).amax(1, keepdim=True).clamp(min=_STILL)
        largest = add_up(largest, mul_up(2.0 ** -_DTYPE_INFLATION_BITS[0], sides))
    step_bound = step_bounds(program, IntervalArithmetic(parameters, run), box, B, d)

    first_image = image = step_bound(box)
    proved, unproved = torch.full_like(box, torch.inf), torch.ones_like(box[:, 0], dtype=torch.bool)
    for bits in _INFLATION_BITS if run is None else _DTYPE_INFLATION_BITS:
        start, candidates = box, unproved
        for _ in range(_ROUNDS):
            image = first_image if start is box else step_bound(start)
            is_invariant = unproved & candidates & (image <= start).all(1)
            proved = torch.where(is_invariant[:, None], torch.minimum(start, image), proved)
            unproved = unproved & ~is_invariant
            start = torch.where(image > start, mul_up(image, 1 + 2.0**-bits), start)
            candidates = unproved & candidates & (start <= largest).all(1)
            if not bool(candidates.any()):
                break
        if not bool(unproved.any()):
            break
    refused = (torch.isfinite(box) & ~torch.isfinite(proved)).any(1)
    return InvariantBox(proved, box, first_image, refused)


def complete_boxes(
    program: Program,
    parameters: Mapping[str, Tensor],
    boxes: InvariantBox,
    B: InputBound | Tensor,
    d: int,
) -> InvariantBox:
    """Replace infinite boxes by the bound S/(1 − λ) of a contraction in max |s_i|/v_i."""
    is_bounded = torch.isfinite(boxes.box).all(1, keepdim=True)
    if bool(is_bounded.all()):
        return boxes
    contracting = compare_runs(program, parameters, boxes.box, B, d).implied_box()
    proved = prove_box(program, parameters, contracting, B, d)
    box = torch.where(is_bounded, boxes.box, torch.minimum(boxes.box, proved.box))
    return InvariantBox(box, boxes.proposed, boxes.moved, boxes.refused)


_ITERATES = 4


def rounds_to_one(cell: Any, dtype: str, box: Tensor, B: InputBound) -> dict[str, int]:
    """Number of a cell's gates that may round to 1, or to NaN, by the name of the dtype.

    box: that of the real states (1, N). Empty for cells that keep nothing as it is.
    """
    saturating = saturating_gates(cell, getattr(torch, dtype), box, B)
    return {} if saturating is None else {dtype: int(saturating.sum())}


def saturating_gates(cell: Any, dtype: torch.dtype, box: Tensor, B: InputBound) -> Tensor | None:
    """True for each gate that may round to 1, (n,), by the cell's `kept`; None if the cell has no
    such gates."""
    zeros = (Rows(box.new_zeros(1, 1, size)) for size in (box.shape[1], cell.d))
    if cell.kept(Floats(cell.parameters), *zeros) is None:
        return None
    run = DtypeRun(dtype, fused=True)
    saturating = _may_saturate(cell, run, torch.full_like(box, torch.inf), B, step_bound)
    return _may_saturate(cell, run, box, B, _state_bounds) if bool(saturating.any()) else saturating


def _may_saturate(
    cell: Any, run: DtypeRun, box: Tensor, B: InputBound, states: Callable[..., Tensor]
) -> Tensor:
    """True for each gate that may round to 1 on the states that a box leads to, (n,)."""
    reach = states(cell.program, cell.parameters, box, B, cell.d, run)
    m = IntervalArithmetic(cell.parameters, run)
    gate, is_input_gate = cell.kept(m, m.box(reach), m.inputs(B, box, cell.d))
    retention: Interval = gate.range
    if is_input_gate:
        retention = run.round(Interval(-add_up(-1.0, retention.high), add_up(1.0, -retention.low)))
    return ~(retention.high < 1)[0]


def _state_bounds(
    program: Program,
    weights: Mapping[str, Tensor],
    box: Tensor,
    B: InputBound,
    d: int,
    run: DtypeRun,
) -> Tensor:
    """At least |s_i| of the states as they are computed."""
    bound = prove_box(program, weights, box, B, d, run=run).box
    step_reach = step_bounds(program, IntervalArithmetic(weights, run), box, B, d)
    for _ in range(_ITERATES):
        is_bounded = torch.isfinite(bound).all(1, keepdim=True)
        if bool(is_bounded.all()):
            break
        bound = torch.where(is_bounded, bound, torch.minimum(bound, step_reach(bound)))
    return bound
