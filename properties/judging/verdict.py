"""Verdicts of comparisons: what two enclosures decide, and the judgement of a statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from sympy import Expr

from rnnbounds.properties.judging.exact_decision import Outcome
from rnnbounds.theory.numbers.interval import Interval


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
    """Verdicts of one statement on one batch, (B, S, windows); one window where there is no k."""

    verdicts: VerdictCodes
    lhs: Interval
    rhs: Interval
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
