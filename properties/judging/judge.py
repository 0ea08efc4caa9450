"""The judge: lhs against rhs, with the errors of both, in three arithmetics.

First float64 intervals over the whole batch; what they cannot decide goes, pair by pair, to balls
of rising precision and at last to exact rationals, where norms are compared by their squares.
Nothing here is a tolerance: a comparison decides only if no rounding error can change it, and
whatever is not finite decides nothing.

All that is certified of a cell rests on its box, which `impl.arithmetic.invariance` proves or
refuses. Of one that is refused nothing is certified, so that its checks are vacuous; but a run from
zero that has certainly left the box which its cell states, or that is said to be proved of it,
convicts the cell, and ends the attack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import torch
from sympy import Expr

from rnnbounds.properties.errors import BoxError, QuantityError
from rnnbounds.properties.judging.exact_decision import Outcome, decide_exactly, difference_text
from rnnbounds.properties.judging.simplification import statement_at_end, windows_held_by_outputs
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.quantity import cached_world
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import PARAMETERS, Batch
from rnnbounds.properties.systems.cells.batch import cells_of
from rnnbounds.properties.systems.exact.networks import is_vanilla
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.evaluate import enclose
from rnnbounds.theory.numbers.interval import Interval
from rnnbounds.theory.proof.claim import Assumption, Form, Statement


class Verdict(IntEnum):
    """Verdict of a check; only HOLDS is a pass."""

    HOLDS = 0
    VIOLATED = 1
    UNDECIDED = 2
    VACUOUS = 3


# As arrays of verdicts hold them.
HOLDS, VIOLATED, UNDECIDED, VACUOUS = map(np.int8, Verdict)
VerdictCodes = npt.NDArray[np.int8]
KnownParts = dict[Expr, Interval]
Place = tuple[int, int, int]  # system, sequence, window
Ends = tuple[float, float]


@dataclass
class Judgement:
    """Verdicts of one statement on one batch, (B, S, windows); one window where there is no k.

    unmet: by assumption or missing constant, a mask that broadcasts to the checks that are VACUOUS
    for it. vacuous: of how many checks each is the first such reason.
    """

    verdicts: VerdictCodes
    lhs: Interval
    rhs: Interval
    unmet: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    vacuous: dict[str, int] = field(default_factory=dict)
    escalated: int = 0

    @property
    def ratio(self) -> npt.NDArray[np.float64]:
        """lhs/rhs at the upper ends where a verdict was reached; NaN for 0/0: it says nothing."""
        lhs, rhs = self.lhs.hi, self.rhs.hi
        with np.errstate(all="ignore"):
            ratio = lhs / rhs
        holds = self.verdicts == HOLDS
        # Upper ends may overlap where exact arithmetic proved lhs <= rhs: the true ratio is at most
        # 1.
        np.minimum(ratio, 1.0, out=ratio, where=holds)
        is_known = np.isfinite(ratio) & (holds | (self.verdicts == VIOLATED))
        return ratio if is_known.all() else np.where(is_known, ratio, np.nan)

    def entry(self, at: Place) -> tuple[Verdict, Ends, Ends]:
        """Verdict and ends of both sides of one check."""
        lhs, rhs = ((float(side.lo[at]), float(side.hi[at])) for side in self.sides)
        return Verdict(int(self.verdicts[at])), lhs, rhs

    def write_outcome(self, at: Place, outcome: Outcome) -> None:
        """Take what exact arithmetic found of one check; sides are views until something is, but
        for one with a NaN, of which its interval made a copy."""
        if not all(side.lo.flags.writeable for side in self.sides):
            self.lhs, self.rhs = (Interval(*map(np.array, side.ends)) for side in self.sides)
        self.verdicts[at] = Verdict[outcome.verdict]
        if outcome.lhs is not None and outcome.rhs is not None:
            self.lhs.lo[at], self.lhs.hi[at] = outcome.lhs
            self.rhs.lo[at], self.rhs.hi[at] = outcome.rhs

    @property
    def sides(self) -> tuple[Interval, Interval]:
        """(lhs, rhs)."""
        return self.lhs, self.rhs


def compare_sides(relation: str, lhs: Interval, rhs: Interval) -> VerdictCodes:
    """HOLDS or VIOLATED where the enclosures decide it, UNDECIDED elsewhere.

    ``==`` holds if the enclosures meet and are finite: the gap is then below its rigorous rounding
    bound; ``exists`` asks lhs <= rhs of a witness.
    """
    with np.errstate(invalid="ignore"):
        if relation in ("<=", "exists"):
            holds, fails = lhs.hi <= rhs.lo, lhs.lo > rhs.hi
        elif relation == "<":
            holds, fails = lhs.hi < rhs.lo, lhs.lo >= rhs.hi
        else:
            disjoint = (lhs.lo > rhs.hi) | (lhs.hi < rhs.lo)
            are_points = (lhs.lo == lhs.hi) & (rhs.lo == rhs.hi)
            overlap = (lhs.lo <= rhs.hi) & (rhs.lo <= lhs.hi)
            holds, fails = (
                (overlap, disjoint) if relation == "==" else (disjoint, overlap & are_points)
            )
    finite = np.isfinite(lhs.lo) & np.isfinite(lhs.hi) & np.isfinite(rhs.lo) & np.isfinite(rhs.hi)
    is_held = np.asarray(holds & finite)
    if is_held.all():
        return np.full(is_held.shape, HOLDS)
    return np.asarray(np.where(is_held, HOLDS, np.where(fails & finite, VIOLATED, UNDECIDED)))


def closeness_note(statement: Statement, pair: Batch, k: int, lhs: Ends, rhs: Ends) -> str:
    """Reason that a violation of a pair is one whose sides' enclosures do not show it, and by how
    much they differ, if balls tell that; empty if the enclosures show it."""
    sides = (Interval(*map(np.array, ends)) for ends in (lhs, rhs))
    if compare_sides(statement.relation, *sides) == VIOLATED:
        return ""
    difference = difference_text(statement, pair, k)
    note = "closer than float64 tells apart; decided in balls and rationals"
    return note + (f": lhs − rhs = {difference}" if difference else "")


def broadcast_side(side: Interval, shape: tuple[int, ...]) -> Interval:
    """The side in the shape of the verdicts: views that are not to be written to."""
    lo, hi = (end.view() if end.shape == shape else np.broadcast_to(end, shape)
              for end in side.ends)  # fmt: skip
    lo.flags.writeable = hi.flags.writeable = False
    return Interval(lo, hi)


def enclose_quantities(batch: Batch, names: set[str]) -> dict[str, Interval]:
    """Enclosures of every quantity a statement speaks of, by name."""
    enclosures: dict[str, Interval] = {}
    for name in sorted(names):
        role = VOCABULARY[name].role
        if name not in (MEASURES if role == "measured" else PARAMETERS) and role != "certified":
            raise QuantityError(name, batch.spec.kind)
        if role == "parameter":
            enclosures[name] = Interval(batch.parameters[name], batch.parameters[name])
        elif role == "certified":
            enclosures[name] = batch.constant(name)
        else:
            key = f"enclosure of {name}"
            if key not in batch.cache:
                batch.cache[key] = MEASURES[name].enclose(batch)
            enclosures[name] = batch.cache[key]
    return enclosures


def has_windows(statement: Statement) -> bool:
    """True if a quantity of the statement depends on the window k."""
    return any(VOCABULARY[name].windowed for name in quantity_names(statement))


def quantity_names(*statements: Statement) -> set[str]:
    """The names of the vocabulary in the statements."""
    return {symbol.name for statement in statements for symbol in statement.symbols}


def form_quantities(*forms: Form) -> set[str]:
    """The names of the vocabulary in the statements and the assumptions of forms."""
    conditions = (a.condition for form in forms for a in form.assumptions)
    return quantity_names(*(form.statement for form in forms), *filter(None, conditions))


def enclose_sides(
    statement: Statement, env: dict[str, Interval], known: KnownParts | None = None
) -> tuple[Interval, Interval]:
    """Both sides enclosed; ``known`` has the parts of other statements about the same batch."""
    known = {} if known is None else known
    return enclose(statement.lhs, env, known), enclose(statement.rhs, env, known)


def unmet_assumptions(
    assumptions: tuple[Assumption, ...], env: dict[str, Interval], known: KnownParts | None = None
) -> dict[str, npt.NDArray[np.bool_]]:
    """Mask, by assumption id, the checks where the assumption is not certainly met."""
    masks = {}
    for assumption in assumptions:
        if assumption.condition is not None:
            both_sides = enclose_sides(assumption.condition, env, known)
            masks[assumption.id] = (
                compare_sides(assumption.condition.relation, *both_sides) != HOLDS
            )
    return masks


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
    result = Judgement(verdicts, broadcast_side(lhs, shape), broadcast_side(rhs, shape), masks)
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
