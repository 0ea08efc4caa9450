"""The campaign: specs in, evidence out.

Statements about one kind of system that ask alike of it are a pool, and are judged on the same
batches. What a pool is shown depends on the pool and the seed alone, never on who is in it: a claim
that is attacked by itself meets the systems that it meets among all the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from itertools import groupby
from math import ceil, inf
from operator import attrgetter

import numpy as np

from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.properties.attacks.attack import Case, StopAttack, attacks
from rnnbounds.properties.attacks.budget import Budget, batch_size, examples_per_kind
from rnnbounds.properties.judging.evidence import Evidence, judge_forms
from rnnbounds.properties.judging.judge import Judgement, form_quantities
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, parse_spec
from rnnbounds.theory.proof.claim import Claim, Form, Statement

BatchJudge = Callable[[Batch], Sequence[Judgement]]
FormEvidence = dict[str, Evidence]  # by the form's name
CACHED_BATCHES = 256  # batches, of one system each
DIRECTED_SYSTEMS = 128  # systems of an example, at most, of what only their best one leads on
BLOCK_EXAMPLES = 28  # random examples that are drawn in one go


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

    def visit(spec: SystemSpec) -> float | None:
        if not is_wanted(spec):
            return None
        seeded = chosen_attack.seeded
        batch = build_batch(spec, device) if seeded else cached_batch(spec.text, device)
        judgements = judge_batch(batch)
        if seeded:  # nobody meets it again, and its pairs know it
            batch.clear_caches()
        if not chosen_attack.directed:
            return None
        ratios = np.concatenate([j.ratio.ravel() for j in judgements])
        ratios = ratios[np.isfinite(ratios)]
        return float(ratios.max()) if ratios.size else None

    with suppress(StopAttack):
        chosen_attack.search(case, visit)


@lru_cache(maxsize=CACHED_BATCHES)
def cached_batch(text: str, device: str) -> Batch:
    """The batch of a spec that many claims and their variants meet, with all that was measured of
    it so far."""
    return build_batch(parse_spec(text), device)


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

    @property
    def statements(self) -> list[Statement]:
        """The statements of the forms."""
        return [form.statement for form in self.forms]


def pool_for(forms: Sequence[Form], budget: Budget, sequence_factor: int = 1) -> Pool:
    """The pool of forms about one kind that are judged together, with so many times the input
    sequences where nothing asks for few."""
    kind_name, size = forms[0].about, batch_size(budget, form_quantities(*forms))
    if size == (budget.batch, budget.sequences):
        size = budget.batch, sequence_factor * budget.sequences
    case = Case(kind_name, [form.statement for form in forms], budget, size, seed=0)
    return Pool(kind_name, size, case.requirements)


def claim_pools(claim: Claim, budget: Budget) -> dict[Pool, FormGroup]:
    """The forms of a claim by their pools."""
    pools: dict[Pool, FormGroup] = {}
    about = attrgetter("about")
    for kind, forms in groupby(sorted(claim.forms, key=about), key=about):
        examples = ceil((1 if kind in FAMILIES else claim.example_factor) * budget.random)
        group = FormGroup(claim, list(forms), examples)
        pools[pool_for(group.forms, budget, claim.sequence_factor)] = group
    return pools


def block_budget(budget: Budget) -> Budget:
    """The budget of the random examples that are drawn in one go."""
    return replace(budget, random=min(BLOCK_EXAMPLES, budget.random))


def attack_block_count(attack: str, group: FormGroup, budget: Budget) -> int:
    """In how many blocks an attack is made on a group; none where it has nothing to do."""
    chosen_attack = attacks()[attack]
    if all(chosen_attack.idle_reason(form) for form in group.forms):
        return 0
    if not chosen_attack.is_random:
        return 1
    kind_name, block = group.forms[0].about, block_budget(budget).random
    return ceil(examples_per_kind(kind_name, group.examples) / examples_per_kind(kind_name, block))


def attack_pool(
    pool: Pool, attack: str, statements: Sequence[Statement], judge_batch: BatchJudge,
    *, budget: Budget, seed: int, block: int = 0, device: str = "cpu", most: float = inf,
) -> None:  # fmt: skip
    """Show what an attack finds for a pool, or one block of it: of each kind so many examples, at
    most."""
    chosen_attack, shown = attacks()[attack], Counter[str]()
    systems, sequences = pool.example_size
    case = Case(
        pool.kind_name, statements, block_budget(budget) if chosen_attack.is_random else budget,
        (min(systems, DIRECTED_SYSTEMS) if chosen_attack.directed else systems, sequences),
        seed=derived_seed(seed, pool.name, attack, *([str(block)] * chosen_attack.is_random)),
        block=block,
    )  # fmt: skip

    def is_wanted(spec: SystemSpec) -> bool:
        shown[spec.kind] += 1
        return shown[spec.kind] <= most

    run_attack(attack, case, judge_batch, device, is_wanted)


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


def attack_forms(
    pool: Pool, attack: str, groups: Sequence[FormGroup],
    *, budget: Budget, seed: int, block: int = 0, device: str = "cpu",
) -> dict[str, FormEvidence]:  # fmt: skip
    """Attack the forms of some claims in a pool, or with one block; the evidence by claim.

    What goes towards the limit of a statement is run for each claim by itself. Of random examples
    a claim is shown the first ones, as many as it asks for.
    """
    evidence = {group.claim.id: empty_evidence(group.claim, group.forms) for group in groups}
    judges: list[BatchJudge] = [
        partial(judge_forms, group.forms, evidence[group.claim.id]) for group in groups
    ]
    if attacks()[attack].directed:
        for group, judge_group in zip(groups, judges, strict=True):
            factor = min(1, group.claim.example_factor)
            attack_pool(
                pool, attack, group.statements, judge_group,
                budget=replace(budget, targeted=ceil(factor * budget.targeted)),
                seed=derived_seed(seed, group.claim.id), device=device,
            )  # fmt: skip
        return evidence

    def examples_left(group: FormGroup) -> float:
        if not attacks()[attack].is_random:
            return inf
        in_block = examples_per_kind(pool.kind_name, block_budget(budget).random)
        return examples_per_kind(pool.kind_name, group.examples) - block * in_block

    left, shown = [examples_left(group) for group in groups], Counter[str]()

    def judge_batch(batch: Batch) -> list[Judgement]:
        shown[batch.spec.kind] += 1
        at = shown[batch.spec.kind]
        wanted = [own for own, most in zip(judges, left, strict=True) if at <= most]
        return [judgement for own in wanted for judgement in own(batch)]

    attack_pool(
        pool, attack, [statement for group in groups for statement in group.statements],
        judge_batch, budget=budget, seed=seed, block=block, device=device, most=max(left),
    )  # fmt: skip
    return evidence


def inapplicable_reason(claim: Claim, attack: str) -> str:
    """Why an attack has nothing to do for a claim; empty where it has."""
    reasons = {attacks()[attack].idle_reason(form) for form in claim.forms}
    return "" if "" in reasons else "; ".join(sorted(reasons))
