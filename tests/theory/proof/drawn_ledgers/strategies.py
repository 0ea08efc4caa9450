"""Batches of ledgers on one model, drawn by Hypothesis: a seed a batch.

Choice by choice Hypothesis would draw most ledgers several times, small ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

from drawn_ledgers.ledgers import Ledger, granted, ledger
from drawn_ledgers.models import model
from drawn_ledgers.said import Family

T = TypeVar("T")
BATCH, MOST = 20, 4
# Of booleans: into integers Hypothesis mixes constants of whatever modules are loaded.
SEED_BITS = 32


@dataclass(frozen=True)
class Seeded:
    """Choices by the generator of a seed."""

    random: Random

    def one(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.random.randrange(len(options))]


class Batch(tuple[Ledger, ...]):
    """Ledgers, which Hypothesis need not print."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{len(self)} ledgers"


def batch(random: Random, families: Sequence[Family]) -> Batch:
    """Ledgers on one model, which meets what is granted."""
    chance = Seeded(random)
    drawn = model(chance)
    known = granted(chance, drawn)
    found = (ledger(chance, drawn, known, families) for _ in range(MOST * BATCH))
    return Batch(islice((one for one in found if one is not None), BATCH))


def batches(*families: Family) -> st.SearchStrategy[Batch]:
    """Batches of these families."""
    bits = st.tuples(*[st.booleans()] * SEED_BITS)
    return bits.map(lambda drawn: batch(Random(sum(b << i for i, b in enumerate(drawn))), families))
