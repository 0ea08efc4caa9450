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
from rnnbounds.properties.attacks.campaign import Observer
from rnnbounds.properties.attacks.falsify import AttackOrder, Target, falsify
from rnnbounds.properties.attacks.pool import Pool, claim_pools, examples_per_kind, variant_pool
from rnnbounds.properties.attacks.shrink import shrink
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.judging.verdict import Judgement
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.reports.records.checks import Check
from rnnbounds.reports.records.record import VariantRecord
from rnnbounds.theory.language.printing import statement_mathml, statement_text
from rnnbounds.theory.proof.claim import Claim, Form, Variant, prove_variant


def shared_attack() -> str:
    """The attack on whose first systems variants ride."""
    return next(name for name, attack in every().items() if attack.is_random)


def attack_order() -> AttackOrder:
    """A share of what is quickest, but for what variants rode on, then the whole of each attack."""
    whole = [(name, 1.0) for name in every()]
    first_attacks = [
        (name, attack.share)
        for name, attack in every().items()
        if attack.share and name != shared_attack()
    ]
    return (*first_attacks, *(step for step in whole if step not in first_attacks))


def variant_target(form: Form, variant: Variant, budget: Budget) -> Target:
    """A false variant of a form, to be hunted on the systems of the form."""
    statement, assumptions = variant.statement, variant.assumptions
    size = batch_size(budget, [replace(form, statement=statement, assumptions=assumptions)])
    return Target(variant.id, statement, assumptions, (form.about,), size)


@dataclass(frozen=True, eq=False)
class VariantGroup:
    """The false variants of one claim that are in one pool."""

    claim: Claim
    targets: Sequence[tuple[Variant, Target]]

    def observer(self, pool: Pool, budget: Budget) -> Observer:
        """Build the observer that judges the variants on shared batches until all are refuted."""
        share = every()[shared_attack()].share

        def judge_batch(batch: Batch) -> list[Judgement]:
            return [
                target.judge_batch(batch, shared_attack(), None)
                for _, target in self.targets
                if target.is_unrefuted
            ]

        group = claim_pools(self.claim, budget).get(pool)
        statements = [form.statement for form in group.forms] if group else []
        return Observer(
            [*statements, *(target.statement for _, target in self.targets)],
            judge_batch, examples_per_kind(pool.kind_name, share * budget.random),
            lambda: not any(target.is_unrefuted for _, target in self.targets),
        )  # fmt: skip

    def attack_remaining(
        self, *, budget: Budget, seed: int, device: str
    ) -> tuple[VariantRecord, ...]:
        """Attack the variants not yet refuted, each alone; return the records of all variants."""
        remaining = [target for _, target in self.targets if target.is_unrefuted]
        falsify(
            remaining, label=self.claim.id, order=attack_order(), budget=budget, seed=seed,
            device=device,
        )  # fmt: skip
        return tuple(
            record_variant(self.claim, variant, target, budget.tries)
            for variant, target in self.targets
        )


def variant_groups(
    claim: Claim, variants: Sequence[Variant], budget: Budget
) -> dict[Pool, VariantGroup]:
    """False variants of a claim by the pools in which they ride."""
    by_pool: dict[Pool, list[tuple[Variant, Target]]] = {}
    pools = claim_pools(claim, budget)
    for variant in variants:
        pool = variant_pool(claim, variant, budget, pools)
        targets = (variant, variant_target(claim.form(variant.form), variant, budget))
        by_pool.setdefault(pool, []).append(targets)
    return {pool: VariantGroup(claim, targets) for pool, targets in by_pool.items()}


def record_variant(
    claim: Claim, variant: Variant, target: Target, tries: int = TRIES
) -> VariantRecord:
    """Record the outcome of attacking a false variant, with its shrunk counter-example if any."""
    counterexample: Check | None = None
    if target.spec is not None:
        counterexample = shrink(
            claim.id, variant.id, variant.statement, variant.assumptions, target.spec, tries
        )
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
        ledger_fails=False,  # before one was run against it
    )


class ProofOutcome(NamedTuple):
    """Outcome of a form's proof applied to its false variant: True if it fails, and the reason."""

    fails: bool
    why: str


def try_proof(claim: Claim, variant: Variant) -> ProofOutcome:
    """The form's own ledger, run against the variant."""
    ledger = prove_variant(claim, variant)
    return ProofOutcome(
        not ledger.proved, "; ".join(f"step '{step.id}': {step.detail}" for step in ledger.failures)
    )


def with_proof_outcomes(
    claim: Claim, records: Mapping[str, VariantRecord], proofs: Mapping[str, ProofOutcome]
) -> tuple[VariantRecord, ...]:
    """Add the outcomes of proofs to the records of a claim's attacked variants; an untried proof
    counts as not failing."""
    untried = ProofOutcome(fails=False, why="")
    outcomes = [(v.id, proofs.get(v.id, untried)) for v in claim.false_variants if v.id in records]
    return tuple(
        msgspec.structs.replace(records[id], ledger_fails=proof.fails, why=proof.why)
        for id, proof in outcomes
    )
