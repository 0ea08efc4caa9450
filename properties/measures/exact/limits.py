"""Measures of limits of unitary networks: gaps to candidates."""

from __future__ import annotations

from typing import Any

from flint import arb, ctx, fmpq

from rnnbounds.properties.measures.exact.paths import (
    PRECISION,
    UNKNOWN_ENDS,
    enclose_each_pair,
    for_members,
    is_exact,
    only_member,
    root_path,
)
from rnnbounds.properties.measures.measure import Opaque
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.read.numbers.sizes import Ends, float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.limits.candidates import UnitaryCandidate
from rnnbounds.properties.systems.limits.sigmoid import SigmoidPair


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


SEARCH_REASON = "the cell of activity patterns is searched for"
FAST = (
    root_path("separation", for_members(UnitaryCandidate, lambda member,
    s: member.separation_square), SEARCH_REASON),
    Opaque(
        "sigmoid_gap", is_exact, None, enclose_each_pair(sigmoid_gap_ends), sigmoid_gap_ball,
        sigmoid_gap_square,
        reason="it is of all inputs of an interval, which probes see from below",
    ),
)  # fmt: skip
