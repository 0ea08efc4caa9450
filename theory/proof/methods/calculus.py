"""Ranges by ball arithmetic: the maximum of |f| over the real line, exact, and for all z."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb, ctx, fmpq
from sympy import Expr

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import rebuilt, times
from rnnbounds.theory.kernel.functions import ball, derivative
from rnnbounds.theory.kernel.statements import Statement, domains, eq, le
from rnnbounds.theory.kernel.terms import ABS, PRODUCT, ZERO, Term, number
from rnnbounds.theory.language import Use
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.proof.methods.base import RANGE, Gap, Method, Scope, Smt, in_part

PRECISION = 128  # of balls around peaks and in boxes
MAX_BOXES = 2_000
PARTS = 4  # of the reach around a peak, on either side
DENOMINATOR = 1024  # on the tails |f| is shown to stay below a multiple of 1/1024
Z = door.term(z)


def derivatives(term: Term, point: Term, order: int, scope: Scope) -> list[Term]:
    """The term and its derivatives up to this order; raises Gap unless, by their ranges, all have a
    value for all reals."""
    terms, conditions = [term], list(domains((term,)))
    for _ in range(order):
        terms.append(derivative(terms[-1], point, conditions))
    for condition in dict.fromkeys(conditions):
        with in_part(f"{term} is not shown to be smooth, {condition}"):
            Smt().prove(condition, scope)
    return terms


@dataclass(frozen=True)
class BallMaximum(Method):
    """|f(z)| <= c for all real z; `hypotheses` are equations that hold at the peaks.

    Around each peak, where |f| takes the bound, f' vanishes exactly and f'' has the sign that makes
    f fall off on both sides.  On the rest of [-radius, radius] boxes are split until the second-
    order Taylor form f(m) + f'(m) (z - m) + f''(box) (z - m)²/2 stays below the bound.  On the
    tails the ranges of the elementary functions show that |f| stays below it.
    """

    peaks: tuple[Expr, ...]
    hypotheses: tuple[Use, ...] = ()
    radius: int = 8
    reach: float = 0.125

    name: ClassVar[str] = "ball maximum"

    @property
    def uses(self) -> tuple[Use, ...]:
        """Equations that hold at the peaks."""
        return self.hypotheses

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove |f(z)| <= c for all real z: at the peaks, between them and on the tails."""
        if goal.relation != "<=" or goal.lhs.variables != {Z} or goal.rhs.variables:
            raise Gap(f"{goal} does not bound |f(z)|")
        search = _MaximumSearch(self, goal, scope)
        with ctx.workprec(PRECISION):
            for peak in map(door.term, self.peaks):
                search.check_peak(peak)
            boxes = search.check_interior()
            search.check_tails()
        return f"{len(self.peaks)} peaks, {boxes} boxes, tails beyond |z| = {self.radius} by ranges"


class _MaximumSearch:
    """One function, its first two derivatives and the bound.

    A bare is as large as that of its factors without their moduli, which is differentiated.
    """

    def __init__(self, method: BallMaximum, goal: Statement, scope: Scope) -> None:
        self.method, self.goal, self.scope, self.bound = method, goal, scope, goal.rhs
        factors = goal.lhs.args if goal.lhs.head is PRODUCT else (goal.lhs,)
        bare = times(*map(_without_moduli, factors))
        self.function, self.first, self.second = derivatives(bare, Z, 2, scope)

    def check_peak(self, peak: Term) -> None:
        """Show |f| <= c within `reach` of the peak; raise Gap otherwise."""
        slope, value = (rebuilt(term, {Z: peak}) for term in (self.first, self.function))
        with in_part(f"the derivative is not shown to vanish at z = {peak}"):
            self._require_equal(slope, ZERO)
        sign = 1 if ball(value) > 0 else -1
        height = ball(value) * sign
        if height > self._limit:
            excess = f"counter-model: f = {height.str(8)} against {self.bound}"
            raise Gap(f"{excess} at z = {peak}")
        if not height < self._limit:
            self._require_equal(times(number(sign), value), self.bound)
        reach = self.method.reach
        for part in range(-PARTS, PARTS):
            box = ball(peak) + arb((part + 0.5) * reach / PARTS, reach / PARTS)
            if not sign * self._on(self.second, box) < 0:
                raise Gap(f"the second derivative keeps no sign around z = {peak}")
            if not sign * self._on(self.function, box) > -self._limit:
                raise Gap(f"the other sign is not excluded around z = {peak}")

    def check_interior(self) -> int:
        """|f| <= c on [-radius, radius] but within reach of the peaks; the number of boxes."""
        centres = [ball(door.term(peak)) for peak in self.method.peaks]
        boxes = [(fmpq(0), fmpq(self.method.radius))]
        count = 0
        while boxes:
            middle, half = boxes.pop()
            count += 1
            point, offset = arb(middle), arb(0, 1) * arb(half)
            if count > MAX_BOXES:
                raise Gap(f"undecided after {MAX_BOXES} boxes, near z = {point.str(8)}")
            if any(abs(point - centre) + half <= self.method.reach for centre in centres):
                continue
            if self._taylor_bound(point, offset) <= self._limit:
                continue
            if abs(self._on(self.function, point)) > self._limit:
                raise Gap(f"counter-model: |f(z)| > {self.bound} at z = {point.str(8)}")
            boxes += [(middle - half / 2, half / 2), (middle + half / 2, half / 2)]
        return count

    def check_tails(self) -> None:
        """Show |f| <= c beyond the radius, by the ranges of elementary functions."""
        largest = (self._limit * DENOMINATOR).lower().floor().unique_fmpz()
        if largest is None:
            raise Gap(f"the value of {self.bound} is not known")
        bound, radius = (number(Fraction(int(largest), DENOMINATOR)), number(self.method.radius))
        for tail in (le(radius, Z), le(Z, times(number(-1), radius))):
            within = self.scope.with_hypothesis(RANGE, tail)
            with in_part(f"where {tail}"):
                Smt(RANGE).prove(le(self.goal.lhs, bound), within)

    @property
    def _limit(self) -> arb:
        return ball(self.bound)

    def _on(self, term: Term, box: arb) -> arb:
        return ball(term, {Z: box})

    def _taylor_bound(self, centre: arb, offset: arb) -> arb:
        """Bound |f| on the box by its second-order Taylor form."""
        slope, curvature = (self._on(self.first, centre), self._on(self.second, centre + offset))
        return abs(
            self._on(self.function, centre) + slope * offset + curvature * offset * offset / 2
        )

    def _require_equal(self, one: Term, other: Term) -> None:
        """Raise Gap unless both terms have one normal form under the equations."""
        Smt(*self.method.hypotheses).prove(eq(one, other), self.scope)


def _without_moduli(term: Term) -> Term:
    """Remove |·| from the term: |f| becomes f."""
    return _without_moduli(term.args[0]) if term.head is ABS else term
