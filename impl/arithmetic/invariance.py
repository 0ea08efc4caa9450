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
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, Duals
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.arithmetic.roundings import Runs
from rnnbounds.impl.arithmetic.slopes import compare, stepped
from rnnbounds.impl.arithmetic.spans import SpanArithmetic, reached, reaching
from rnnbounds.impl.errors import at_least, exactly
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up

# By how much boxes are widened, so many times, and how large they may get; the proof decides,
# whatever they are.
_BITS, _ROUNDS, _MOST = (44, 32, 20, 8, 2), 6, 2.0
_COARSE = (10, 2)  # in the run of a dtype
_PRECISIONS = (128, 1280)  # the second one for angles up to the largest float64
_SHARP = 2.0**-80  # of entries of Jacobians, at which no more precision is asked for


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
        stated, moved = self.proposed[first], self.moved[first]
        worst = int((moved / stated).nan_to_num(0.0).argmax())
        side, reach = exactly(float(stated[worst])), at_least(float(moved[worst]))
        return (
            f"the cell's box() is not proved invariant: |s_{worst + 1}| ≤ {side} in it, but one "
            f"step may lead to {reach}"
        )


def held(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: float | Tensor,
    d: int,
    paired: bool = False,
    run: Runs | None = None,
) -> InvariantBox:
    """The proposed box (B, N) under inputs ‖x‖₂ ≤ B (a number or (B, 1)), as far as it is proved.

    `run`: of states as that dtype computes them.
    """
    box = torch.where(box >= 0, box, torch.inf)  # NaN and negative sizes hold nothing
    most = mul_up(_MOST, box)  # no box that is tried is larger
    turned = _turned(program, parameters, most, B, d) if paired else None
    straight = reaching(program, SpanArithmetic(parameters, run), box, B, d)

    def moved(start: Tensor) -> Tensor:
        if turned is None:
            return straight(start)
        factor, fed = turned
        size = torch.maximum(*start.chunk(2, dim=1))
        return add_up(torch.where(factor == 0, 0.0, mul_up(factor, size)), fed).repeat(1, 2)

    first = there = moved(box)
    found, open_ = torch.full_like(box, torch.inf), torch.ones_like(box[:, 0], dtype=torch.bool)
    for bits in _BITS if run is None else _COARSE:
        start, hopeful = box, open_
        for _ in range(_ROUNDS):
            there = first if start is box else moved(start)
            kept = open_ & hopeful & (there <= start).all(1)
            found = torch.where(kept[:, None], torch.minimum(start, there), found)
            open_ = open_ & ~kept
            start = torch.where(there > start, mul_up(there, 1 + 2.0**-bits), start)
            hopeful = open_ & hopeful & (start <= most).all(1)
            if not bool(hopeful.any()):
                break
        if not bool(open_.any()):
            break
    return InvariantBox(found, box, first, (torch.isfinite(box) & ~torch.isfinite(found)).any(1))


def implied(
    program: Program,
    parameters: Mapping[str, Tensor],
    told: InvariantBox,
    B: float | Tensor,
    d: int,
) -> InvariantBox:
    """Replace infinite boxes by the bound S/(1 − λ) of a contraction in max |s_i|/v_i."""
    bounded = torch.isfinite(told.box).all(1, keepdim=True)
    if bool(bounded.all()):
        return told
    smaller = compare(program, parameters, told.box, B, d).implied_box()
    proved = held(program, parameters, smaller, B, d)
    box = torch.where(bounded, told.box, torch.minimum(told.box, proved.box))
    return InvariantBox(box, told.proposed, told.moved, told.refused)


def _turned(
    program: Program, parameters: Mapping[str, Tensor], box: Tensor, B: float | Tensor, d: int
) -> tuple[Tensor, Tensor]:
    """At least ‖J_i‖₂ over the box and |φ(0, x)_i|, (B, n) each; infinite where pairs meet."""
    count, N = box.shape
    n = N // 2
    slopes = stepped(program, parameters, box, B, d).worst[:, :, :N]
    apart = torch.eye(n, dtype=torch.bool, device=box.device).repeat(2, 2)
    alone = ((slopes == 0) | apart).all(2)
    radius = torch.as_tensor(B, dtype=torch.float64).reshape(-1).expand(count).tolist()
    rows = []
    for i, (size, reach) in enumerate(zip(box.tolist(), radius, strict=True)):
        one = {name: part[i] for name, part in parameters.items()}
        rows.append(_factors(program, one, size, reach, d))
    factor = torch.tensor(rows, dtype=torch.float64, device=box.device)
    factor = torch.where(alone[:, :n] & alone[:, n:], factor, torch.inf)
    rest = reached(program, parameters, torch.zeros_like(box), B, d)
    return factor, norm_up(torch.stack(rest.chunk(2, dim=1), dim=2))


def _factors(
    program: Program, parameters: Mapping[str, Tensor], box: list[float], B: float, d: int
) -> list[float]:
    """At least ‖J_i‖₂ of one system, as precise as its angles need."""
    n, best = len(box) // 2, [math.inf] * (len(box) // 2)
    for precision in _PRECISIONS:
        with ctx.workprec(precision):
            m = Duals(Balls(parameters))
            still = arb_mat([[int(i < n), int(i >= n)] for i in range(2 * n)])
            sizes = [[arb(0, r if math.isfinite(r) else 0.0)] for r in box]
            s = Dual(Columns(sizes), Columns.of(still))
            x = Dual(Columns([[arb(0, B)]] * d), Columns.of(arb_mat(d, 2)))
            tangent = program(m, s, x).tangent.matrix.tolist()
            found = [_norm(*tangent[i], *tangent[n + i]) for i in range(n)]
            sharp = all((a * a).rad() <= _SHARP for row in tangent for a in row)
        best = [min(pair) for pair in zip(best, found, strict=True)]
        if sharp:
            break
    return best


def _norm(p: arb, q: arb, r: arb, s: arb) -> float:
    """At least ‖[p, q; r, s]‖₂: the largest row sum of JᵀJ is above its largest eigenvalue."""
    sides = [float_above(p * p + r * r), float_above(q * q + s * s)]
    with ctx.workprec(128):
        return float_above((arb(max(sides)) + abs(p * q + r * s)).sqrt())
