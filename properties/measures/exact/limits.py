"""Measures of limits of unitary networks: gaps to equivalents, relations between tanh units."""

from __future__ import annotations

from typing import Any

from flint import arb, ctx, fmpq

from rnnbounds.properties.measures.exact.rooted import (
    BLANK,
    PRECISION,
    alone,
    counted,
    each_pair,
    in_rationals,
    of,
    rooted,
)
from rnnbounds.properties.measures.measure import Opaque
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.read.numbers.sizes import Ends, float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.limits.candidates import Candidate
from rnnbounds.properties.systems.limits.planted import Planted
from rnnbounds.properties.systems.limits.sigmoid_pairs import SigmoidPair


def gap_ends(member: Any, s: int) -> Ends:
    """The sigmoid networks' gap: at least what probes see, at most what any input can do."""
    if not isinstance(member, SigmoidPair):
        return BLANK
    with ctx.workprec(PRECISION):
        (low, seen), (_, most) = float_ends(member.gap), float_ends(member.most())
    return low, max(seen, most)


def gap_ball(pair: BallPair, k: int) -> arb:
    """Enclose the sigmoid networks' gap in a ball of the current precision; else NaN."""
    member = alone(pair.batch)
    if not isinstance(member, SigmoidPair):
        return arb("nan")
    return member.ball_gap().union(member.most())


def gap_square(batch: Batch, k: int) -> fmpq | None:
    """Its square, where both networks are shown to be the same map."""
    member = alone(batch)
    return fmpq(0) if isinstance(member, SigmoidPair) and member.equal else None


def rank_ends(member: Any, s: int) -> Ends:
    """Between the minor that is found and the classes of units, which are the same functions."""
    if not isinstance(member, Planted):
        return BLANK
    return float(member.least_rank), float(member.sign_classes)


def rank_ball(pair: BallPair, k: int) -> arb:
    """Enclose the rank of the units between `rank_ends` in a ball; NaN if these are unknown."""
    low, high = rank_ends(alone(pair.batch), 0)
    return arb(low).union(arb(high)) if low <= high else arb("nan")


CELL = "the cell of activity patterns is searched for"
MAPS = "it counts functions of the inputs that are equal, or their rank"

FAST = (
    rooted("separation", of(Candidate, lambda member, s: member.separation_square), CELL),
    counted("active", Candidate, lambda member: member.active, CELL),
    counted("pattern_constant", Candidate, lambda member: member.pattern_constant, CELL),
    Opaque(
        "sigmoid_gap", in_rationals, None, each_pair(gap_ends), gap_ball, gap_square,
        reason="it is of all inputs of an interval, which probes see from below",
    ),
    Opaque(
        "sample_rank", in_rationals, None, each_pair(rank_ends), rank_ball, reason=MAPS
    ),
    counted("sign_classes", Planted, lambda member: member.sign_classes, MAPS),
    counted("equal_classes", Planted, lambda member: member.equal_classes, MAPS),
    counted("unit_count", Planted, lambda member: member.unit_count, MAPS),
    counted("analytic_rank", Planted, lambda member: member.analytic[0], MAPS),
    counted("analytic_classes", Planted, lambda member: member.analytic[1], MAPS),
)  # fmt: skip
