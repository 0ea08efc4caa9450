"""Shrinking: from a counter-example to one small system that still is one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rnnbounds.properties.attacks.budget import TRIES
from rnnbounds.properties.attacks.simplify import SIZE_FIELDS, minimal_specs, simplifications
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.check_records import check_record
from rnnbounds.properties.judging.judge import ExactBudget, decide_pair, judge
from rnnbounds.properties.judging.sides import has_windows
from rnnbounds.properties.judging.verdict import Judgement, Verdict
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.spec import SystemSpec, check_spec
from rnnbounds.properties.systems.table import parse_spec
from rnnbounds.reports.records.record import Check
from rnnbounds.theory.proof.claim import Assumption, Statement

PASSES = 2
CACHED_SYSTEMS = 64  # systems: variants of a claim shrink to the same few
Ends = tuple[float, float]


class Violation(NamedTuple):
    """A violating pair as a spec, both sides at its least window, and how it was judged: the batch,
    and the pair's place and the window in it."""

    spec: SystemSpec
    position: tuple[int, int, int]
    lhs: Ends
    rhs: Ends
    batch: Batch
    judgement: Judgement

    @property
    def window(self) -> int:
        """The least window."""
        return self.position[2]


def find_violation(
    statement: Statement, assumptions: Sequence[Assumption], spec: SystemSpec,
    window: int | None = None,
) -> Violation | None:  # fmt: skip
    """The first violating pair and window of a spec, with both sides; None if none is.

    What float64 sees is enough. Where it sees nothing exact arithmetic is asked, of every window in
    its turn, or of one alone.
    """
    try:
        check_spec(spec)
    except SpecError:
        return None
    batch = cached_system(spec.text)
    judgement = judge(statement, tuple(assumptions), batch, ExactBudget(0))
    if not (judgement.verdicts == Verdict.VIOLATED).any():
        decide_open_checks(statement, batch, judgement, window)
    violations = np.argwhere(judgement.verdicts == Verdict.VIOLATED)
    if not len(violations):
        return None
    i, s, k = min(
        (tuple(int(v) for v in index) for index in violations), key=lambda index: (index[2], index)
    )
    lhs, rhs = (
        (float(side.lo[i, s, k]), float(side.hi[i, s, k]))
        for side in (judgement.lhs, judgement.rhs)
    )
    return Violation(spec.select_pair(spec.members[i], s), (i, s, k), lhs, rhs, batch, judgement)


@lru_cache(maxsize=CACHED_SYSTEMS)
def cached_system(text: str) -> Batch:
    """The system of a spec, with all that was measured of it so far."""
    return build_batch(parse_spec(text))


def decide_open_checks(
    statement: Statement, batch: Batch, judgement: Judgement, window: int | None
) -> None:
    """Let exact arithmetic look for one violation among what is open, the least window first."""
    last_window = judgement.verdicts.shape[2] - 1
    open_checks = (judgement.verdicts == Verdict.UNDECIDED) & batch.finite
    for i, s, k in sorted(np.argwhere(open_checks).tolist(), key=lambda index: (index[2], index)):
        if window is None or k == min(window, last_window):
            decide_pair(statement, batch, judgement, (i, s), [k])
            if judgement.verdicts[i, s, k] == Verdict.VIOLATED:
                return


def shrink(
    claim: str, form: str, statement: Statement, assumptions: Sequence[Assumption],
    spec: SystemSpec, tries: int = TRIES,
) -> Check | None:  # fmt: skip
    """The smallest violating system that a greedy walk finds, explained; None if there is none.

    From a leap, if one leads to a violation, or from the spec each move is made as often as it
    helps, and all of them once more, until so many tries failed; exact arithmetic is asked at the
    window that is violated alone. Below a size that was too small none is tried.
    """
    violations = (
        find_violation(statement, assumptions, start) for start in (*minimal_specs(spec), spec)
    )
    best = next(filter(None, violations), None)
    if best is None:
        return None
    failed_specs: set[str] = set()
    smallest: dict[str, int] = {}

    def first_simpler(name: str, spec: SystemSpec, window: int) -> Violation | None:
        for candidate in simplifications(spec, window).get(name, ()):
            size = getattr(candidate, name) if name in SIZE_FIELDS else 0
            if len(failed_specs) == tries:
                break
            if candidate.text not in failed_specs and size >= smallest.get(name, 0):
                if simpler := find_violation(statement, assumptions, candidate, window):
                    return simpler
                failed_specs.add(candidate.text)
                smallest[name] = size + (name in SIZE_FIELDS)
        return None

    previous = None
    for _ in range(PASSES):
        if best.spec == previous:
            break
        previous = best.spec
        smallest.clear()
        for name in simplifications(previous):
            while simpler := first_simpler(name, best.spec, best.window):
                best = simpler
    window = best.window if has_windows(statement) else None
    return check_record(
        claim, form, best.spec, window, Verdict.VIOLATED, best.lhs, best.rhs,
        explanation=explain_violation(statement, best.spec, window, best.lhs, best.rhs),
    )  # fmt: skip


def explain_violation(
    statement: Statement,
    spec: SystemSpec,
    k: int | None,
    lhs: tuple[float, float],
    rhs: tuple[float, float],
) -> str:
    """One sentence: the system, and both sides."""
    kind = kind_of_spec(spec)
    parts = [f"{kind.route.display_name(spec)}, n = {spec.n}, T = {spec.T}"]
    if kind.route.causal:
        parts.append(f"{spec.layers} × {spec.taps} taps, dilation {spec.dilation}^l")
    elif spec.n <= 2:
        weights = cached_system(spec.text).weights
        name = "W" if "W" in weights else next(iter(weights))  # of a cell without W the first
        W = weights[name][0].tolist()
        parts.append(f"{name} = {W[0][0]!r}" if np.shape(W) == (1, 1) else f"{name} = {W}")
    if k is not None:
        parts.append(f"k = {k}")
    opposite = {"<=": ">", "<": ">=", "exists": ">", "==": "!=", "!=": "=="}[statement.relation]
    lhs_text = "" if statement.lhs.is_number else f"{statement.lhs} = "
    rhs_text = "" if statement.rhs.is_number else f" = {statement.rhs}"
    return f"{', '.join(parts)}: {lhs_text}{lhs[0]:.6g} {opposite} {rhs[1]:.6g}{rhs_text}"
