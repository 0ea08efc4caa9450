"""The falsify: statements that are to fall meet the same systems, until each of them does.

What draws systems for no statement in particular is shown to all that still stand; what climbs
towards a statement's limit is run for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rnnbounds.properties.attacks.attack import Case, Enough
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.campaign import derived_seed, show
from rnnbounds.properties.attacks.pool import asked
from rnnbounds.properties.attacks.scope import Scope
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.judging.judge import ExactBudget, Judgement, Verdict, judge
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.theory.proof.claim import Assumption, Statement

# Attacks with the share of their random budget.
Order = Sequence[tuple[str, float]]


@dataclass(eq=False)
class Target:
    """A statement about systems of some kinds, and what was seen of it up to its first violation.

    name: of its own. size: systems and sequences of an example. scope: of what a user typed, how
    far its systems went.
    """

    name: str
    statement: Statement
    assumptions: tuple[Assumption, ...]
    kinds: Sequence[str]
    size: tuple[int, int]
    systems: int = 0
    holds: int = 0
    undecided: int = 0
    attack: str | None = None
    spec: SystemSpec | None = None
    scope: Scope | None = None

    @property
    def stands(self) -> bool:
        """True if no violating system has been found."""
        return self.spec is None

    def judged(self, batch: Batch, attack: str, patience: ExactBudget | None) -> Judgement:
        """Judge a batch, and count it up to the first violation; of what is typed the whole."""
        found = judge(
            self.statement, self.assumptions, batch, patience, until_violated=patience is None
        )
        if self.scope is not None:
            self.scope.add(self.statement, batch, found)
        self.holds += int((found.verdicts == Verdict.HOLDS).sum())
        self.undecided += int((found.verdicts == Verdict.UNDECIDED).sum())
        bad = np.argwhere(found.verdicts == Verdict.VIOLATED)
        if len(bad):
            i, s, _ = (int(v) for v in bad[0])
            self.systems += i + 1
            self.attack, self.spec = attack, batch.spec.alone(batch.spec.members[i], s)
        else:
            self.systems += batch.cell.batch
        return found


def falsify(
    quarries: Sequence[Target],
    *, label: str, order: Order, budget: Budget, seed: int, device: str = "cpu",
    patience: ExactBudget | None = None,
) -> None:  # fmt: skip
    """Attack the statements until they have fallen, or the attacks are over."""
    kinds = list(dict.fromkeys(kind for quarry in quarries for kind in quarry.kinds))
    for attack, share in order:
        part = () if share == 1 else (f"{share:g} of it",)
        for kind in kinds:
            left = [quarry for quarry in quarries if quarry.stands and kind in quarry.kinds]
            for name, pack in packs(attack, kind, left, budget):

                def judged(
                    batch: Batch, attack: str = attack, pack: Sequence[Target] = pack
                ) -> list[Judgement]:
                    found = [one.judged(batch, attack, patience) for one in pack if one.stands]
                    if not any(one.stands for one in pack):
                        raise Enough
                    return found

                case = Case(
                    kind, [quarry.statement for quarry in pack], budget, pack[0].size,
                    seed=derived_seed(seed, label, *name, attack, kind, *part), factor=share,
                    typed=patience is not None,
                )  # fmt: skip
                show(attack, case, judged, device)


def packs(
    attack: str, kind: str, quarries: Sequence[Target], budget: Budget
) -> Iterator[tuple[tuple[str, ...], list[Target]]]:
    """Group the targets that share drawn systems; yield (names that enter the seed, targets)."""
    if every()[attack].directed:
        for quarry in quarries:
            yield (quarry.name,), [quarry]
        return

    found: dict[tuple[object, ...], list[Target]] = {}
    for quarry in quarries:
        case = Case(kind, [quarry.statement], budget, quarry.size, seed=0)
        found.setdefault((quarry.size, *asked(case)), []).append(quarry)
    for pack in found.values():
        yield (), pack
