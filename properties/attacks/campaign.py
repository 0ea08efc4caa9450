"""The campaign: specs in, evidence out. Who is in a pool is judged on the same batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from math import ceil, inf

import numpy as np

from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.properties.attacks.attack import Case, StopAttack
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.pool import (
    FormGroup,
    Pool,
    block_budget,
    block_count,
    examples_per_kind,
)
from rnnbounds.properties.attacks.table import attacks
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Judgement
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import kinds_about, parse_spec
from rnnbounds.theory.proof.claim import Claim, Form, Statement

BatchJudge = Callable[[Batch], Sequence[Judgement]]
FormEvidence = dict[str, Evidence]  # by the form's name
CACHED_BATCHES = 256  # batches, of one system each
DIRECTED_SYSTEMS = 128  # systems of an example, at most, of what only their best one leads on


def derived_seed(seed: int, *names: str) -> int:
    """A seed of its own for every part of a run, the same in every process."""
    text = "/".join((str(seed), *names))
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big")


@isolated()
def run_attack(
    attack: str, case: Case, judge_batch: BatchJudge, device: str = "cpu",
    is_wanted: Callable[[SystemSpec], bool] = lambda spec: True,
) -> None:  # fmt: skip
    """Run one attack; ``judge_batch`` judges the batch of each spec that is wanted. What goes where
    a statement comes near to falling is told how near each came."""
    require_sound(device)
    chosen_attack = attacks()[attack]
    make_batch = build_batch if chosen_attack.seeded else cached_batch

    def visit(spec: SystemSpec) -> float | None:
        if not is_wanted(spec):
            return None
        batch = make_batch(spec, device)
        judgements = judge_batch(batch)
        if chosen_attack.seeded:  # nobody meets it again, and its pairs know it
            batch.clear_caches()
        if not chosen_attack.directed:
            return None
        ratios = np.concatenate([j.ratio.ravel() for j in judgements])
        ratios = ratios[np.isfinite(ratios)]
        return float(ratios.max()) if ratios.size else None

    with suppress(StopAttack):
        chosen_attack.search(case, visit)


def cached_batch(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch of a spec that many claims and their variants meet, with all that was measured of
    it so far."""
    return _cached_batch(spec.text, device)


@lru_cache(maxsize=CACHED_BATCHES)
def _cached_batch(text: str, device: str) -> Batch:
    return build_batch(parse_spec(text), device)


@dataclass(eq=False)
class Observer:
    """Who judges what a pool is shown, by some statements: at most so many examples of each kind,
    and no more once it is content."""

    statements: Sequence[Statement]
    judge_batch: BatchJudge
    max_examples: float = inf
    is_satisfied: Callable[[], bool] = lambda: False
    examples_by_kind: Counter[str] = field(default_factory=Counter)

    def is_done(self, kinds: Iterable[str]) -> bool:
        """True if it is content or has seen `most` examples of each of these kinds."""
        return self.is_satisfied() or all(
            self.examples_by_kind[kind] >= self.max_examples for kind in kinds
        )


def attack_pool(
    pool: Pool, attack: str, observers: Sequence[Observer],
    *, budget: Budget, seed: int, block: int = 0, device: str = "cpu",
) -> None:  # fmt: skip
    """Show what an attack finds for a pool, or one block of it, until nobody wants more."""
    kinds = [kind.name for kind in kinds_about(pool.kind_name)]
    active_observers: list[Observer] = []

    def is_wanted(spec: SystemSpec) -> bool:
        active_observers[:] = [
            observer for observer in observers if not observer.is_done([spec.kind])
        ]
        if all(observer.is_done(kinds) for observer in observers):
            raise StopAttack
        return bool(active_observers)

    def judge_batch(batch: Batch) -> list[Judgement]:
        for observer in active_observers:
            observer.examples_by_kind[batch.spec.kind] += 1
        return [
            judgement for observer in active_observers for judgement in observer.judge_batch(batch)
        ]

    chosen_attack = attacks()[attack]
    statements = [statement for observer in observers for statement in observer.statements]
    systems, sequences = pool.example_size
    systems = min(systems, DIRECTED_SYSTEMS) if chosen_attack.directed else systems
    case = Case(
        pool.kind_name, statements, block_budget(budget) if chosen_attack.is_random else budget,
        (systems, sequences),
        seed=derived_seed(seed, pool.name, attack,
        *([str(block)] if chosen_attack.is_random else [])),
        block=block,
    )  # fmt: skip
    run_attack(attack, case, judge_batch, device, is_wanted)


