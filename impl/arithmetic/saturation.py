"""Count the gates of a cell that can round to exactly 1 in a dtype: such units never forget.

What a unit keeps of itself is enclosed as the dtype computes it, over all inputs ‖x‖₂ ≤ B and over
all states that the computed run can have: the rounding of W x + b counts, and that of σ. A kernel
may leave out roundings, or do them. Source: Higham, Accuracy and Stability, sections 2 and 3.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Program, Rows
from rnnbounds.impl.arithmetic.interval_arithmetic import (
    IntervalArithmetic,
    step_bound,
    step_bounds,
)
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.invariance import prove_box
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.numbers.outward import add_up

_ITERATES = 4


def rounds_to_one(cell: Any, dtype: str, box: Tensor, B: float) -> dict[str, int]:
    """Number of a cell's gates that may round to 1, or to NaN, by the name of the dtype.

    box: that of the real states (1, N). Empty for cells that keep nothing as it is.
    """
    saturating = saturating_gates(cell, getattr(torch, dtype), box, B)
    return {} if saturating is None else {dtype: int(saturating.sum())}


def saturating_gates(cell: Any, dtype: torch.dtype, box: Tensor, B: float) -> Tensor | None:
    """True for each gate that may round to 1, (n,), by the cell's `kept`; None if the cell has no
    such gates."""
    zeros = (Rows(box.new_zeros(1, 1, size)) for size in (box.shape[1], cell.d))
    if cell.kept(Floats(cell.parameters), *zeros) is None:
        return None
    run = DtypeRun(dtype, fused=True)
    saturating = _may_saturate(cell, run, torch.full_like(box, torch.inf), B, step_bound)
    return _may_saturate(cell, run, box, B, _state_bounds) if bool(saturating.any()) else saturating


def _may_saturate(
    cell: Any, run: DtypeRun, box: Tensor, B: float, states: Callable[..., Tensor]
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
    program: Program, weights: Mapping[str, Tensor], box: Tensor, B: float, d: int, run: DtypeRun
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
