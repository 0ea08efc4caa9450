"""The judge: lhs against rhs, with the errors of both, in three arithmetics.

First float64 intervals over the whole batch; what they cannot decide goes, pair by pair, to balls
of rising precision and at last to exact rationals, where norms are compared by their squares.
Nothing here is a tolerance: a comparison decides only if no rounding error can change it, and
whatever is not finite decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rnnbounds.properties.judging.boxes import require_boxes
from rnnbounds.properties.judging.exact_decision import decide_exactly
from rnnbounds.properties.judging.outputs import windows_held_by_outputs
from rnnbounds.properties.judging.sides import (
    broadcast_side,
    enclose_quantities,
    enclose_sides,
    has_windows,
    quantity_names,
    unmet_assumptions,
)
from rnnbounds.properties.judging.simplification import statement_at_end
from rnnbounds.properties.judging.verdict import (
    HOLDS,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    Judgement,
    Verdict,
    compare_sides,
)
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.interval import Interval
from rnnbounds.theory.proof.claim import Assumption, Statement


@dataclass
class ExactBudget:
    """How much exact arithmetic may still do for one typed statement, in rough multiplications.

    Checks beyond it stay UNDECIDED; they are counted.
    """

    remaining_work: int
    skipped: int = 0

    def spend(self, batch: Batch, windows: int) -> bool:
        """True if work is left to decide a pair exactly at this many windows; spends that work."""
        spec = batch.spec
        if self.remaining_work <= 0:
            self.skipped += windows
            return False
        self.remaining_work -= 1_000 + windows * (spec.T + spec.K) * spec.n * (spec.n + spec.d)
        return True


@torch.inference_mode()
def judge(
    statement: Statement,
    assumptions: tuple[Assumption, ...],
    batch: Batch,
    exact_budget: ExactBudget | None = None,
    *,
    until_violated: bool = False,
    always_measured: bool = False,
) -> Judgement:
    """Judge a statement on every pair of a batch and, where k occurs, every window 0 … K; with
    ``until_violated`` exact arithmetic is asked of none beyond the first pair that violates it.
    Both sides are NaN of a batch where nothing is judged, unless they are ``always_measured``.

    A system with a number that is not finite is UNDECIDED, whatever the statement. A check whose
    assumptions are not certainly met, or for which the model supplies no finite constant, is
    VACUOUS. Tensors that are measured here know no gradient.
    """
    names = quantity_names(statement)
    conditions = [a.condition for a in assumptions if a.condition is not None]
    unmeasured = {name for name in names if VOCABULARY[name].role != "measured"}
    enclosures = enclose_quantities(batch, unmeasured | quantity_names(*conditions))
    known_parts = batch.cache.setdefault("parts of statements", {})
    masks = unmet_assumptions(assumptions, enclosures, known_parts)
    for name in sorted(names):
        if VOCABULARY[name].role == "certified":
            masks[f"finite {name}"] = ~np.isfinite(enclosures[name].hi)
    pairs = (batch.cell.batch, batch.x.shape[3])
    # Of a batch where nothing is judged nothing need be measured; but runs confirm boxes.
    if not always_measured and batch.cells is None and any(mask.all() for mask in masks.values()):
        windows = batch.K + 1 if has_windows(statement) else 1
        shape = np.broadcast_shapes((*pairs, windows), *(i.lo.shape for i in enclosures.values()))
        lhs = rhs = Interval(*[np.full(shape, np.nan)] * 2)
    else:
        enclosures |= enclose_quantities(batch, names)
        require_boxes(batch)
        lhs, rhs = enclose_sides(statement, enclosures, known_parts)
        sides = (side.lo.shape for side in (*enclosures.values(), lhs, rhs))
        shape = np.broadcast_shapes((*pairs, 1), *sides)
    verdicts = compare_sides(statement.relation, lhs, rhs)
    if verdicts.shape != shape:
        verdicts = np.array(np.broadcast_to(verdicts, shape))
    result = Judgement(verdicts, broadcast_side(lhs, shape), broadcast_side(rhs, shape))
    for reason, mask in masks.items():
        if mask.any():
            newly_vacuous = mask & (verdicts != VACUOUS)
            result.vacuous[reason] = int(np.count_nonzero(newly_vacuous))
            np.copyto(verdicts, VACUOUS, where=newly_vacuous)
    if not batch.finite.all():
        np.copyto(verdicts, UNDECIDED, where=~batch.finite & (verdicts != VACUOUS))
    if exact_budget is not None:
        decide_at_ends(statement, batch, result)
    escalate(statement, batch, result, exact_budget, until_violated)
    return result


def decide_at_ends(statement: Statement, batch: Batch, result: Judgement) -> None:
    """Decide what is open where both sides are the same, and, of vanilla networks, at the windows
    0 and T, by what is known there."""
    end_statements = {
        0: statement_at_end(statement, "first"),
        batch.spec.T: statement_at_end(statement, "last"),
    }
    vanilla = batch.is_vanilla and has_windows(statement)
    for window in range(result.verdicts.shape[2]):
        simplified = end_statements.get(window, statement) if vanilla else statement
        verdicts = result.verdicts[:, :, window]
        undecided = (verdicts == Verdict.UNDECIDED) & batch.finite[:, :, 0]
        same = simplified.lhs == simplified.rhs
        if not undecided.any() or (simplified == statement and not same):
            continue
        enclosures = enclose_quantities(batch, quantity_names(simplified))
        lhs, rhs = enclose_sides(simplified, enclosures)
        codes = compare_sides(simplified.relation, lhs, rhs)
        if same:
            is_true = simplified.relation in ("<=", "==", "exists")
            has_values = np.isfinite(lhs.lo) & np.isfinite(lhs.hi)
            codes = np.where(has_values, Verdict.HOLDS if is_true else Verdict.VIOLATED, codes)
        codes = np.atleast_3d(codes)
        decided = codes[:, :, min(window, codes.shape[2] - 1)]
        result.verdicts[:, :, window] = np.where(undecided, decided, verdicts)


def escalate(
    statement: Statement, batch: Batch, result: Judgement, exact_budget: ExactBudget | None = None,
    until_violated: bool = False,
) -> None:  # fmt: skip
    """Settle every UNDECIDED check of a finite system, pair by pair, in balls and rationals; or
    those before the first pair that violates the statement."""
    open_checks = (result.verdicts == UNDECIDED) & batch.finite
    result.escalated = int(np.count_nonzero(open_checks))
    if not result.escalated:
        return
    pairs = open_checks.any(axis=2)
    if until_violated:
        violated = (result.verdicts == VIOLATED).any(axis=2)
        pairs = pairs & ~np.logical_or.accumulate(violated.ravel()).reshape(pairs.shape)
    for i, s in np.argwhere(pairs).tolist():
        ks = np.flatnonzero(open_checks[i, s]).tolist()
        if exact_budget is not None and (
            decided := windows_held_by_outputs(statement, batch.pair(i, s), ks)
        ):
            result.verdicts[i, s, decided] = HOLDS
            ks = [k for k in ks if k not in decided]
        if not ks:
            continue
        if exact_budget is None or exact_budget.spend(batch, len(ks)):
            decide_pair(statement, batch, result, (i, s), ks)
        if until_violated and (result.verdicts[i, s] == VIOLATED).any():
            return


def decide_pair(
    statement: Statement, batch: Batch, result: Judgement, at: tuple[int, int], ks: Sequence[int]
) -> None:
    """Write down what exact arithmetic finds of one pair, a member and a sequence, at these
    windows."""
    i, s = at
    for k, outcome in zip(ks, decide_exactly(statement, batch.pair(i, s), ks), strict=True):
        result.write_outcome((i, s, k), outcome)
