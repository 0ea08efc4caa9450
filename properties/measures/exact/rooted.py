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
Square = Callable[[Any, int], fmpq | None]
Ended = Callable[[Any, int], Ends]
M = TypeVar("M")
BLANK = (float("nan"), float("nan"))
PRECISION = 128


def of(kind: type[M], read: Callable[[M, int], fmpq | None]) -> Square:
    """Restrict a reading to members of one kind; it gives None for others."""
    return lambda member, s: read(member, s) if isinstance(member, kind) else None


def alone(batch: Batch) -> Any:
    """The member of a batch of one."""
    return batch.exact[0]


def in_rationals(batch: Batch) -> bool:
    """True if the members are given in rationals."""
    return bool(batch.exact)


def each_pair(ends: Ended) -> Callable[[Batch], Interval]:
    """The ends for every member and sequence."""

    def enclosure(batch: Batch) -> Interval:
        S = len(batch.spec.chosen)
        found = np.full((2, batch.cell.batch, S, 1), np.nan)
        for i, member in enumerate(batch.exact):
            for s in range(S):
                found[:, i, s, 0] = ends(member, s)
        return Interval(found[0], found[1])

    return enclosure


def root_ends(square: fmpq | None) -> Ends:
    """√s in float64; nothing where it is below all floats but not 0, for ``==`` holds of enclosures
    that meet."""
    if square is None:
        return BLANK
    with ctx.workprec(PRECISION):
        ends = float_ends(arb(square).sqrt())
    return BLANK if ends[0] <= 0 < ends[1] else ends


def rooted(name: str, square: Square, reason: str = "") -> FastPath:
    """The root of a rational that each pair has; opaque for a reason, if one is given."""

    def of_pair(batch: Batch, k: int) -> fmpq | None:
        return square(alone(batch), 0)

    def ball(pair: BallPair, k: int) -> arb:
        found = of_pair(pair.batch, k)
        return arb("nan") if found is None else arb(found).sqrt()

    enclosure = each_pair(lambda member, s: root_ends(square(member, s)))
    if reason:
        return Opaque(name, in_rationals, None, enclosure, ball, of_pair, reason=reason)
    return FastPath(name, in_rationals, None, enclosure, ball, of_pair)


def counted(name: str, kind: type[M], count: Callable[[M], int], reason: str) -> FastPath:
    """A whole number of each member of a kind."""
    return rooted(name, of(kind, lambda member, s: fmpq(int(count(member)) ** 2)), reason)
