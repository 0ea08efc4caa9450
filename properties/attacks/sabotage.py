"""Sabotage: the attack must refute every false variant, or it could not refute a false claim.

Variants ride: they are judged on the first systems that the forms of their pool are shown. Those
that no random system of these brings down are hunted by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from rnnbounds.properties.attacks.budget import TRIES, Budget, batch_size
from rnnbounds.properties.attacks.campaign import Observer, attack_forms
from rnnbounds.properties.attacks.hunt import Order, Target, falsify
from rnnbounds.properties.attacks.pool import Pool, of_each, pool_of_variant, pools_of
from rnnbounds.properties.attacks.shrink import shrink
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.judging.judge import Judgement
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.reports.records.record import Check, VariantRecord
from rnnbounds.theory.language.printing import statement_mathml, statement_text
from rnnbounds.theory.proof.claim import Claim, Form, Variant, prove_variant


def ridden() -> str:
    """The attack on whose first systems variants ride."""
    return next(name for name, attack in every().items() if attack.drawn)


def search_first() -> Order:
    """For a variant said to fall by one instance alone: the whole of each attack in its turn."""
    return tuple((name, 1.0) for name in every())


def quickest_first() -> Order:
    """For the others: a share of what is quickest, but for what they rode on, then the rest."""
    quick = [(name, attack.share) for name, attack in every().items() if attack.share]
    quick = [part for part in quick if part[0] != ridden()]
    return (*quick, *(whole for whole in search_first() if whole not in quick))


def target_of(form: Form, variant: Variant, budget: Budget) -> Target:
    """A false variant of a form, to be hunted on the systems of the form."""
    statement, assumptions = variant.statement, variant.assumptions
    size = batch_size(budget, [replace(form, statement=statement, assumptions=assumptions)])
    return Target(variant.id, statement, assumptions, (form.about,), size)


@dataclass(frozen=True, eq=False)
class VariantGroup:
    """The false variants of one claim that are in one pool."""

    claim: Claim
    told: Sequence[tuple[Variant, Target]]

    def rider(self, pool: Pool, budget: Budget) -> Observer:
        """Build the observer that judges the variants on shared batches until all are refuted."""
        share = every()[ridden()].share

        def judged(batch: Batch) -> list[Judgement]:
            return [one.judged(batch, ridden(), None) for _, one in self.told if one.stands]

        group = pools_of(self.claim, budget).get(pool)
        statements = [form.statement for form in group.forms] if group else []
        return Observer(
            [*statements, *(one.statement for _, one in self.told)],
            judged, of_each(pool.about, share * budget.random),
            lambda: not any(one.stands for _, one in self.told),
        )  # fmt: skip

    def driven(self, *, budget: Budget, seed: int, device: str) -> tuple[VariantRecord, ...]:
        """Attack the variants not yet refuted, each alone; return the records of all variants."""
        for special, order in ((False, quickest_first()), (True, search_first())):
            standing = [
                one for variant, one in self.told
                if one.stands and bool(variant.special) == special
            ]  # fmt: skip
            falsify(
                standing, label=self.claim.id, order=order, budget=budget, seed=seed, device=device
            )
        return tuple(refute(self.claim, variant, one, budget.tries) for variant, one in self.told)


def variant_groups(
    claim: Claim, variants: Sequence[Variant], budget: Budget
) -> dict[Pool, VariantGroup]:
    """False variants of a claim by the pools in which they ride."""
    found: dict[Pool, list[tuple[Variant, Target]]] = {}
    pools = pools_of(claim, budget)
    for variant in variants:
        pool = pool_of_variant(claim, variant, budget, pools)
        told = (variant, target_of(claim.form(variant.form), variant, budget))
        found.setdefault(pool, []).append(told)
    return {pool: VariantGroup(claim, told) for pool, told in found.items()}


def sabotage(
    claim: Claim, variants: Sequence[Variant], *, budget: Budget, seed: int, device: str = "cpu"
) -> tuple[VariantRecord, ...]:
    """Run the claim's own attacks against its false variants."""
    found: dict[str, VariantRecord] = {}
    for pool, herd in variant_groups(claim, variants, budget).items():
        rider = herd.rider(pool, budget)
        attack_forms(pool, ridden(), [], [rider], budget=budget, seed=seed, device=device)
        records = herd.driven(budget=budget, seed=seed, device=device)
        found |= {record.id: record for record in records}
    return tuple(found[variant.id] for variant in variants)


def refute(claim: Claim, variant: Variant, found: Target, tries: int = TRIES) -> VariantRecord:
    """Record the outcome of attacking a false variant, with its shrunk counter-example if any."""
    counterexample: Check | None = None
    if found.spec is not None:
        counterexample = shrink(
            claim.id, variant.id, variant.statement, variant.assumptions, found.spec, tries
        )
    return VariantRecord(
        id=variant.id,
        text=variant.text,
        form=variant.form,
        statement=statement_text(variant.statement),
        mathml=statement_mathml(variant.statement),
        special=variant.special if found.attack == "extremal" else None,
        convicted=counterexample is not None,
        attack=found.attack,
        systems=found.systems,
        counterexample=counterexample,
        ledger_fails=False,  # before one was run against it
    )


class Refused(NamedTuple):
    """Outcome of a form's proof applied to its false variant: True if it fails, and the reason."""

    fails: bool
    why: str


def refused(claim: Claim, variant: Variant) -> Refused:
    """The form's own ledger, run against the variant."""
    ledger = prove_variant(claim, variant)
    return Refused(
        not ledger.stands, "; ".join(f"step '{step.id}': {step.detail}" for step in ledger.failures)
    )


def recorded(
    claim: Claim, fallen: Mapping[str, VariantRecord], proofs: Mapping[str, Refused]
) -> tuple[VariantRecord, ...]:
    """Add the outcomes of proofs to the records of a claim's attacked variants; an untried proof
    counts as not failing."""
    untried = Refused(fails=False, why="")
    met = [(v.id, proofs.get(v.id, untried)) for v in claim.false_variants if v.id in fallen]
    return tuple(
        msgspec.structs.replace(fallen[id], ledger_fails=proof.fails, why=proof.why)
        for id, proof in met
    )
