"""Checks of a run: one relation, decided on one system with one input sequence; checks counted by
verdict; and curves, at each window k (or each N, each T) the largest left side and its bound."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import structs

from rnnbounds.reports.text import Number, record_number

Verdict = Literal["HOLDS", "VIOLATED", "UNDECIDED", "VACUOUS"]
MOST_POINTS = 33
"""Points of a curve that a record keeps: 0 to 32, or so many of more, the ends among them."""
Against = Literal["k", "N", "T"]
Sides = tuple[float, float]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""How many; what is beyond a machine's integer was not counted, and cannot be drawn."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all records; the fields that a class lists in `numbers` go through `number`."""

    numbers: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self.numbers:
            value = getattr(self, name)
            if value is not None:
                structs.force_setattr(self, name, record_number(value))


class Check(Record, frozen=True, kw_only=True):
    """One relation decided on one (system, input sequence) and, where it has one, one window k.

    `lhs_error` and `rhs_error` are rigorous absolute bounds; `ratio` is lhs/rhs, None where it
    says nothing (rhs = 0, a VACUOUS system).
    """

    numbers = ("lhs", "lhs_error", "rhs", "rhs_error", "ratio")

    claim: str
    form: str
    spec: dict[str, Any]
    k: Count | None
    lhs: Number
    lhs_error: Number
    rhs: Number
    rhs_error: Number
    ratio: Number | None
    verdict: Verdict
    replay: str
    explanation: str = ""


def check_identity(check: Check) -> bytes:
    """Bytes that two checks share if they differ in their form and its replay command alone."""
    without_form = structs.replace(check, form="", replay="")
    return msgspec.json.encode(without_form, order="deterministic")


class Tally(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Checks counted by verdict."""

    holds: Count = 0
    violated: Count = 0
    undecided: Count = 0
    vacuous: Count = 0

    @property
    def total(self) -> int:
        """All checks, VACUOUS ones included."""
        return self.holds + self.violated + self.undecided + self.vacuous

    def merge(self, other: "Tally") -> "Tally":
        """The tally of both parts together."""
        return Tally(
            holds=self.holds + other.holds,
            violated=self.violated + other.violated,
            undecided=self.undecided + other.undecided,
            vacuous=self.vacuous + other.vacuous,
        )


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
