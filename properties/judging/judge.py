"""The judge: lhs against rhs, with the errors of both, in three arithmetics.

First float64 intervals over the whole batch; what they cannot decide goes, pair by pair, to balls
of rising precision and at last to exact rationals, where norms are compared by their squares.
Nothing here is a tolerance: a comparison decides only if no rounding error can change it, and
whatever is not finite decides nothing.

All that is certified of a cell rests on its box, which `impl.arithmetic.invariance` proves or
refuses. Of one that is refused nothing is certified, so that its checks are vacuous; but a run from
zero that has certainly left the box which its cell states, or that is said to be proved of it,
convicts the cell, and ends the attack.

Of a typed statement about outputs y = C h no system need be run: y_gap = ‖C(h_T − h_Tᵏ)‖₂ ≤ ‖C‖₂
h_gap, with equality for some gap. So y_gap p ≤ h_gap b holds for all states if ‖C‖₂ p ≤ b; that is
decided exactly, from the weights C and the rationals p and b, whatever the certified norm of C is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sympy import Expr, Mul

from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.properties.errors import BoxError
from rnnbounds.properties.judging.exact_decision import decide_exactly, rational_values
from rnnbounds.properties.judging.sides import (
    broadcast_side,
    enclose_quantities,
    enclose_sides,
    has_windows,
    quantity_names,
    unmet_assumptions,
)
from rnnbounds.properties.judging.simplification import h_gap, statement_at_end, y_gap
from rnnbounds.properties.judging.verdict import (
    HOLDS,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    Judgement,
    Verdict,
    compare_sides,
)
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.quantity import cached_world
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.batch import cells_of
from rnnbounds.properties.systems.exact.networks import is_vanilla
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.evaluate import rational
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
    if (
        not always_measured
        and cells_of(batch) is None
        and any(mask.all() for mask in masks.values())
    ):
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
    vanilla = is_vanilla(batch) and has_windows(statement)
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


def require_boxes(batch: Batch) -> None:
    """Raise BoxError if a run from zero leaves the stated box by more than its rounding."""
    cells = cells_of(batch)
    has_float_reading = any(key.startswith("world FloatCarrier") for key in batch.cache)
    if cells is None or not (has_float_reading or bool(cells.invariant_box.refused.any())):
        return
    # What is used may be smaller than what was stated: no run leaves the one or the other.
    stated_box = torch.minimum(cells.invariant_box.proposed, cells.invariant_box.box)[:, :, None]
    world = cached_world(batch, FLOATS)
    for t in range(batch.spec.T + 1):
        s = world.state(read(("state", ("x",), 0, t), world))
        is_outside = s.value.abs() - s.error > stated_box
        if bool(is_outside.any()):
            i, j, column = (int(place) for place in torch.nonzero(is_outside)[0])
            pair_spec = batch.spec.select_pair(batch.spec.members[i], column)
            magnitude, bound = float(s.value[i, j, column].abs()), float(stated_box[i, j, 0])
            raise BoxError(
                cells.kind,
                f"|s_{j + 1}| = {magnitude:.6g} > {bound:.6g} at t = {t}",
                pair_spec.text,
            )


def windows_held_by_outputs(statement: Statement, pair: Batch, ks: Sequence[int]) -> list[int]:
    """The windows among `ks` at which the statement holds for every state; others are open."""
    coefficients = gap_coefficients(statement)
    if coefficients is None or not is_vanilla(pair):
        return []
    return [k for k in ks if is_bounded(*coefficients, pair, k)]


def gap_coefficients(statement: Statement) -> tuple[Expr, Expr] | None:
    """The p and b of y_gap p ≤ h_gap b; None for other statements."""
    left, right = ([*Mul.make_args(side)] for side in (statement.lhs, statement.rhs))
    if statement.relation != "<=" or y_gap not in left or h_gap not in right:
        return None
    left.remove(y_gap)
    right.remove(h_gap)
    return Mul(*left), Mul(*right)


def is_bounded(p: Expr, b: Expr, pair: Batch, k: int) -> bool:
    """True if p ≥ 0 and ‖C‖₂ p ≤ b, exactly; False if p or b has no known rational value."""
    numbers = [rational_values(side, pair, k) for side in (p, b)]
    if numbers[0] is None or numbers[1] is None:
        return False
    scale, bound = rational(p, numbers[0]), rational(b, numbers[1])
    if scale is None or bound is None or scale < 0 or bound < 0:
        return False
    return scale == 0 or rational_norm_at_most(pair.C[0], bound / scale)
