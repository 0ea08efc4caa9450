"""How many decays of a cell may round to 1 when it is run in a dtype, which keeps states for ever.

What a unit keeps of itself is enclosed as the dtype computes it, over all inputs ‖x‖₂ ≤ B and over
all states that the computed run can have: the rounding of W x + b counts, and that of σ. A kernel
may leave out roundings, or do them. Source: Higham, Accuracy and Stability, sections 2 and 3.
"""

from typing import Any

import torch
from torch import Tensor

from impl.arithmetic.intervals import symmetric
from impl.arithmetic.invariance import held
from impl.arithmetic.spans import Run, SpanArithmetic, Spans, inputs, reached
from impl.numbers.interval import Interval
from impl.numbers.outward import add_up

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
_ITERATES = 4


def rounds_to_one(cell: Any, box: Tensor, B: float) -> dict[str, int]:
    """How many decays of the one cell of a batch of one may round to 1, or are no number, by dtype.

    box: that of the real states (1, N). Empty for cells that keep nothing as it is.
    """
    found = {}
    for dtype in DTYPES:
        if (told := cell.at_one(dtype, box, B)) is not None:
            found[str(dtype).removeprefix("torch.")] = int(told.sum())
    return found


def at_one(cell: Any, dtype: torch.dtype, box: Tensor, B: float) -> Tensor | None:
    """Which decays may, (1, n), by what the cell says that it keeps; None if it keeps nothing."""
    run = Run(dtype, fused=True)
    m, x = SpanArithmetic(cell.parameters, run), inputs(B, box, cell.d, run)
    if cell.kept(m, Spans(symmetric(box), run), x) is None:
        return None

    def may(states: Tensor) -> Tensor:
        gate, shut = cell.kept(m, Spans(symmetric(states), run), x)
        kept: Interval = gate.range
        if shut:
            kept = run.rounded(Interval(-add_up(-1.0, kept.high), add_up(1.0, -kept.low)))
        return ~(kept.high < 1)

    anywhere = torch.full_like(box, torch.inf)
    found = may(reached(cell.program, cell.parameters, anywhere, B, cell.d, run))
    return may(_states(cell, run, box, B)) if bool(found.any()) else found


def _states(cell: Any, run: Run, box: Tensor, B: float) -> Tensor:
    """At least |s_i| of the states as they are computed."""
    known = held(cell.program, cell.parameters, box, B, cell.d, run=run).box
    for _ in range(_ITERATES):
        if bool(torch.isfinite(known).all()):
            break
        there = reached(cell.program, cell.parameters, known, B, cell.d, run)
        known = torch.minimum(known, there)
    return known
