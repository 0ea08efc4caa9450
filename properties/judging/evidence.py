"""Evidence of an attack on one form: counts, the distribution of lhs/rhs, the tightest checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from rnnbounds.properties.judging.judge import (
    HOLDS,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    Judgement,
    Place,
    Verdict,
    has_windows,
    judge,
    quantity_names,
)
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.reports.records.checks import (
    Against,
    Check,
    Sides,
    Tally,
    check_identity,
    merge_sides,
)
from rnnbounds.reports.records.checks import Verdict as VerdictName
from rnnbounds.reports.records.record import Cost
from rnnbounds.reports.text import plural
from rnnbounds.theory.proof.claim import Claim, Form, Statement

Array = npt.NDArray[np.float64]
KEPT_CHECKS = 3
LONGEST_SHOWN_RUN = 64  # steps of a run that shows more than a shorter one


def tightness_key(check: Check) -> tuple[float, int, float, bytes]:
    """The sort key of judged checks, tightest first.

    Among equals the run that shows most comes first: the longest of at most 64 steps, and of these
    the one that forgets slowest. The spec's text decides the rest, so that merging is independent
    of the order of batches.
    """
    steps, rate = check.spec.get("T", SystemSpec.T), check.spec.get("lam", SystemSpec.lam)
    length = steps if steps <= LONGEST_SHOWN_RUN else 0
    return -float(check.ratio or 0), -length, -rate, msgspec.json.encode(check.spec)


def tightest_checks(forms: Iterable[Evidence]) -> tuple[Check, ...]:
    """The tightest checks of several forms: the first three that differ in more than the form, each
    with all forms that share it."""
    checks = sorted((check for form in forms for check in form.tightest), key=tightness_key)
    first = list(dict.fromkeys(map(check_identity, checks)))[:KEPT_CHECKS]
    return tuple(check for check in checks if check_identity(check) in first)


@dataclass
class Evidence:
    """Merged over batches; everything in it is independent of the order in which batches came.

    ``curve`` has, for each window k (or number of steps N, or length T), the largest left side and
    its bound. Of a form that says
    that two things differ, ``nearest`` keeps, for each number of states, the check in which they
    were seen nearest, and by how much they differed.
    """

    claim: str
    form: str
    windowed: bool
    tally: Tally = field(default_factory=Tally)
    systems: int = 0
    pairs: int = 0
    escalated: int = 0
    vacuous: dict[str, int] = field(default_factory=dict)
    cost: Cost | None = None
    tightest: list[Check] = field(default_factory=list)
    failing: list[Check] = field(default_factory=list)
    nearest: dict[str, tuple[float, Check]] = field(default_factory=dict)
    asserts_difference: bool = False
    curve_variable: Against | None = None
    curve: dict[int, Sides] = field(default_factory=dict)

    @classmethod
    def empty(cls, claim: Claim, form: Form) -> Evidence:
        """Nothing seen yet of one form."""
        with_k, names = has_windows(form.statement), quantity_names(form.statement)
        curve_variable: Against | None = (
            "k" if with_k else "N" if "N" in names else "T" if "T" in names else None
        )
        differs = form.statement.relation == "!="
        return cls(
            claim.id, form.name, with_k, asserts_difference=differs, curve_variable=curve_variable
        )

    @property
    def best_ratio(self) -> float | None:
        """The largest lhs/rhs of a judged check."""
        return (
            float(self.tightest[0].ratio)
            if self.tightest and self.tightest[0].ratio is not None
            else None
        )

    def add_batch(self, batch: Batch, judgement: Judgement) -> None:
        """Count one judged batch."""
        ratios, is_judged = judgement.ratio, judgement.verdicts != VACUOUS
        counts = {v.name.lower(): int(np.count_nonzero(judgement.verdicts == v)) for v in Verdict}
        self.tally = self.tally.merge(Tally(**counts))
        self.systems += int(is_judged.any(axis=(1, 2)).sum())
        self.pairs += int(is_judged.any(axis=2).sum())
        self.escalated += judgement.escalated
        self.vacuous = add_counts(self.vacuous, judgement.vacuous)
        self.update_curve(batch, judgement)
        self.keep_checks(batch, judgement, ratios)

    def update_curve(self, batch: Batch, judgement: Judgement) -> None:
        """Note the largest left side at each place of the curve, and the bound on it."""
        if self.curve_variable is None or self.asserts_difference:
            return
        windows = judgement.verdicts.shape[2]
        decided = (judgement.verdicts == HOLDS) | (judgement.verdicts == VIOLATED)
        lhs, rhs = (side.hi.reshape(-1, windows) for side in judgement.sides)
        lhs = np.where(decided.reshape(-1, windows) & np.isfinite(rhs), lhs, -np.inf)
        at_largest = lhs.argmax(axis=0), np.arange(windows)
        horizon = batch.spec.steps if self.curve_variable == "N" else batch.spec.T
        places = range(windows) if self.windowed else (horizon,)
        largest = zip(places, lhs[at_largest].tolist(), rhs[at_largest].tolist(), strict=True)
        points = {at: (high, bound) for at, high, bound in largest if high > -np.inf}
        self.curve = merge_sides(self.curve, points)

    def compare_bounds(self, judgement: Judgement, first_judgement: Judgement) -> None:
        """Note what this form's bound costs beside the first form's, where both hold."""
        both_hold = (judgement.verdicts == HOLDS) & (first_judgement.verdicts == HOLDS)
        with np.errstate(all="ignore"):
            ratio = judgement.rhs.hi / first_judgement.rhs.hi
        ratio = ratio[both_hold & np.isfinite(ratio)]
        if ratio.size:
            self.widen_cost(Cost(least=float(ratio.min()), greatest=float(ratio.max())))

    def widen_cost(self, cost: Cost | None) -> None:
        """Widen the range of costs."""
        if cost is not None:
            self.cost = cost if self.cost is None else self.cost.merge(cost)

    def keep_checks(self, batch: Batch, judgement: Judgement, ratios: Array) -> None:
        """Remember the tightest checks, one for each system, and the first failing ones."""
        # A ratio is finite or NaN, which is no maximum.
        held = np.where(judgement.verdicts == HOLDS, ratios, -np.inf)
        per_system = np.fmax.reduce(held.reshape(len(held), -1), axis=1, initial=-np.inf)
        least = self.tightest[-1].ratio or 0.0 if len(self.tightest) == KEPT_CHECKS else -np.inf
        for i in np.argsort(-per_system, kind="stable")[:KEPT_CHECKS].tolist():
            if np.isfinite(per_system[i]) and per_system[i] >= least:
                s, k = map(int, np.unravel_index(np.nanargmax(held[i]), held[i].shape))
                self.tightest.append(self.record_at(batch, judgement, (i, s, k)))
        failing = (judgement.verdicts == VIOLATED) | (judgement.verdicts == UNDECIDED)
        for i, s, k in np.argwhere(failing)[:KEPT_CHECKS].tolist() if failing.any() else ():
            self.failing.append(self.record_at(batch, judgement, (i, s, k)))
        self.trim_checks()
        self.keep_nearest_sides(batch, judgement)

    def keep_nearest_sides(self, batch: Batch, judgement: Judgement) -> None:
        """Remember where the two sides were seen nearest to one another, if they are to differ."""
        if not self.asserts_difference:
            return
        gap = np.maximum(judgement.lhs.lo - judgement.rhs.hi, judgement.rhs.lo - judgement.lhs.hi)
        gap = np.where(judgement.verdicts == Verdict.HOLDS, gap, np.inf)
        if np.isfinite(gap).any():
            i, s, k = (int(v) for v in np.unravel_index(np.argmin(gap), gap.shape))
            states = plural(batch.spec.states, "state")
            text = f"{states}: the two sides differ by {float(gap[i, s, k])} or more"
            check = msgspec.structs.replace(
                self.record_at(batch, judgement, (i, s, k)), explanation=text
            )
            self.keep_nearer_check(str(batch.spec.states), (float(gap[i, s, k]), check))

    def keep_nearer_check(self, states: str, candidate: tuple[float, Check]) -> None:
        """The nearer of two checks for one number of states; ties by the spec's text."""

        def sort_key(entry: tuple[float, Check]) -> tuple[float, bytes]:
            return entry[0], msgspec.json.encode(entry[1].spec)

        self.nearest[states] = min(self.nearest.get(states, candidate), candidate, key=sort_key)

    def trim_checks(self) -> None:
        """Keep the first few checks: the tightest, and those that fail."""
        self.tightest.sort(key=tightness_key)
        self.failing.sort(
            key=lambda c: (c.verdict != "VIOLATED", msgspec.json.encode(c.spec), c.k or 0)
        )
        del self.tightest[KEPT_CHECKS:], self.failing[KEPT_CHECKS:]

    def merge(self, other: Evidence) -> None:
        """Take in what another part saw of the same form."""
        self.tally = self.tally.merge(other.tally)
        self.systems += other.systems
        self.pairs += other.pairs
        self.escalated += other.escalated
        self.vacuous = add_counts(self.vacuous, other.vacuous)
        self.widen_cost(other.cost)
        if self.curve_variable == other.curve_variable:
            self.curve = merge_sides(self.curve, other.curve)
        self.tightest += other.tightest
        self.failing += other.failing
        for states, candidate in other.nearest.items():
            self.keep_nearer_check(states, candidate)
        self.trim_checks()

    def record_at(self, batch: Batch, judgement: Judgement, at: Place) -> Check:
        """The record of one check, with the command that replays it."""
        i, s, k = at
        spec = batch.spec.select_pair(batch.spec.members[i], s)
        window = k if self.windowed else None
        return check_record(self.claim, self.form, spec, window, *judgement.entry(at))


