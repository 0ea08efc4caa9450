"""Pools: statements of one kind of system that ask alike of it meet the same systems.

What a pool is shown depends on the pool and the seed alone, never on who is in it: a claim that is
attacked by itself meets the systems that it meets among all the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

from rnnbounds.properties.attacks.attack import Case
from rnnbounds.properties.attacks.budget import Budget, apart, batch_size
from rnnbounds.properties.systems.table import FAMILIES, kinds_about
from rnnbounds.theory.proof.claim import Claim, Form, Variant

BLOCK = 28  # random examples that are drawn in one go
SHARE = 0.22  # of the random examples, for all kinds of a family


@dataclass(frozen=True)
class Pool:
    """A kind of system or a family, systems and sequences of one example, and what else the
    statements ask of it."""

    about: str
    size: tuple[int, int]
    asked: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name that determines the seeds and parts: systems, example size and requirements."""
        return "-".join((self.about, "x".join(map(str, self.size)), *self.asked))


@dataclass(frozen=True, eq=False)
class Group:
    """The forms of one claim that are in one pool, and how many random examples they ask for."""

    claim: Claim
    forms: Sequence[Form]
    examples: int


def pool_of(forms: Sequence[Form], budget: Budget, breadth: int = 1) -> Pool:
    """The pool of forms about one kind that are judged together, with so many times the input
    sequences where nothing asks for few."""
    about, size = forms[0].about, batch_size(budget, forms)
    if size == (budget.batch, budget.sequences):
        size = budget.batch, breadth * budget.sequences
    case = Case(about, [form.statement for form in forms], budget, size, seed=0)
    return Pool(about, size, ("apart",) * any(map(apart, forms)) + asked(case))


def asked(case: Case) -> tuple[str, ...]:
    """List a case's requirements on drawn systems, as tags; cases with equal tags and example
    size share their systems."""
    flags = {"stepwise": case.of_single_steps} | {
        name: any(getattr(one, name) for one in case.needs)
        for name in ("wide", "trained", "rounding")
    }
    longest = {f"to-{one.longest}" for one in case.needs if one.longest}
    return (*(name for name, so in flags.items() if so), *sorted(longest))


def by_kind(forms: Sequence[Form]) -> Iterator[tuple[str, list[Form]]]:
    """The forms of a claim by the kind of system that they speak of, costly ones apart."""

    def key(form: Form) -> tuple[str, bool]:
        return form.about, apart(form)

    for (kind, _), group in groupby(sorted(forms, key=key), key=key):
        yield kind, list(group)


def pools_of(claim: Claim, budget: Budget) -> dict[Pool, Group]:
    """The forms of a claim by their pools."""
    found: dict[Pool, Group] = {}
    for kind, forms in by_kind(claim.forms):
        plain = kind in FAMILIES or apart(forms[0])
        examples = ceil((1 if plain else claim.example_factor) * budget.random)
        found[pool_of(forms, budget, claim.sequence_factor)] = Group(claim, forms, examples)
    return found


def pool_of_variant(
    claim: Claim, variant: Variant, budget: Budget, pools: Mapping[Pool, Group]
) -> Pool:
    """The pool of its form among the claim's, where it asks for nothing more; else its own."""
    form = claim.form(variant.form)
    false = replace(form, statement=variant.statement, assumptions=variant.assumptions)
    for pool, group in pools.items():
        together = [*group.forms, false]
        if form in group.forms and pool_of(together, budget, claim.sequence_factor) == pool:
            return pool
    return pool_of([false], budget)


def blocks(group: Group, budget: Budget) -> int:
    """In how many goes the random examples of a group are drawn."""
    about = group.forms[0].about
    return ceil(of_each(about, group.examples) / of_each(about, one_block(budget).random))


def one_block(budget: Budget) -> Budget:
    """The budget of one go."""
    return replace(budget, random=min(BLOCK, budget.random))


def of_each(about: str, examples: float) -> int:
    """How many of each kind so many examples are."""
    return ceil((SHARE / len(kinds_about(about)) if about in FAMILIES else 1) * examples)
