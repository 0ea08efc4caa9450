"""How far an attack on a user's statement went: sizes, cells, the largest lhs/rhs, open checks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rnnbounds.properties.judging.evidence import check_record
from rnnbounds.properties.judging.judge import (
    HOLDS,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    Judgement,
    Verdict,
    has_windows,
)
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.reports.records.checks import Check
from rnnbounds.theory.proof.claim import Statement

NEAR = 1e-5


@dataclass
class Scope:
    """Extent of the systems on which a statement was judged.

    systems: their count. n, T, k: the largest number of units, length and window; k is 0 for
    statements without windows. lam: the largest certified λ, None if no statement presupposes one.
    cells: their names. ratio: a lower bound on the largest lhs/rhs of a decided check; tightest:
    that check. open_systems: number of systems with an undecided check; open_check: the first such
    check. near: number of undecided checks with |lhs/rhs − 1| ≤ NEAR.
    """

    systems: int = 0
    n: int = 0
    T: int = 0
    k: int = 0
    lam: float | None = None
    cells: list[str] = field(default_factory=list)
    ratio: float | None = None
    tightest: Check | None = None
    open_systems: int = 0
    open_check: Check | None = None
    near: int = 0

    def add_batch(self, statement: Statement, batch: Batch, judgement: Judgement) -> None:
        """Take in one judged batch."""
        checks = judgement.verdicts != VACUOUS
        is_judged = checks.any(axis=(1, 2))
        if not is_judged.any():
            return
        spec = batch.spec
        self.systems += int(np.count_nonzero(is_judged))
        self.n, self.T = max(self.n, spec.n), max(self.T, spec.T)
        self.k = max(self.k, int(np.flatnonzero(checks.any(axis=(0, 1))).max()))
        if kind_of_spec(spec).is_contractive:
            lam = np.broadcast_to(batch.constant("lam").hi, (len(is_judged), 1, 1))[is_judged]
            self.lam = max(float(lam.max()), self.lam or 0.0)
        self.cells = sorted({*self.cells, kind_of_spec(spec).cell(spec)})
        self.update_tightest(statement, batch, judgement)
        self.count_open(statement, batch, judgement)

    def update_tightest(self, statement: Statement, batch: Batch, judgement: Judgement) -> None:
        """Remember the check of the largest lhs/rhs: rounding, which enlarges the upper ends of
        tiny left sides, does not count."""
        with np.errstate(all="ignore"):
            ratio = judgement.lhs.lo / judgement.rhs.hi
        decided = (judgement.verdicts == HOLDS) | (judgement.verdicts == VIOLATED)
        ratio = np.where(decided & (judgement.rhs.hi > 0) & np.isfinite(ratio), ratio, -np.inf)
        if ratio.max() > (-np.inf if self.ratio is None else self.ratio):
            i, s, k = map(int, np.unravel_index(ratio.argmax(), ratio.shape))
            self.ratio, self.tightest = (
                float(ratio[i, s, k]),
                check_at(statement, batch, judgement, i, s, k),
            )

    def count_open(self, statement: Statement, batch: Batch, judgement: Judgement) -> None:
        """Count the systems with undecided checks, and those of these checks near equality."""
        undecided = judgement.verdicts == UNDECIDED
        if not undecided.any():
            return
        self.open_systems += int(undecided.any(axis=(1, 2)).sum())
        if self.open_check is None:
            self.open_check = check_at(
                statement, batch, judgement, *np.argwhere(undecided)[0].tolist()
            )
        lhs, rhs = (side.hi[undecided] for side in judgement.sides)
        with np.errstate(all="ignore"):
            near = (lhs == rhs) | (np.abs(lhs / rhs - 1) <= NEAR)
        self.near += int(np.count_nonzero(near))


def check_at(
    statement: Statement, batch: Batch, judgement: Judgement, i: int, s: int, k: int
) -> Check:
    """The record of one check of a judged batch: member i, sequence s, window k."""
    return check_record(
        "typed", "typed", batch.spec.select_pair(batch.spec.members[i], s),
        k if has_windows(statement) else None, Verdict(int(judgement.verdicts[i, s, k])),
        (float(judgement.lhs.lo[i, s, k]), float(judgement.lhs.hi[i, s, k])),
        (float(judgement.rhs.lo[i, s, k]), float(judgement.rhs.hi[i, s, k])),
    )  # fmt: skip