def judge_forms(
    forms: Sequence[Form], evidence: Mapping[str, Evidence], batch: Batch
) -> list[Judgement]:
    """Judge the forms of one claim on a batch, and add what is seen to their evidence, by name."""
    judgements = [judge(form.statement, form.assumptions, batch) for form in forms]
    for form, judgement in zip(forms, judgements, strict=True):
        evidence[form.name].add_batch(batch, judgement)
        if form is not forms[0] and are_comparable(form.statement, forms[0].statement):
            evidence[form.name].compare_bounds(judgement, judgements[0])
    return judgements


def are_comparable(first: Statement, second: Statement) -> bool:
    """True if two statements bound one lhs from above (≤ or =), neither by a lone symbol."""
    return first.lhs == second.lhs and all(
        side.relation in ("<=", "==") and not side.rhs.is_Symbol for side in (first, second)
    )


def add_counts(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """The counts of both, in the order of their names."""
    names = sorted(first.keys() | second.keys())
    return {name: first.get(name, 0) + second.get(name, 0) for name in names}


def check_record(
    claim: str,
    form: str,
    spec: SystemSpec,
    k: int | None,
    verdict: Verdict,
    lhs: tuple[float, float],
    rhs: tuple[float, float],
    explanation: str = "",
) -> Check:
    """A Check: each side's middle with half its width as the error; lhs/rhs from the upper ends,
    None of a violation that they do not show."""

    def midpoint(ends: tuple[float, float]) -> tuple[float, float]:
        low, high = float(ends[0]), float(ends[1])
        if low == high:
            return low, 0.0
        centre = low + (high - low) / 2
        return centre, float(np.nextafter(max(high - centre, centre - low), np.inf))

    with np.errstate(all="ignore"):
        ratio = float(np.float64(lhs[1]) / np.float64(rhs[1])) if rhs[1] else float("nan")
    (lhs_mid, lhs_error), (rhs_mid, rhs_error) = midpoint(lhs), midpoint(rhs)
    if verdict == Verdict.HOLDS:
        ratio = min(ratio, 1.0)
    apart = lhs == rhs or max(lhs[0], rhs[0]) > min(lhs[1], rhs[1])
    is_known = verdict == Verdict.HOLDS or (verdict == Verdict.VIOLATED and apart)
    return Check(
        claim=claim, form=form, spec=spec.explicit_fields, k=k,
        lhs=lhs_mid, lhs_error=lhs_error, rhs=rhs_mid, rhs_error=rhs_error,
        ratio=ratio if is_known and np.isfinite(ratio) else None,
        verdict=cast(VerdictName, verdict.name),
        replay=f"rnnbounds replay '{spec.text}' --claim {claim} --form {form}",
        explanation=explanation,
    )  # fmt: skip
