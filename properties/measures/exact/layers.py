"""Deep transitions and stacks of layers, in rationals where ρ is piecewise linear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.measures.exact.derivatives import matrix_norm, norm_square
from rnnbounds.properties.measures.exact.rooted import (
    BLANK,
    PRECISION,
    alone,
    each_pair,
    of,
    root_ends,
    rooted,
)
from rnnbounds.properties.measures.measure import Measure
from rnnbounds.properties.measures.readings.balls import BallPair, Ends, float_ends, length
from rnnbounds.properties.measures.runs.gaps import Gap, Gaps
from rnnbounds.properties.systems.layered.stack import Stack
from rnnbounds.properties.systems.layered.transition import Layered
from rnnbounds.properties.systems.unitary.exact import minus, square

Value = Callable[[Stack, int, int], fmpq]


def step_gap(member: Layered, s: int) -> list[Any]:
    """φ(h, x) − φ(h', x), the units; one that sees no difference has none."""
    x, h = member.x[s][0], member.column(member.h[s])
    if member.rational:
        moved = member.step(h, x) - member.step(member.column(member.h_other[s]), x)
    else:
        apart, fed = member.column(minus(member.h[s], member.h_other[s])), member.column(x)
        program = member.cell.program
        moved = program(Gaps(member.numbers), Gap(h, apart), Gap(fed, fed - fed)).gap
    return [v for (v,) in moved.units]


def step_square(member: Any, s: int) -> fmpq | None:
    """‖φ(h, x) − φ(h', x)‖₂², where it is rational."""
    if not isinstance(member, Layered) or not member.rational:
        return None
    return square(step_gap(member, s))


def step_ends(member: Any, s: int, k: int) -> Ends:
    """Float64 ends of the norm."""
    if not isinstance(member, Layered):
        return BLANK
    found = step_square(member, s)
    if found is not None:
        return root_ends(found)
    with ctx.workprec(PRECISION):
        return float_ends(length(step_gap(member, s)))


def step_ball(pair: BallPair, k: int) -> arb:
    """The norm in balls at the current precision."""
    member = alone(pair.batch)
    return (
        length([arb(v) for v in step_gap(member, 0)]) if isinstance(member, Layered) else arb("nan")
    )


def jacobian(member: Any, s: int, k: int) -> fmpq_mat | arb_mat | None:
    """∂h_T/∂h_{T−k} of a deep transition."""
    return member.jacobian(s, k) if isinstance(member, Layered) else None


def of_isometry(J: fmpq_mat | arb_mat) -> fmpq | None:
    """‖J‖₂² where it is known in rationals, of multiples of isometries too."""
    if not isinstance(J, fmpq_mat):
        return None
    gram = J.transpose() * J
    scaled = gram == gram[0, 0] * identity(J.ncols())
    return gram[0, 0] if scaled else norm_square(J)


def pair_square(member: Layered, s: int, k: int) -> fmpq:
    """‖h − h'‖₂²."""
    return square(minus(member.h[s], member.h_other[s]))


def of_stack(name: str, value: Value, windows: bool = False) -> Measure:
    """A rational that only a stack has."""
    return rooted(name, of(Stack, lambda m, s, k: value(m, s, k) ** 2), windows)


MEASURES = (
    Measure(
        "deep_gap",
        enclosure=lambda batch: each_pair(batch, step_ends),
        balls=step_ball,
        square=lambda batch, k: step_square(alone(batch), 0),
    ),
    rooted("deep_state_gap", of(Layered, pair_square)),
    matrix_norm("dh_dh_deep", jacobian, of_isometry),
    of_stack("stack_gap", lambda m, s, k: m.stack_gap(s, 1)),
    of_stack("stack_state_gap", lambda m, s, k: m.stack_gap(s, 0)),
    of_stack("top_gap", lambda m, s, k: m.layer_gap(s, m.spec.T, 1)),
    of_stack("low_start", lambda m, s, k: m.layer_gap(s, 0, 0)),
    of_stack("top_start", lambda m, s, k: m.layer_gap(s, 0, 1)),
    of_stack("top_memory", lambda m, s, k: m.top_memory(s, k), windows=True),
    of_stack("low_before", lambda m, s, k: m.layer_before(s, k, 0), windows=True),
    of_stack("top_before", lambda m, s, k: m.layer_before(s, k, 1), windows=True),
)
