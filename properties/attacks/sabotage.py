"""Sabotage: the attack must refute every false variant, or it could not refute a false claim."""

from __future__ import annotations

from dataclasses import replace

from rnnbounds.properties.attacks.attack import attacks as every
from rnnbounds.properties.attacks.budget import TRIES, Budget, batch_size
from rnnbounds.properties.attacks.falsify import Target, falsify
from rnnbounds.properties.attacks.shrink import shrink
from rnnbounds.properties.judging.judge import form_quantities
from rnnbounds.reports.records.checks import Check
from rnnbounds.reports.records.record import VariantRecord
from rnnbounds.theory.language.printing import statement_mathml, statement_text
from rnnbounds.theory.proof.claim import Claim, Form, Variant, prove_variant


def variant_target(form: Form, variant: Variant, budget: Budget) -> Target:
    """A false variant of a form, to be refuted on the systems of the form."""
    statement, assumptions = variant.statement, variant.assumptions
    names = form_quantities(replace(form, statement=statement, assumptions=assumptions))
    size = batch_size(budget, names)
    return Target(variant.id, statement, assumptions, (form.about,), size)


def attack_variants(
    claim: Claim, *, budget: Budget, seed: int, device: str = "cpu"
) -> tuple[VariantRecord, ...]:
    """Attack the false variants of a claim until each is refuted, and put them to its proofs."""
    targets = [
        variant_target(claim.form(variant.form), variant, budget)
        for variant in claim.false_variants
    ]
    # A share of what is quickest, then the whole of each attack.
    quick = [(name, attack.share) for name, attack in every().items() if attack.share]
    order = (*quick, *((name, 1.0) for name in every() if (name, 1.0) not in quick))
    falsify(targets, label=claim.id, order=order, budget=budget, seed=seed, device=device)
    return tuple(
        record_variant(claim, variant, target, budget.tries)
        for variant, target in zip(claim.false_variants, targets, strict=True)
    )


def record_variant(
    claim: Claim, variant: Variant, target: Target, tries: int = TRIES
) -> VariantRecord:
    """Record the outcome of attacking a false variant, with its shrunk counter-example if any, and
    what the form's own ledger says of it."""
    counterexample: Check | None = None
    if target.spec is not None:
        counterexample = shrink(
            claim.id, variant.id, variant.statement, variant.assumptions, target.spec, tries
        )
    ledger = prove_variant(claim, variant)
    return VariantRecord(
        id=variant.id,
        text=variant.text,
        form=variant.form,
        statement=statement_text(variant.statement),
        mathml=statement_mathml(variant.statement),
        convicted=counterexample is not None,
        attack=target.attack,
        systems=target.systems,
        counterexample=counterexample,
        ledger_fails=not ledger.proved,
        why="; ".join(f"step '{step.id}': {step.detail}" for step in ledger.failures),
    )
