"""Extremal and special instances: the systems that theory says are worst, by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from rnnbounds.properties.attacks.attack import Attack, Case, Visit
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, find_kind, kinds_about


def extremal_specs(about: str, most: int | None = None) -> Iterator[SystemSpec]:
    """The extremal instances of a kind or of a family, of that at most so many of each kind."""
    kinds = kinds_about(about)
    if about in FAMILIES and (worst_of_all := FAMILIES[about].extremal):
        yield from worst_of_all(kinds, most)
        return
    for kind in kinds:
        yield from kind.worst()


def visit_extremal(case: Case, visit: Visit) -> None:
    """Those on which what is stated can be read; what is typed has no worst ones, but corners."""
    corners = find_kind(case.kind).corners() if case.typed else ()
    for spec in chain(corners, extremal_specs(case.kind, case.budget.worst)):
        visit(spec)


ATTACKS = (Attack("extremal", visit_extremal, share=1.0, seeded=False),)
