"""Pools: statements of one kind of system that ask alike of it meet the same systems.

What a pool is shown depends on the pool and the seed alone, never on who is in it: a claim that is
attacked by itself meets the systems that it meets among all the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil
from operator import attrgetter

from rnnbounds.properties.attacks.attack import Case
from rnnbounds.properties.attacks.budget import Budget, batch_size
from rnnbounds.properties.systems.table import FAMILIES, kinds_about
from rnnbounds.theory.proof.claim import Claim, Form, Variant

BLOCK_EXAMPLES = 28  # random examples that are drawn in one go
FAMILY_SHARE = 0.22  # of the random examples, for all kinds of a family


@dataclass(frozen=True)
class Pool:
    """A kind of system or a family, systems and sequences of one example, and what else the
    statements ask of it."""

    kind_name: str
    example_size: tuple[int, int]
    requirements: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name that determines the seeds and parts: systems, example size and requirements."""
        return "-".join((self.kind_name, "x".join(map(str, self.example_size)), *self.requirements))


@dataclass(frozen=True, eq=False)
class FormGroup:
    """The forms of one claim that are in one pool, and how many random examples they ask for."""

    claim: Claim
    forms: Sequence[Form]
    examples: int


def pool_for(forms: Sequence[Form], budget: Budget, sequence_factor: int = 1) -> Pool:
    """The pool of forms about one kind that are judged together, with so many times the input
    sequences where nothing asks for few."""
    kind_name, size = forms[0].about, batch_size(budget, forms)
    if size == (budget.batch, budget.sequences):
        size = budget.batch, sequence_factor * budget.sequences
    case = Case(kind_name, [form.statement for form in forms], budget, size, seed=0)
    return Pool(kind_name, size, requirement_tags(case))


def requirement_tags(case: Case) -> tuple[str, ...]:
    """List a case's requirements on drawn systems, as tags; cases with equal tags and example
    size share their systems."""
    flags = {"stepwise": case.has_single_steps} | {
        name: any(getattr(need, name) for need in case.needs) for name in ("wide", "trained")
    }
    return tuple(name for name, is_set in flags.items() if is_set)


def group_by_kind(forms: Sequence[Form]) -> Iterator[tuple[str, list[Form]]]:
    """The forms of a claim by the kind of system that they speak of."""
    about = attrgetter("about")
    for kind, group in groupby(sorted(forms, key=about), key=about):
        yield kind, list(group)


def claim_pools(claim: Claim, budget: Budget) -> dict[Pool, FormGroup]:
    """The forms of a claim by their pools."""
    pools: dict[Pool, FormGroup] = {}
    for kind, forms in group_by_kind(claim.forms):
        examples = ceil((1 if kind in FAMILIES else claim.example_factor) * budget.random)
        pools[pool_for(forms, budget, claim.sequence_factor)] = FormGroup(claim, forms, examples)
    return pools


def variant_pool(
    claim: Claim, variant: Variant, budget: Budget, pools: Mapping[Pool, FormGroup]
) -> Pool:
    """The pool of its form among the claim's, where it asks for nothing more; else its own."""
    form = claim.form(variant.form)
    false_form = replace(form, statement=variant.statement, assumptions=variant.assumptions)
    for pool, group in pools.items():
        all_forms = [*group.forms, false_form]
        if form in group.forms and pool_for(all_forms, budget, claim.sequence_factor) == pool:
            return pool
    return pool_for([false_form], budget)


def block_count(group: FormGroup, budget: Budget) -> int:
    """In how many goes the random examples of a group are drawn."""
    kind_name = group.forms[0].about
    return ceil(
        examples_per_kind(kind_name, group.examples)
        / examples_per_kind(kind_name, block_budget(budget).random)
    )


def block_budget(budget: Budget) -> Budget:
    """The budget of one go."""
    return replace(budget, random=min(BLOCK_EXAMPLES, budget.random))


def examples_per_kind(kind_name: str, examples: float) -> int:
    """How many of each kind so many examples are."""
    kinds = kinds_about(kind_name)
    share = FAMILY_SHARE / len(kinds) if kind_name in FAMILIES else 1.0
    return ceil(share * examples)