def are_comparable(first: Statement, second: Statement) -> bool:
    """True if two statements bound one lhs from above (≤ or =), neither by a lone symbol."""
    return first.lhs == second.lhs and all(
        side.relation in ("<=", "==") and not side.rhs.is_Symbol for side in (first, second)
    )


def empty_evidence(claim: Claim, forms: Sequence[Form]) -> FormEvidence:
    """Nothing yet of these forms of a claim."""
    return {form.name: Evidence.empty(claim, form) for form in forms}


def merge_evidence(total: FormEvidence, addition: FormEvidence) -> None:
    """Take into what was seen of a claim's forms what was seen of them elsewhere."""
    for form, evidence in addition.items():
        if form in total:
            total[form].merge(evidence)
        else:
            total[form] = evidence


def evidence_judge(group: FormGroup, evidence: FormEvidence) -> BatchJudge:
    """Build the judge of a group's forms, which adds its evidence to `evidence`."""
    forms = group.forms

    def judge_batch(batch: Batch) -> list[Judgement]:
        judgements = [judge(form.statement, form.assumptions, batch) for form in forms]
        for form, judgement in zip(forms, judgements, strict=True):
            evidence[form.name].add_batch(batch, judgement)
            if form is not forms[0] and are_comparable(form.statement, forms[0].statement):
                evidence[form.name].compare_bounds(judgement, judgements[0])
        return judgements

    return judge_batch


def attack_forms(
    pool: Pool, attack: str, groups: Sequence[FormGroup], other_observers: Sequence[Observer] = (),
    *, budget: Budget, seed: int, block: int = 0, device: str = "cpu",
) -> dict[str, FormEvidence]:  # fmt: skip
    """Attack the forms of some claims in a pool, or with one block; the evidence by claim.

    ``other_observers`` watches. What goes towards the limit of a statement is run for each claim by
    itself.
    """
    chosen_attack, per_block = (
        attacks()[attack],
        examples_per_kind(pool.kind_name, block_budget(budget).random),
    )
    evidence = {group.claim.id: empty_evidence(group.claim, group.forms) for group in groups}
    observers = [
        Observer(
            [form.statement for form in group.forms],
            evidence_judge(group, evidence[group.claim.id]),
            # The last block may be part of one.
            examples_per_kind(pool.kind_name, group.examples) - block * per_block
            if chosen_attack.is_random
            else inf,
        )
        for group in groups
    ]
    if not chosen_attack.directed:
        attack_pool(
            pool,
            attack,
            [*observers, *other_observers],
            budget=budget,
            seed=seed,
            block=block,
            device=device,
        )
        return evidence
    for group, observer in zip(groups, observers, strict=True):
        own_seed = derived_seed(seed, group.claim.id)
        own_budget = replace(
            budget, targeted=ceil(min(1, group.claim.example_factor) * budget.targeted)
        )
        attack_pool(pool, attack, [observer], budget=own_budget, seed=own_seed, device=device)
    return evidence


def attack_block_count(attack: str, group: FormGroup, budget: Budget) -> int:
    """In how many blocks an attack is made on a group; none where it has nothing to do."""
    chosen_attack = attacks()[attack]
    if all(chosen_attack.idle_reason(form) for form in group.forms):
        return 0
    return block_count(group, budget) if chosen_attack.is_random else 1


def inapplicable_reason(claim: Claim, attack: str) -> str:
    """Why an attack has nothing to do for a claim; empty where it has."""
    reasons = {attacks()[attack].idle_reason(form) for form in claim.forms}
    return "" if "" in reasons else "; ".join(sorted(reasons))
