"""Curves: at each window k (or each N, each T), the largest left side seen, and its bound."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec

from rnnbounds.reports.records.checks.tally import Count
from rnnbounds.reports.records.number import Number, record_number

MOST_POINTS = 33
"""Points of a curve that a record keeps: 0 to 32, or so many of more, the ends among them."""
Against = Literal["k", "N", "T"]
Sides = tuple[float, float]


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of the checks at one k, N or T that had a verdict, the one with the largest left side."""

    at: Count
    lhs: Number
    rhs: Number


class Curve(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Largest left side of a form at each k, N or T, with the bound of the same check."""

    against: Against
    points: Annotated[tuple[Point, ...], msgspec.Meta(min_length=2)]


def merge_sides(*curves: Mapping[int, Sides]) -> dict[int, Sides]:
    """All together, in any order: at each place the larger left side, where these are alike with
    the smaller bound."""
    places = sorted(set().union(*curves))
    return {
        at: max(
            (curve[at] for curve in curves if at in curve), key=lambda sides: (sides[0], -sides[1])
        )
        for at in places
    }


def build_curve(against: Against, sides: Mapping[int, Sides]) -> Curve | None:
    """At most 33 points of what was seen; None where there are not two."""
    places = [
        at for at in sorted(sides) if all(map(math.isfinite, sides[at])) and min(sides[at]) > 0
    ]
    if len(places) < 2:
        return None
    points = (
        Point(at=at, lhs=record_number(sides[at][0]), rhs=record_number(sides[at][1]))
        for at in _thin_places(places)
    )
    return Curve(against=against, points=tuple(points))


def _thin_places(places: list[int]) -> Iterable[int]:
    last = len(places) - 1
    steps = min(MOST_POINTS - 1, last)
    return dict.fromkeys(places[round(step * last / steps)] for step in range(steps + 1))
