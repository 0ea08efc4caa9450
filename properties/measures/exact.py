"""Measures that rational members give themselves: gaps of unitary networks to what they stand for,
and derivatives of states.

The enclosure of a float64 is a point; of another number, the float64s on both sides of it. The
squares serve exact decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from flint import arb, ctx, fmpq

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.measures.measure import BallPair, FastPath, Opaque
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.entry_carriers import BALLS
from rnnbounds.properties.read.numbers.sizes import Ends, float_ends
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.exact.candidates import UnitaryCandidate
from rnnbounds.properties.systems.exact.networks import exact_members
from rnnbounds.properties.systems.exact.sigmoid import SigmoidPair
from rnnbounds.properties.systems.exact.unitary import OrthogonalNetwork, ReluNetwork
from rnnbounds.theory.numbers.interval import Interval

# What a member has to say of one sequence; None where it has nothing to say.
PairSquare = Callable[[Any, int], fmpq | None]
PairEnds = Callable[[Any, int], Ends]
M = TypeVar("M")
UNKNOWN_ENDS = (float("nan"), float("nan"))
PRECISION = 128


def for_members(kind: type[M], read: Callable[[M, int], fmpq | None]) -> PairSquare:
    """Restrict a reading to members of one kind; it gives None for others."""
    return lambda member, s: read(member, s) if isinstance(member, kind) else None


def only_member(batch: Batch) -> Any:
    """The member of a batch of one."""
    return exact_members(batch)[0]


def is_exact(batch: Batch) -> bool:
    """True if the members are given in rationals."""
    return bool(exact_members(batch))


def has_orthogonal_matrix(batch: Batch) -> bool:
    """True if the members are networks with an orthogonal matrix."""
    return is_exact(batch) and isinstance(only_member(batch), OrthogonalNetwork)


def enclose_each_pair(ends: PairEnds) -> Callable[[Batch], Interval]:
    """Build the enclosure (B, S, 1) from the ends of each member and sequence."""

    def enclosure(batch: Batch) -> Interval:
        S = len(batch.spec.sequence_range)
        ends_by_pair = np.full((2, batch.cell.batch, S, 1), np.nan)
        for i, member in enumerate(exact_members(batch)):
            for s in range(S):
                ends_by_pair[:, i, s, 0] = ends(member, s)
        return Interval(ends_by_pair[0], ends_by_pair[1])

    return enclosure


def root_ends(square: fmpq | None) -> Ends:
    """√s in float64; nothing where it is below all floats but not 0, for ``==`` holds of enclosures
    that meet."""
    if square is None:
        return UNKNOWN_ENDS
    with ctx.workprec(PRECISION):
        ends = float_ends(arb(square).sqrt())
    return UNKNOWN_ENDS if ends[0] <= 0 < ends[1] else ends


def root_path(name: str, square: PairSquare, reason: str = "") -> FastPath:
    """The root of a rational that each pair has; opaque for a reason, if one is given."""

    def square_of_pair(batch: Batch, k: int) -> fmpq | None:
        return square(only_member(batch), 0)

    def ball(pair: BallPair, k: int) -> arb:
        pair_square = square_of_pair(pair.batch, k)
        return arb("nan") if pair_square is None else arb(pair_square).sqrt()

    enclosure = enclose_each_pair(lambda member, s: root_ends(square(member, s)))
    if reason:
        return Opaque(name, is_exact, None, enclosure, ball, square_of_pair, reason=reason)
    return FastPath(name, is_exact, None, enclosure, ball, square_of_pair)


def sigmoid_gap_ends(member: Any, s: int) -> Ends:
    """The sigmoid networks' gap: at least what probes see, at most what any input can do."""
    if not isinstance(member, SigmoidPair):
        return UNKNOWN_ENDS
    with ctx.workprec(PRECISION):
        (low, probe_high), (_, cap) = float_ends(member.probe_gap), float_ends(member.gap_bound())
    return low, max(probe_high, cap)


def sigmoid_gap_ball(pair: BallPair, k: int) -> arb:
    """Enclose the sigmoid networks' gap in a ball of the current precision; else NaN."""
    member = only_member(pair.batch)
    if not isinstance(member, SigmoidPair):
        return arb("nan")
    return member.ball_gap().union(member.gap_bound())


def sigmoid_gap_square(batch: Batch, k: int) -> fmpq | None:
    """0 if both sigmoid networks are proved to be the same map, else None."""
    member = only_member(batch)
    return fmpq(0) if isinstance(member, SigmoidPair) and member.is_equal else None


def is_state_derivative_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """True if ‖∂s_T/∂s_{T−k}‖ is at most a rational; None if the derivatives leave it open.

    If some slopes are 1 and others irrational, no ball decides that a product of norm 1 has this
    norm. Its factors do: ‖D_t V‖ ≤ 1 if V is orthogonal in rationals and all slopes are at most 1,
    as balls or as the activation's certified L_ρ.
    """
    decided = quantity.is_at_most("dh_dh", batch, bound, k)
    member = only_member(batch)
    if decided is not None or bound < 1:
        return decided
    is_orthogonal = member.V.transpose() * member.V == identity(member.V.nrows())
    if not is_orthogonal or activation(member.spec.activation).slope <= 1:
        return True if is_orthogonal else None
    world, T = quantity.cached_world(batch, BALLS), batch.spec.T
    for t in range(T - k, T):
        s, x = read(("state", ("x",), 0, t), world), read(("entry", ("x",), t + 1), world)
        from_input = world.plain.affine("weight_ih", "bias_ih", x)
        slopes = world.plain.slope(
            world.activation, from_input + world.plain.affine("weight_hh", None, s)
        )
        if not all(abs(d) <= 1 for (d,) in slopes.units):
            return None
    return True


FAST = (
    root_path("unitary_gap", for_members(ReluNetwork, ReluNetwork.gap_square)),
    root_path("similar_gap", for_members(ReluNetwork, ReluNetwork.similar_gap_square)),
    root_path(
        "separation",
        for_members(UnitaryCandidate, lambda member, s: member.separation_square),
        "the cell of activity patterns is searched for",
    ),
    Opaque(
        "sigmoid_gap", is_exact, None, enclose_each_pair(sigmoid_gap_ends), sigmoid_gap_ball,
        sigmoid_gap_square,
        reason="it is of all inputs of an interval, which probes see from below",
    ),
    FastPath("dh_dh", has_orthogonal_matrix, is_at_most=is_state_derivative_at_most),
)  # fmt: skip
