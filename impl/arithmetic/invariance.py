"""Boxes of states: a cell proposes one, and what is used is only what is proved here.

A box |s_i| ≤ r_i holds every state that is reached from zero if one step maps it into itself for
every ‖x‖₂ ≤ B, and by induction alone. One step over the box is enclosed with outward rounding. A
box that is right may still stick out by roundings: it is then tried a little larger, and what one
step leaves of that is invariant as well. Of cells whose state is of pairs (s_i, s_{n+i}), a
rotation moves the box out of itself, and discs take its place: |s_i + i s_{n+i}| ≤ r_i is kept if
‖J_i‖₂ r_i + u_i ≤ r_i, for the 2 × 2 Jacobians J_i of the step, enclosed over the whole box (the
mean value theorem), and |φ(0, x)| ≤ u. Sources: Moore, Kearfott & Cloud, Introduction to Interval
Analysis; Rump (1999), INTLAB, for the inflation.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from flint import arb, arb_mat, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Program
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.arithmetic.interval_arithmetic import (
    IntervalArithmetic,
    step_bound,
    step_bounds,
)
from rnnbounds.impl.arithmetic.roundings import DtypeRuns
from rnnbounds.impl.arithmetic.slopes import compare_runs, step_lipschitz
from rnnbounds.impl.errors import at_least, exactly
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up

# By how much boxes are widened, so many times, and how large they may get; the proof decides,
# whatever they are.
_INFLATION_BITS, _ROUNDS, _LARGEST_FACTOR = (44, 32, 20, 8, 2), 6, 2.0
_DTYPE_INFLATION_BITS = (10, 2)  # in the run of a dtype
_STILL = 2.0**-10  # a side at least, of states that are all 0, which underflow alone moves
_PRECISIONS = (128, 1280)  # the second one for angles up to the largest float64
_ENOUGH_PRECISION = 2.0**-80  # of entries of Jacobians, at which no more precision is asked for


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
    B: float | Tensor,
    d: int,
    paired: bool = False,
    run: DtypeRuns | None = None,
) -> InvariantBox:
    """The proposed box (B, N) under inputs ‖x‖₂ ≤ B (a number or (B, 1)), as far as it is proved.

    `run`: of states as that dtype computes them.
    """
    box = torch.where(box >= 0, box, torch.inf)  # NaN and negative sizes hold nothing
    largest = mul_up(_LARGEST_FACTOR, box)  # no box that is tried is larger
    if run is not None:  # rounding moves units that stand still, as a ReLU that never opens
        sides = torch.where(torch.isfinite(box), box, 0.0).amax(1, keepdim=True).clamp(min=_STILL)
        largest = add_up(largest, mul_up(2.0 ** -_DTYPE_INFLATION_BITS[0], sides))
    disc_factors = _disc_factors(program, parameters, largest, B, d) if paired else None
    interval_step = step_bounds(program, IntervalArithmetic(parameters, run), box, B, d)

    def step_bound(start: Tensor) -> Tensor:
        if disc_factors is None:
            return interval_step(start)
        factor, drive = disc_factors
        size = torch.maximum(*start.chunk(2, dim=1))
        return add_up(torch.where(factor == 0, 0.0, mul_up(factor, size)), drive).repeat(1, 2)

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
    B: float | Tensor,
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


def _disc_factors(
    program: Program, parameters: Mapping[str, Tensor], box: Tensor, B: float | Tensor, d: int
) -> tuple[Tensor, Tensor]:
    """At least ‖J_i‖₂ over the box and |φ(0, x)_i|, (B, n) each; infinite where pairs meet."""
    count, N = box.shape
    n = N // 2
    slopes = step_lipschitz(program, parameters, box, B, d).largest_slopes[:, :, :N]
    same_pair = torch.eye(n, dtype=torch.bool, device=box.device).repeat(2, 2)
    is_separate = ((slopes == 0) | same_pair).all(2)
    radius = torch.as_tensor(B, dtype=torch.float64).reshape(-1).expand(count).tolist()
    rows = []
    for i, (size, reach) in enumerate(zip(box.tolist(), radius, strict=True)):
        system = {name: parameter[i] for name, parameter in parameters.items()}
        rows.append(_jacobian_norms(program, system, size, reach, d))
    factor = torch.tensor(rows, dtype=torch.float64, device=box.device)
    factor = torch.where(is_separate[:, :n] & is_separate[:, n:], factor, torch.inf)
    drive = step_bound(program, parameters, torch.zeros_like(box), B, d)
    return factor, norm_up(torch.stack(drive.chunk(2, dim=1), dim=2))


def _jacobian_norms(
    program: Program, parameters: Mapping[str, Tensor], box: list[float], B: float, d: int
) -> list[float]:
    """At least ‖J_i‖₂ of one system, as precise as its angles need."""
    n, best = len(box) // 2, [math.inf] * (len(box) // 2)
    for precision in _PRECISIONS:
        with ctx.workprec(precision):
            m = DualArithmetic(Balls(parameters))
            directions = arb_mat([[int(i < n), int(i >= n)] for i in range(2 * n)])
            sizes = [[arb(0, r if math.isfinite(r) else 0.0)] for r in box]
            s = Dual(Columns(sizes), Columns.of(directions))
            x = Dual(Columns([[arb(0, B)]] * d), Columns.of(arb_mat(d, 2)))
            tangent = program(m, s, x).tangent.matrix.tolist()
            norms = [_ball_norm(*tangent[i], *tangent[n + i]) for i in range(n)]
            is_precise = all((a * a).rad() <= _ENOUGH_PRECISION for row in tangent for a in row)
        best = [min(pair) for pair in zip(best, norms, strict=True)]
        if is_precise:
            break
    return best


def _ball_norm(p: arb, q: arb, r: arb, s: arb) -> float:
    """At least ‖[p, q; r, s]‖₂: the largest row sum of JᵀJ is above its largest eigenvalue."""
    squares = [float_above(p * p + r * r), float_above(q * q + s * s)]
    with ctx.workprec(128):
        return float_above((arb(max(squares)) + abs(p * q + r * s)).sqrt())
