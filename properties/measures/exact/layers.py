"""Deep transitions and stacks of layers, in rationals where ρ is piecewise linear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from impl.numbers.exact_norm import ball_norm
from impl.numbers.rationals import identity
from properties.measures.exact.derivatives import at_most, norm_ends, norm_square
from properties.measures.exact.rooted import BLANK, PRECISION, each_pair, root_ends, rooted
from properties.measures.measure import Measure
from properties.measures.readings.balls import BallPair, Ends, float_ends, length
from properties.systems.batch import Batch
from properties.systems.layered.stack import Stack
from properties.systems.layered.transition import Layered
from properties.systems.unitary.exact import minus, square

Value = Callable[[Stack, int, int], fmpq]


def step_square(member: Any, s: int) -> fmpq | None:
    """‖φ(h, x) − φ(h', x)‖₂², where it is rational."""
    if not isinstance(member, Layered) or not member.rational:
        return None
    return square(member.gap(s))


def step_ends(member: Any, s: int, k: int) -> Ends:
    """Float64 ends of the norm."""
    if not isinstance(member, Layered):
        return BLANK
    found = step_square(member, s)
    if found is not None:
        return root_ends(found)
    with ctx.workprec(PRECISION):
        return float_ends(length(member.gap(s)))


def step_ball(pair: BallPair, k: int) -> arb:
    """The norm in balls at the current precision."""
    member = alone(pair.batch)
    return length([arb(v) for v in member.gap(0)]) if isinstance(member, Layered) else arb("nan")


def jacobian(member: Any, k: int, s: int = 0) -> fmpq_mat | arb_mat | None:
    """∂h_T/∂h_{T−k} of a deep transition."""
    return member.jacobian(s, k) if isinstance(member, Layered) else None


def of_isometry(J: fmpq_mat | arb_mat | None) -> fmpq | None:
    """‖J‖₂² where it is known in rationals, of multiples of isometries too."""
    if not isinstance(J, fmpq_mat):
        return None
    gram = J.transpose() * J
    scaled = gram == gram[0, 0] * identity(J.ncols())
    return gram[0, 0] if scaled else norm_square(J)


def gradient_ends(member: Any, s: int, k: int) -> Ends:
    """Float64 ends of ‖∂h_T/∂h_{T−k}‖₂."""
    with ctx.workprec(PRECISION):
        J = jacobian(member, k, s)
        known = of_isometry(J)
        return BLANK if J is None else norm_ends(J) if known is None else root_ends(known)


def gradient_ball(pair: BallPair, k: int) -> arb:
    """The norm in balls at the current precision."""
    J = jacobian(alone(pair.batch), k)
    return arb("nan") if J is None else ball_norm(arb_mat(J))


def gradient_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """Whether the norm is at most a rational, where the derivatives are rational."""
    J = jacobian(alone(batch), k)
    return at_most(J, bound) if isinstance(J, fmpq_mat) else None


def alone(batch: Batch) -> Any:
    """The member of a batch of one."""
    return batch.exact[0] if batch.exact else None


def pair_square(member: Any, s: int, k: int) -> fmpq | None:
    """‖h − h'‖₂²."""
    known = isinstance(member, Layered)
    return square(minus(member.h[s], member.h_other[s])) if known else None


def of_stack(name: str, value: Value, windows: bool = False) -> Measure:
    """A rational that only a stack has."""

    def of_member(member: Any, s: int, k: int) -> fmpq | None:
        return value(member, s, k) ** 2 if isinstance(member, Stack) else None

    return rooted(name, of_member, windows)


MEASURES = (
    Measure(
        "deep_gap",
        enclosure=lambda batch: each_pair(batch, step_ends),
        balls=step_ball,
        square=lambda batch, k: step_square(alone(batch), 0),
    ),
    rooted("deep_state_gap", pair_square),
    Measure(
        "dh_dh_deep",
        enclosure=lambda batch: each_pair(batch, gradient_ends, windows=True),
        balls=gradient_ball,
        square=lambda batch, k: of_isometry(jacobian(alone(batch), k)),
        at_most=gradient_at_most,
    ),
    of_stack("stack_gap", lambda m, s, k: m.stack_gap(s, 1)),
    of_stack("stack_state_gap", lambda m, s, k: m.stack_gap(s, 0)),
    of_stack("top_gap", lambda m, s, k: m.layer_gap(s, m.spec.T, 1)),
    of_stack("low_start", lambda m, s, k: m.layer_gap(s, 0, 0)),
    of_stack("top_start", lambda m, s, k: m.layer_gap(s, 0, 1)),
    of_stack("top_memory", lambda m, s, k: m.top_memory(s, k), windows=True),
    of_stack("low_before", lambda m, s, k: m.layer_before(s, k, 0), windows=True),
    of_stack("top_before", lambda m, s, k: m.layer_before(s, k, 1), windows=True),
)
