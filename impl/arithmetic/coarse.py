"""How many decays of a cell may round to 1 when it is run in a dtype, which keeps states for ever.

What a unit keeps of itself is enclosed as the dtype computes it, over all inputs ‖x‖₂ ≤ B and over
all states that the computed run can have: the rounding of W x + b counts, and that of σ. A kernel
may leave out roundings, or do them. Source: Higham, Accuracy and Stability, sections 2 and 3.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Program, Rows
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.invariance import held
from rnnbounds.impl.arithmetic.roundings import Runs
from rnnbounds.impl.arithmetic.spans import SpanArithmetic, reached, reaching
from rnnbounds.impl.numbers.outward import add_up

Dtypes = Sequence[torch.dtype]
DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
_ITERATES = 4


def rounds_to_one(cell: Any, box: Tensor, B: float) -> dict[str, int]:
    """How many decays of the one cell of a batch of one may round to 1, or are no number, by dtype.

    box: that of the real states (1, N). Empty for cells that keep nothing as it is.
    """
    found = cell.at_one(DTYPES, box, B)
    if found is None:
        return {}
    names = (str(dtype).removeprefix("torch.") for dtype in DTYPES)
    return dict(zip(names, found.sum(1).tolist(), strict=True))


def at_one(cell: Any, dtypes: Dtypes, box: Tensor, B: float) -> Tensor | None:
    """Which decays may in each of the dtypes, (dtypes, n), by what the cell says that it keeps;
    None if it keeps nothing."""
    rest = (Rows(box.new_zeros(1, 1, size)) for size in (box.shape[1], cell.d))
    if cell.kept(Floats(cell.parameters), *rest) is None:
        return None
    found = _may(cell, dtypes, torch.full_like(box, torch.inf), B, reached)
    rows = found.any(1).nonzero()[:, 0]
    if len(rows):
        found[rows] = _may(cell, [dtypes[row] for row in rows], box, B, _states)
    return found


def repeated(parameters: Mapping[str, Tensor], count: int) -> dict[str, Tensor]:
    """The parameters of a batch of one, for so many systems that are alike."""
    return {name: part.expand(count, *part.shape[1:]) for name, part in parameters.items()}


def _may(cell: Any, dtypes: Dtypes, box: Tensor, B: float, states: Callable[..., Tensor]) -> Tensor:
    """Which decays may on the states that a box leads to, a dtype a system of one batch."""
    run, wide = Runs(tuple(dtypes), fused=True), box.expand(len(dtypes), -1)
    weights = repeated(cell.parameters, len(dtypes))
    there = states(cell.program, weights, wide, B, cell.d, run)
    m = SpanArithmetic(weights, run)
    gate, shut = cell.kept(m, m.box(there), m.inputs(B, wide, cell.d))
    kept: Interval = gate.range
    if shut:
        kept = run.rounded(Interval(-add_up(-1.0, kept.high), add_up(1.0, -kept.low)))
    return ~(kept.high < 1)


def _states(
    program: Program, weights: Mapping[str, Tensor], box: Tensor, B: float, d: int, run: Runs
) -> Tensor:
    """At least |s_i| of the states as they are computed."""
    known = held(program, weights, box, B, d, run=run).box
    moved = reaching(program, SpanArithmetic(weights, run), box, B, d)
    for _ in range(_ITERATES):
        bounded = torch.isfinite(known).all(1, keepdim=True)
        if bool(bounded.all()):
            break
        known = torch.where(bounded, known, torch.minimum(known, moved(known)))
    return known
