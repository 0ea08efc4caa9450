"""Measures that are read exactly, member by member: roots of rationals, and counts.

The enclosure of what is a float64 is a point; of other numbers, the float64 to both sides. The
squares are the referee's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from flint import arb, ctx, fmpq

from rnnbounds.properties.measures.measure import Measure
from rnnbounds.properties.measures.readings.balls import Ends, float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

# What a member has to say of one sequence at one window; None where it has nothing to say.
Square = Callable[[Any, int, int], fmpq | None]
Ended = Callable[[Any, int, int], Ends]
M = TypeVar("M")
BLANK = (float("nan"), float("nan"))
PRECISION = 128


def of(
    kind: type[M], read: Callable[[M, int, int], fmpq | None]
) -> Callable[[Any, int, int], fmpq | None]:
    """What only members of a kind have to say."""
    return lambda member, s, k: read(member, s, k) if isinstance(member, kind) else None


def alone(batch: Batch) -> Any:
    """The member of a batch of one, None of systems that are not exact."""
    return batch.exact[0] if batch.exact else None


def each_pair(batch: Batch, ends: Ended, windows: bool = False) -> Interval:
    """The ends for every member, sequence and, if it has any, window."""
    S, K = len(batch.spec.chosen), batch.K + 1 if windows else 1
    found = np.full((2, batch.cell.batch, S, K), np.nan)
    for i, member in enumerate(batch.exact):
        for s, k in np.ndindex(S, K):
            found[:, i, s, k] = ends(member, s, k)
    return Interval(found[0], found[1])


def root_ends(square: fmpq | None) -> Ends:
    """√s in float64; nothing where it is below all floats but not 0, for ``==`` holds of enclosures
    that meet."""
    if square is None:
        return BLANK
    with ctx.workprec(PRECISION):
        ends = float_ends(arb(square).sqrt())
    return BLANK if ends[0] <= 0 < ends[1] else ends


def rooted(name: str, square: Square, windows: bool = False) -> Measure:
    """The root of a rational that each pair has, at each window if it has ``windows``."""

    def of_pair(batch: Batch, k: int) -> fmpq | None:
        return square(alone(batch), 0, k) if batch.exact else None

    def ball(batch: Batch, k: int) -> arb:
        found = of_pair(batch, k)
        return arb("nan") if found is None else arb(found).sqrt()

    return Measure(
        name,
        enclosure=lambda batch: each_pair(
            batch, lambda m, s, k: root_ends(square(m, s, k)), windows
        ),
        balls=lambda pair, k: ball(pair.batch, k),
        square=of_pair,
    )


def counted(name: str, count: Callable[[Any], int | None]) -> Measure:
    """A whole number of each member."""

    def square(member: Any, s: int, k: int) -> fmpq | None:
        found = count(member)
        return None if found is None else fmpq(found * found)

    return rooted(name, square)
