"""Ledgers that Hypothesis draws prove nothing false; holes that the engine had it finds.

A ledger is drawn in a model: what is granted is true there, and the goal is false. Every step that
is proved, of those between too, must be true at all points that are looked at. Batches of ledgers
share a model, so that an example is many ledgers. `DRAWN_LEDGERS=100000` draws that many, where
a rule of the kernel is changed.
"""

import os
from collections import Counter
from math import ceil

import pytest
from drawn_ledgers.families.inductions import inductions
from drawn_ledgers.families.meanings import definitions
from drawn_ledgers.families.names import alike, constants, quantified
from drawn_ledgers.families.numbers import identities
from drawn_ledgers.families.vectors import inverses, laws
from drawn_ledgers.faults import FAULTS, planted
from drawn_ledgers.ledgers import BATCH, SEEDS, attacked, batch, outcome
from drawn_ledgers.said import Family
from hypothesis import HealthCheck, Phase, given, settings

MANY = int(os.environ.get("DRAWN_LEDGERS", "900"))
TWINS = 50  # in a hundred that are true by their making, so many are proved
ENOUGH = 2000  # ledgers: in fewer each planted fault is found
# The family of ledgers that each fault is looked for in.
SHOWN_BY: dict[str, Family] = {
    "operators have inverses": inverses,
    "what is seen is all": laws,
    "parts are not asked": inductions,
    "logarithms are split": identities,
    "a recursion counts anywhere": definitions,
    "anything is a variable": quantified,
    "what is written alike is equal": alike,
    "what an axiom speaks of is forgotten": constants,
}
FAMILIES = tuple(dict.fromkeys(SHOWN_BY.values()))
QUIET = settings(phases=(Phase.generate,), suppress_health_check=list(HealthCheck), deadline=None)


def drawn(family: Family, ledgers: int) -> tuple[Counter[str], list[str]]:
    """How many were drawn, of true ones and proved ones too, and what falsehoods were proved."""
    seen, holes, known = Counter[str](), list[str](), set[int]()

    @settings(QUIET, max_examples=ceil(ledgers / BATCH))
    @given(SEEDS)
    def attack(seed: int) -> None:
        for one in batch(seed, family):
            proved, hole = outcome(one)
            known.add(hash((one.steps, one.goal, one.granted)))
            seen.update({"all": 1, "true": one.said.true, "proved": one.said.true and proved})
            holes.extend([f"{hole}: {one}"] if hole else [])

    with attacked():
        attack()
    return seen | Counter(distinct=len(known)), holes


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_nothing_false_is_proved(family: Family) -> None:
    """Of true statements that are drawn alike many are proved."""
    wanted = ceil(MANY / len(FAMILIES))
    seen, holes = drawn(family, wanted)
    print(dict(seen), wanted)
    assert not holes
    assert seen["all"] >= wanted
    assert 100 * seen["proved"] >= TWINS * seen["true"]


class FoundError(Exception):
    """A falsehood was proved."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_each_hole_is_found(fault: str) -> None:
    """With a fault of before planted the same draws prove something false."""

    @settings(QUIET, max_examples=ENOUGH // BATCH)
    @given(SEEDS)
    def attack(seed: int) -> None:
        for one in batch(seed, SHOWN_BY[fault]):
            if hole := outcome(one)[1]:
                raise FoundError(f"{hole}: {one}")

    with planted(fault), attacked(), pytest.raises(FoundError):
        attack()
