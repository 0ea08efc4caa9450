"""Falsification: statements that are to fall meet the same systems, until each of them does.

What draws systems for no statement in particular is shown to all that still stand; what climbs
towards a statement's limit is run for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rnnbounds.properties.attacks.attack import Case, StopAttack
from rnnbounds.properties.attacks.attack import attacks as every
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.campaign import derived_seed, run_attack
from rnnbounds.properties.attacks.scope import Scope
from rnnbounds.properties.judging.judge import ExactBudget, Judgement, Verdict, judge
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.theory.proof.claim import Assumption, Statement

# Attacks with the share of their random budget.
AttackOrder = Sequence[tuple[str, float]]


@dataclass(eq=False)
class Target:
    """A statement about systems of some kinds, and what was seen of it up to its first violation.

    name: of its own. example_size: systems and sequences of an example. scope: of what a user
    typed, how far its systems went.
    """

    name: str
    statement: Statement
    assumptions: tuple[Assumption, ...]
    kinds: Sequence[str]
    example_size: tuple[int, int]
    systems: int = 0
    holds: int = 0
    undecided: int = 0
    attack: str | None = None
    spec: SystemSpec | None = None
    scope: Scope | None = None

    @property
    def is_unrefuted(self) -> bool:
        """True if no violating system has been found."""
        return self.spec is None

    def judge_batch(self, batch: Batch, attack: str, exact_budget: ExactBudget | None) -> Judgement:
        """Judge a batch, and count it up to the first violation; of what is typed the whole."""
        judgement = judge(
            self.statement,
            self.assumptions,
            batch,
            exact_budget,
            until_violated=exact_budget is None,
        )
        if self.scope is not None:
            self.scope.add_batch(self.statement, batch, judgement)
        self.holds += int((judgement.verdicts == Verdict.HOLDS).sum())
        self.undecided += int((judgement.verdicts == Verdict.UNDECIDED).sum())
        violations = np.argwhere(judgement.verdicts == Verdict.VIOLATED)
        if len(violations):
            i, s, _ = (int(v) for v in violations[0])
            self.systems += i + 1
            self.attack, self.spec = attack, batch.spec.select_pair(batch.spec.members[i], s)
        else:
            self.systems += batch.cell.batch
        return judgement


def falsify(
    targets: Sequence[Target],
    *, label: str, order: AttackOrder, budget: Budget, seed: int, device: str = "cpu",
    exact_budget: ExactBudget | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:  # fmt: skip
    """Attack the statements until they have fallen, or the attacks are over; `progress` is told how
    many attacks on systems of one kind are done, and of how many."""
    kinds = list(dict.fromkeys(kind for target in targets for kind in target.kinds))
    for position, (attack, share) in enumerate(order):
        share_name = () if share == 1 else (f"{share:g} of it",)
        for number, kind in enumerate(kinds):
            progress(position * len(kinds) + number, len(order) * len(kinds))
            remaining = [
                target for target in targets if target.is_unrefuted and kind in target.kinds
            ]
            for seed_names, group in group_targets(attack, kind, remaining, budget):

                def judge_batch(
                    batch: Batch, attack: str = attack, group: Sequence[Target] = group
                ) -> list[Judgement]:
                    judgements = [
                        member.judge_batch(batch, attack, exact_budget)
                        for member in group
                        if member.is_unrefuted
                    ]
                    if not any(member.is_unrefuted for member in group):
                        raise StopAttack
                    return judgements

                case = Case(
                    kind, [target.statement for target in group], budget, group[0].example_size,
                    seed=derived_seed(seed, label, *seed_names, attack, kind, *share_name),
                    factor=share,
                    typed=exact_budget is not None,
                )  # fmt: skip
                run_attack(attack, case, judge_batch, device)


def group_targets(
    attack: str, kind: str, targets: Sequence[Target], budget: Budget
) -> Iterator[tuple[tuple[str, ...], list[Target]]]:
    """Group the targets that share drawn systems; yield (names that enter the seed, targets)."""
    if every()[attack].directed:
        for target in targets:
            yield (target.name,), [target]
        return

    groups: dict[tuple[object, ...], list[Target]] = {}
    for target in targets:
        case = Case(kind, [target.statement], budget, target.example_size, seed=0)
        groups.setdefault((target.example_size, *case.requirements), []).append(target)
    for group in groups.values():
        yield (), group
