"""How much each profile attacks: counts, never seconds."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from rnnbounds.properties.errors import UnknownChoiceError
from rnnbounds.properties.measures.table import needs_of
from rnnbounds.properties.systems.table import FAMILIES

TRIES = 40  # simpler systems that are looked at, where a counter-example is to be shrunk
FAMILY_SHARE = 0.22  # of the random examples, for all kinds of a family


@dataclass(frozen=True)
class Budget:
    """Examples of each attack; an example is one batch of systems with some sequences each.

    ``tries``: at how many simpler systems the shrinking of one counter-example looks, twice.
    ``worst``: how many worst instances of each kind of a family, if they are listed together;
    all for None.
    ``models``: how many of each sort the guarantees of a certificate are attacked by.
    """

    random: int
    targeted: int
    gradient: int
    ascent: int
    batch: int
    sequences: int
    tries: int = TRIES
    worst: int | None = None
    models: int = 1


PROFILES: dict[str, Budget] = {
    "quick": Budget(
        random=20, targeted=6, gradient=2, ascent=40, batch=24, sequences=12, tries=6, worst=3
    ),
    "ci": Budget(random=160, targeted=50, gradient=8, ascent=150, batch=48, sequences=26, models=2),
    "deep": Budget(
        random=4000, targeted=1000, gradient=60, ascent=400, batch=64, sequences=8, models=71
    ),
}


def profile(name: str) -> Budget:
    """The budget of a profile.

    Raises:
        UnknownChoiceError: no such profile.
    """
    if name not in PROFILES:
        raise UnknownChoiceError("profile", name, tuple(PROFILES))
    return PROFILES[name]


def examples_per_kind(kind_name: str, examples: float) -> int:
    """How many of each kind so many examples are."""
    members = FAMILIES[kind_name].members if kind_name in FAMILIES else ()
    return ceil((FAMILY_SHARE / len(members) if members else 1.0) * examples)


def batch_size(budget: Budget, names: set[str]) -> tuple[int, int]:
    """(systems, sequences) of one example, as small as the costliest of the quantities asks."""
    needs = needs_of(names)
    batch, sequences = budget.batch, budget.sequences
    scale = budget.batch / PROFILES["ci"].batch
    for systems, most_sequences in (need.efficient_size for need in needs if need.efficient_size):
        batch, sequences = max(1, round(systems * scale)), most_sequences
    for systems, most_sequences in (need.max_size for need in needs if need.max_size):
        batch, sequences = min(batch, systems), min(sequences, most_sequences)
    return batch, sequences
