"""Bases of forms in words, for tables and for sentences, and how many forms have each.

A form that is `derived` follows from hypotheses alone, `inclusion assumed` also from the assumption
that computed sets are enclosures, and `restates` is an assumption itself, so that only the attack
supports it. Older records say that a form is `proved`, and not how.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from rnnbounds.reports.words import plural

Basis = Literal["", "derived", "inclusion assumed", "restates"]
Standing = Literal["derived", "inclusion assumed", "restates", "proved", "not proved"]
STANDINGS: tuple[Standing, ...] = (
    "derived", "inclusion assumed", "restates", "proved", "not proved",
)  # fmt: skip
SENTENCES: dict[Standing, tuple[str, str]] = {  # of one form, of several
    "inclusion assumed": ("derived from an assumed inclusion",) * 2,
    "restates": (
        "restates an assumption and rests on the attack",
        "restate an assumption and rest on the attack",
    ),
}


def count_bases(standings: Iterable[Standing]) -> dict[Standing, int]:
    """How many there are of each, the best first; what none has is left out."""
    all_standings = tuple(standings)
    return {
        standing: all_standings.count(standing)
        for standing in STANDINGS
        if standing in all_standings
    }


def count_derived(counts: Mapping[Standing, int]) -> int:
    """How many rest on nothing but hypotheses, as far as the record says."""
    return counts.get("derived", 0) + counts.get("proved", 0)


def basis_summary(counts: Mapping[Standing, int]) -> str:
    """For a table: `derived`, or `4 derived, 3 inclusion assumed`."""
    if not counts:
        return "not proved"
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{number} {standing}" for standing, number in counts.items())


def basis_phrase(standing: Standing, number: int = 1) -> str:
    """For a sentence: `derived from an assumed inclusion`."""
    singular, several = SENTENCES.get(standing, (standing, standing))
    return singular if number == 1 else several


def basis_sentence(counts: Mapping[Standing, int]) -> str:
    """`7 forms: 4 derived, 3 derived from an assumed inclusion`."""
    parts = (f"{number} {basis_phrase(standing, number)}" for standing, number in counts.items())
    return f"{plural(sum(counts.values()), 'form')}: {', '.join(parts)}"
