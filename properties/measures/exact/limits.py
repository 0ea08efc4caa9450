"""What no unitary network can do: candidates for equivalents, and relations between tanh units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, ctx, fmpq

from rnnbounds.properties.measures.exact.rooted import (
    BLANK,
    PRECISION,
    alone,
    counted,
    each_pair,
    rooted,
)
from rnnbounds.properties.measures.measure import Measure
from rnnbounds.properties.measures.readings.balls import BallPair, Ends, float_ends
from rnnbounds.properties.measures.readings.needs import Needs
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.limits.candidates import Candidate
from rnnbounds.properties.systems.limits.planted import Planted
from rnnbounds.properties.systems.limits.sigmoid_pairs import SigmoidPair


def of_candidate(count: Callable[[Candidate], int | bool]) -> Callable[[Any], int | None]:
    """What only a candidate has."""
    return lambda member: int(count(member)) if isinstance(member, Candidate) else None


def of_planted(count: Callable[[Planted], int]) -> Callable[[Any], int | None]:
    """What only a network with planted relations has."""
    return lambda member: count(member) if isinstance(member, Planted) else None


def separation(member: Any, s: int, k: int) -> fmpq | None:
    """The square of the largest ‖y − ŷ‖ in one cell of activity patterns."""
    return member.separation_square if isinstance(member, Candidate) else None


def gap_ends(member: Any, s: int, k: int) -> Ends:
    """The sigmoid networks' gap: at least what probes see, at most what any input can do."""
    if not isinstance(member, SigmoidPair):
        return BLANK
    with ctx.workprec(PRECISION):
        (low, seen), (_, most) = float_ends(member.gap), float_ends(member.most())
    return low, max(seen, most)


def gap_ball(pair: BallPair, k: int) -> arb:
    """The same in balls of the current precision."""
    member = alone(pair.batch)
    if not isinstance(member, SigmoidPair):
        return arb("nan")
    return member.ball_gap().union(member.most())


def gap_square(batch: Batch, k: int) -> fmpq | None:
    """Its square, where both networks are shown to be the same map."""
    member = alone(batch)
    return fmpq(0) if isinstance(member, SigmoidPair) and member.equal else None


def rank_ends(member: Any, s: int, k: int) -> Ends:
    """Between the minor that is found and the classes of units, which are the same functions."""
    if not isinstance(member, Planted):
        return BLANK
    return float(member.least_rank), float(member.sign_classes)


def rank_ball(pair: BallPair, k: int) -> arb:
    """The same as a ball."""
    low, high = rank_ends(alone(pair.batch), 0, k)
    return arb(low).union(arb(high)) if low <= high else arb("nan")


FEW = Needs(most=(16, 1))

MEASURES = (
    rooted("separation", separation).needing(FEW),
    counted("active", of_candidate(lambda member: member.active)),
    counted("pattern_constant", of_candidate(lambda member: member.pattern_constant)),
    counted("scalar_W", of_candidate(lambda member: member.scalar_W)),
    Measure(
        "sigmoid_gap",
        enclosure=lambda batch: each_pair(batch, gap_ends),
        balls=gap_ball,
        square=gap_square,
        needs=FEW,
    ),
    Measure(
        "sample_rank",
        enclosure=lambda batch: each_pair(batch, rank_ends),
        balls=rank_ball,
        needs=FEW,
    ),
    counted("sign_classes", of_planted(lambda member: member.sign_classes)),
    counted("equal_classes", of_planted(lambda member: member.equal_classes)),
    counted("unit_count", of_planted(lambda member: member.unit_count)),
    counted("analytic_rank", of_planted(lambda member: member.analytic[0])),
    counted("analytic_classes", of_planted(lambda member: member.analytic[1])),
)
