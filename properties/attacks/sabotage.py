"""Sabotage: the attack must convict every false variant, or it could not convict a false claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from properties.attacks.attack import Enough
from properties.attacks.budget import Budget, batch_size
from properties.attacks.campaign import derived_seed, show
from properties.attacks.shrink import shrink
from properties.attacks.table import attacks as every
from properties.judging.judge import Judgement, Patience, Verdict
from properties.systems.batch import Batch
from properties.systems.spec import SystemSpec
from reports.records.record import Check, VariantRecord
from theory.language.printing import statement_mathml, statement_text
from theory.proof.claim import Assumption, Claim, Form, Statement, Variant, prove_variant

# Attacks with the share of their random budget.
Order = Sequence[tuple[str, float]]


@dataclass
class Hunt:
    """The first violation of a statement, and what was seen before it."""

    systems: int = 0
    holds: int = 0
    undecided: int = 0
    attack: str | None = None
    spec: SystemSpec | None = None

    def seen(self, batch: Batch, judged: Sequence[Judgement]) -> None:
        """Count a judged batch; raises Enough at its first violation."""
        (judgement,) = judged
        self.holds += int((judgement.verdicts == Verdict.HOLDS).sum())
        self.undecided += int((judgement.verdicts == Verdict.UNDECIDED).sum())
        bad = judgement.verdicts == Verdict.VIOLATED
        if bad.any():
            i, s, _ = (int(v) for v in np.argwhere(bad)[0])
            self.systems += i + 1
            self.spec = batch.spec.alone(batch.spec.members[i], s)
            raise Enough
        self.systems += batch.cell.batch


def hunt(
    statement: Statement, assumptions: tuple[Assumption, ...], kinds: Sequence[str],
    forms: Sequence[Form],
    *, budget: Budget, attacks: Order, seed: int, label: str, device: str = "cpu",
    patience: Patience | None = None,
) -> Hunt:  # fmt: skip
    """Attack a statement until it falls."""
    found = Hunt()
    for attack, share in attacks:
        for kind in kinds:
            part = () if share == 1 else (f"{share:g} of it",)
            show(
                attack, kind, [(statement, assumptions)], found.seen, budget=budget,
                size=batch_size(budget, forms), seed=derived_seed(seed, label, attack, kind, *part),
                factor=share, device=device, patience=patience,
            )  # fmt: skip
            if found.spec is not None:
                found.attack = attack
                return found
    return found


def search_first() -> Order:
    """For a variant said to fall by one instance alone: the whole of each attack in its turn."""
    return tuple((name, 1.0) for name in every())


def quickest_first() -> Order:
    """For the others: a share of what is quickest, then the rest."""
    quick = tuple((name, attack.share) for name, attack in every().items() if attack.share)
    return (*quick, *(whole for whole in search_first() if whole not in quick))


def stand_in(form: Form, variant: Variant) -> Form:
    """The form with the variant's statement in its place: for what the budget asks of a form."""
    return replace(form, statement=variant.statement, assumptions=variant.assumptions)


def sabotage(
    claim: Claim, variant: Variant, *, budget: Budget, seed: int,
    device: str = "cpu",
) -> VariantRecord:  # fmt: skip
    """Run the claim's own attack and its own ledger against one false variant."""
    form = claim.form(variant.form)
    order = search_first() if variant.special else quickest_first()
    found = hunt(
        variant.statement, variant.assumptions, [form.about], [stand_in(form, variant)],
        budget=budget, attacks=order, seed=seed, label=f"{claim.id}/{variant.id}", device=device,
    )  # fmt: skip
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
