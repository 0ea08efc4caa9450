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
import torch

from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.properties.attacks.attack import Case, Enough
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.pool import Group, Pool, blocks, of_each, one_block, pools_of
from rnnbounds.properties.attacks.table import attacks
from rnnbounds.properties.judging.agreement import require_agreement
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.judging.judge import Judgement, judge
from rnnbounds.properties.systems.batch import Batch, build
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import kinds_about, parse_spec
from rnnbounds.theory.proof.claim import Claim, Form, Statement

Judge = Callable[[Batch], Sequence[Judgement]]
Seen = dict[str, Evidence]  # by the form's name
KEPT = 256  # batches, of one system each
CLIMBERS = 128  # systems of an example, at most, of what only their best one leads on


def derived_seed(seed: int, *names: str) -> int:
    """A seed of its own for every part of a run, the same in every process."""
    text = "/".join((str(seed), *names))
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big")


def show(
    attack: str, case: Case, judged: Judge, device: str = "cpu",
    wanted: Callable[[SystemSpec], bool] = lambda spec: True,
) -> None:  # fmt: skip
    """Run one attack; ``judged`` judges the batch of each spec that is wanted. What goes where a
    statement comes near to falling is told how near each came."""
    torch.set_num_threads(1)
    require_sound(device)
    chosen = attacks()[attack]
    built = build if chosen.seeded else kept

    def visit(spec: SystemSpec) -> float | None:
        if not wanted(spec):
            return None
        batch = built(spec, device)
        found = judged(batch)
        if chosen.seeded:  # nobody meets it again, and its pairs know it
            batch.forget()
        if not chosen.directed:
            return None
        ratios = np.concatenate([j.ratio.ravel() for j in found])
        ratios = ratios[np.isfinite(ratios)]
        return float(ratios.max()) if ratios.size else None

    with suppress(Enough):
        chosen.search(case, visit)


def kept(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch of a spec that many claims and their variants meet, with all that was measured of
    it so far."""
    return _kept(spec.text, device)


@lru_cache(maxsize=KEPT)
def _kept(text: str, device: str) -> Batch:
    return build(parse_spec(text), device)


@dataclass(eq=False)
class Observer:
    """Who judges what a pool is shown, by some statements: at most so many examples of each kind,
    and no more once it is content."""

    statements: Sequence[Statement]
    judged: Judge
    most: float = inf
    content: Callable[[], bool] = lambda: False
    seen: Counter[str] = field(default_factory=Counter)

    def over(self, kinds: Iterable[str]) -> bool:
        """True if it is content or has seen `most` examples of each of these kinds."""
        return self.content() or all(self.seen[kind] >= self.most for kind in kinds)


def attack_pool(
    pool: Pool, attack: str, watchers: Sequence[Observer],
    *, budget: Budget, seed: int, block: int = 0, device: str = "cpu",
) -> None:  # fmt: skip
    """Show what an attack finds for a pool, or one block of it, until nobody wants more."""
    kinds = [kind.name for kind in kinds_about(pool.about)]
    looking: list[Observer] = []

    def wanted(spec: SystemSpec) -> bool:
        looking[:] = [one for one in watchers if not one.over([spec.kind])]
        if all(one.over(kinds) for one in watchers):
            raise Enough
        return bool(looking)

    def judged(batch: Batch) -> list[Judgement]:
        for one in looking:
            one.seen[batch.spec.kind] += 1
        return [judgement for one in looking for judgement in one.judged(batch)]

    own = attacks()[attack]
    statements = [statement for one in watchers for statement in one.statements]
    systems, sequences = pool.size
    size = (min(systems, CLIMBERS) if own.directed else systems, sequences)
    case = Case(
        pool.about, statements, one_block(budget) if own.drawn else budget, size,
        seed=derived_seed(seed, pool.name, attack, *([str(block)] if own.drawn else [])),
        block=block,
    )  # fmt: skip
    show(attack, case, judged, device, wanted)


def comparable(one: Statement, other: Statement) -> bool:
    """True if two statements bound one lhs from above (≤ or =), neither by a lone symbol."""
    return one.lhs == other.lhs and all(
        side.relation in ("<=", "==") and not side.rhs.is_Symbol for side in (one, other)
    )


def nothing_seen(claim: Claim, forms: Sequence[Form]) -> Seen:
    """Nothing yet of these forms of a claim."""
    return {form.name: Evidence.of(claim, form) for form in forms}


def added(seen: Seen, more: Seen) -> None:
    """Take into what was seen of a claim's forms what was seen of them elsewhere."""
    for form, evidence in more.items():
        if form in seen:
            seen[form].merge(evidence)
        else:
            seen[form] = evidence


def gathers(group: Group, seen: Seen) -> Judge:
    """Build the judge of a group's forms, which adds its evidence to `seen`."""
    forms = group.forms

    def judged(batch: Batch) -> list[Judgement]:
        found = [judge(form.statement, form.assumptions, batch) for form in forms]
        for form, judgement in zip(forms, found, strict=True):
            require_agreement(form.statement, batch, judgement)
            seen[form.name].add(batch, judgement)
            if form is not forms[0] and comparable(form.statement, forms[0].statement):
                seen[form.name].compare(judgement, found[0])
        return found

    return judged


def attack_forms(
    pool: Pool, attack: str, groups: Sequence[Group], also: Sequence[Observer] = (),
    *, budget: Budget, seed: int, block: int = 0, device: str = "cpu",
) -> dict[str, Seen]:  # fmt: skip
    """Attack the forms of some claims in a pool, or with one block; the evidence by claim.

    ``also`` watches. What goes towards the limit of a statement is run for each claim by itself.
    """
    own, each = attacks()[attack], of_each(pool.about, one_block(budget).random)
    found = {group.claim.id: nothing_seen(group.claim, group.forms) for group in groups}
    watchers = [
        Observer(
            [form.statement for form in group.forms],
            gathers(group, found[group.claim.id]),
            # The last block of a profile may be part of one; those beyond it are whole.
            of_each(pool.about, group.examples) - block * each
            if own.drawn and block < blocks(group, budget)
            else inf,
        )
        for group in groups
    ]
    if not own.directed:
        attack_pool(
            pool, attack, [*watchers, *also], budget=budget, seed=seed, block=block, device=device
        )
        return found
    for group, watcher in zip(groups, watchers, strict=True):
        alone = derived_seed(seed, group.claim.id)
        less = replace(budget, targeted=ceil(min(1, group.claim.example_factor) * budget.targeted))
        attack_pool(pool, attack, [watcher], budget=less, seed=alone, device=device)
    return found


def blocks_of(attack: str, group: Group, budget: Budget) -> int:
    """In how many blocks an attack is made on a group; none where it has nothing to do."""
    own = attacks()[attack]
    if all(own.idle(form) for form in group.forms):
        return 0
    return blocks(group, budget) if own.drawn else 1


def attack_claim(
    claim: Claim, attack: str, *, budget: Budget, seed: int, device: str = "cpu"
) -> Seen:
    """Attack every form of a claim; the evidence by the form's name."""
    found = nothing_seen(claim, claim.forms)
    for pool, group in pools_of(claim, budget).items():
        for block in range(blocks_of(attack, group, budget)):
            seen = attack_forms(
                pool, attack, [group], budget=budget, seed=seed, block=block, device=device
            )
            added(found, seen[claim.id])
    return found


def not_applicable(claim: Claim, attack: str) -> str:
    """Why an attack has nothing to do for a claim; empty where it has."""
    reasons = {attacks()[attack].idle(form) for form in claim.forms}
    return "" if "" in reasons else "; ".join(sorted(reasons))
