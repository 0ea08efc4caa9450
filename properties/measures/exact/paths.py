"""Measures that rational members give themselves: roots of rationals, and counts.

The enclosure of a float64 is a point; of another number, the float64s on both sides of it. The
squares serve exact decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from flint import arb, ctx, fmpq

from rnnbounds.properties.measures.measure import FastPath, Opaque
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.read.numbers.sizes import Ends, float_ends
from rnnbounds.properties.systems.batch import Batch
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
    return batch.exact[0]


def is_exact(batch: Batch) -> bool:
    """True if the members are given in rationals."""
    return bool(batch.exact)


def enclose_each_pair(ends: PairEnds) -> Callable[[Batch], Interval]:
    """Build the enclosure (B, S, 1) from the ends of each member and sequence."""

    def enclosure(batch: Batch) -> Interval:
        S = len(batch.spec.sequence_range)
        ends_by_pair = np.full((2, batch.cell.batch, S, 1), np.nan)
        for i, member in enumerate(batch.exact):
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


def count_path(name: str, kind: type[M], count: Callable[[M], int], reason: str) -> FastPath:
    """A whole number of each member of a kind."""
    return root_path(
        name, for_members(kind, lambda member, s: fmpq(int(count(member)) ** 2)), reason
    )
