"""Sabotage: the attack must convict every false variant, or it could not convict a false claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from properties.attacks.budget import Budget, batch_size
from properties.attacks.hunt import Order, Quarry, hunt
from properties.attacks.shrink import shrink
from properties.attacks.table import attacks as every
from reports.records.record import Check, VariantRecord
from theory.language.printing import statement_mathml, statement_text
from theory.proof.claim import Claim, Form, Variant, prove_variant


def search_first() -> Order:
    """For a variant said to fall by one instance alone: the whole of each attack in its turn."""
    return tuple((name, 1.0) for name in every())


def quickest_first() -> Order:
    """For the others: a share of what is quickest, then the rest."""
    quick = tuple((name, attack.share) for name, attack in every().items() if attack.share)
    return (*quick, *(whole for whole in search_first() if whole not in quick))


def quarry(form: Form, variant: Variant, budget: Budget) -> Quarry:
    """A false variant of a form, to be hunted on the systems of the form."""
    statement, assumptions = variant.statement, variant.assumptions
    size = batch_size(budget, [replace(form, statement=statement, assumptions=assumptions)])
    return Quarry(variant.id, statement, assumptions, (form.about,), size)


def sabotage(
    claim: Claim, variants: Sequence[Variant], *, budget: Budget, seed: int, device: str = "cpu"
) -> tuple[VariantRecord, ...]:
    """Run the claim's own attacks and its own ledgers against its false variants."""
    told = [(variant, quarry(claim.form(variant.form), variant, budget)) for variant in variants]
    for special, order in ((False, quickest_first()), (True, search_first())):
        hunt(
            [found for variant, found in told if bool(variant.special) == special],
            label=claim.id, order=order, budget=budget, seed=seed, device=device,
        )  # fmt: skip
    return tuple(convict(claim, variant, quarry) for variant, quarry in told)


def convict(claim: Claim, variant: Variant, found: Quarry) -> VariantRecord:
    """What became of a variant: its counter-example, shrunk, and the ledger that fails."""
    counterexample: Check | None = None
    if found.spec is not None:
        counterexample = shrink(
            claim.id, variant.id, variant.statement, variant.assumptions, found.spec
        )
    ledger = prove_variant(claim, variant)
    return VariantRecord(
        id=variant.id,
        text=variant.text,
        form=variant.form,
        statement=statement_text(variant.statement),
        mathml=statement_mathml(variant.statement),
        special=variant.special if found.attack == "extremal" else None,
        convicted=found.spec is not None,
        attack=found.attack,
        systems=found.systems,
        counterexample=counterexample,
        ledger_fails=not ledger.stands,
        why="; ".join(f"{step.id}: {step.detail}" for step in ledger.failures),
    )
