"""Verdicts of comparisons: what two enclosures decide, and the judgement of a statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from sympy import Expr

from rnnbounds.properties.judging.exact_decision import Outcome
from rnnbounds.reports.records.histogram import count_ratios
from rnnbounds.reports.records.record import Histogram, Tally
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


@dataclass(frozen=True)
class Summary:
    """Counts of a judgement, and where its tightest and its failing checks are.

    systems, pairs: those with a check that is not VACUOUS. ratios: how lhs/rhs of these checks is
    distributed. per_system: the greatest of the checks that hold, (B,), −∞ where none does; place:
    the (sequence, window) of a system's. failing: the first places that are VIOLATED or UNDECIDED.
    """

    tally: Tally
    systems: int
    pairs: int
    ratios: Histogram
    per_system: npt.NDArray[np.float64]
    place: Callable[[int], tuple[int, int]]
    failing: list[Place]


@dataclass(frozen=True)
class OpenChecks:
    """Checks to be decided exactly: how many, a mask (B, S) of their pairs, the windows of one."""

    count: int
    pairs: npt.NDArray[np.bool_]
    windows: Callable[[int, int], list[int]]


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

    def summary(self, most_failing: int) -> Summary:
        """Counts and places; so many failing ones."""
        holds, violated, undecided, vacuous = (
            int(np.count_nonzero(self.verdicts == verdict)) for verdict in Verdict
        )
        ratios, is_judged = self.ratio, self.verdicts != VACUOUS
        judged_ratios = ratios[is_judged] if vacuous else ratios
        # A ratio is finite or NaN, which is no maximum.
        held = np.where(self.verdicts == HOLDS, ratios, -np.inf)
        rows = held.reshape(len(held), -1)

        def place(i: int) -> tuple[int, int]:
            s, k = np.unravel_index(np.nanargmax(held[i]), held[i].shape)
            return int(s), int(k)

        failing = (self.verdicts == VIOLATED) | (self.verdicts == UNDECIDED)
        places = np.argwhere(failing)[:most_failing].tolist() if failing.any() else []
        return Summary(
            Tally(holds=holds, violated=violated, undecided=undecided, vacuous=vacuous),
            int(is_judged.any(axis=(1, 2)).sum()),
            int(is_judged.any(axis=2).sum()),
            count_ratios(judged_ratios),
            np.fmax.reduce(rows, axis=1, initial=-np.inf),
            place,
            [(i, s, k) for i, s, k in places],
        )

    def largest_sides(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The largest left side of the decided checks at each window, and the right side there;
        (windows,) each, −∞ on the left where none is decided."""
        windows = self.verdicts.shape[2]
        is_decided = (self.verdicts == HOLDS) | (self.verdicts == VIOLATED)
        lhs, rhs = (side.hi.reshape(-1, windows) for side in self.sides)
        lhs = np.where(is_decided.reshape(-1, windows) & np.isfinite(rhs), lhs, -np.inf)
        at_largest = lhs.argmax(axis=0), np.arange(windows)
        return lhs[at_largest], rhs[at_largest]

    def cost_beside(self, other: Judgement) -> Ends | None:
        """Least and greatest of this right side over another's, where both statements hold."""
        with np.errstate(all="ignore"):
            ratio = self.rhs.hi / other.rhs.hi
        ratio = ratio[(self.verdicts == HOLDS) & (other.verdicts == HOLDS) & np.isfinite(ratio)]
        return (float(ratio.min()), float(ratio.max())) if ratio.size else None

    @property
    def checks(self) -> int:
        """How many."""
        return self.verdicts.size

    def open_checks(self, finite: npt.NDArray[np.bool_]) -> OpenChecks:
        """Those that are UNDECIDED, of finite systems."""
        is_open = (self.verdicts == UNDECIDED) & finite
        return OpenChecks(
            int(np.count_nonzero(is_open)),
            is_open.any(axis=2),
            lambda i, s: np.flatnonzero(is_open[i, s]).tolist(),
        )

    def violated_pairs(self) -> npt.NDArray[np.bool_]:
        """Mask (B, S) of the pairs that violate the statement."""
        return np.asarray((self.verdicts == VIOLATED).any(axis=2))

    def entry(self, at: Place) -> tuple[Verdict, Ends, Ends]:
        """Verdict and ends of both sides of one check."""
        lhs, rhs = ((float(side.lo[at]), float(side.hi[at])) for side in self.sides)
        return Verdict(int(self.verdicts[at])), lhs, rhs

    def write_outcome(self, at: tuple[int, int, int], outcome: Outcome) -> None:
        """Take what exact arithmetic found of one check; the sides are views until something is."""
        if not self.lhs.lo.flags.writeable:
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
