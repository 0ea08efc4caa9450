"""Ranges by ball arithmetic: the maximum of |f| over the real line, exact, and for all z."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb, ctx, fmpq
from sympy import Expr

from rnnbounds.theory.kernel import door, heads
from rnnbounds.theory.kernel.algebra import rebuilt, times
from rnnbounds.theory.kernel.functions import ball, derivative
from rnnbounds.theory.kernel.statements import Statement, domains, eq, le
from rnnbounds.theory.kernel.terms import ZERO, Term, number
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
        # |f| is the product of the moduli of its factors: f without these is differentiated.
        factors = goal.lhs.args if goal.lhs.head is heads.PRODUCT else (goal.lhs,)
        f = derivatives(times(*map(_without_moduli, factors)), Z, 2, scope)
        with ctx.workprec(PRECISION):
            for peak in map(door.term, self.peaks):
                self._check_peak(f, peak, goal.rhs, scope)
            boxes = self._check_interior(f, goal.rhs)
            self._check_tails(goal, scope)
        return f"{len(self.peaks)} peaks, {boxes} boxes, tails beyond |z| = {self.radius} by ranges"

    def _check_peak(self, f: list[Term], peak: Term, bound: Term, scope: Scope) -> None:
        """Show |f| <= c within `reach` of the peak; raise Gap otherwise."""
        value, slope = (rebuilt(term, {Z: peak}) for term in f[:2])
        sign, limit = 1 if ball(value) > 0 else -1, ball(bound)
        with in_part(f"the derivative is not shown to vanish at z = {peak}"):
            Smt(*self.hypotheses).prove(eq(slope, ZERO), scope)
        if not sign * ball(value) < limit:
            with in_part(f"f = {ball(value).str(8)} against {bound} at z = {peak}"):
                Smt(*self.hypotheses).prove(eq(times(number(sign), value), bound), scope)
        for part in range(-PARTS, PARTS):
            box = ball(peak) + arb((part + 0.5) * self.reach / PARTS, self.reach / PARTS)
            if not sign * ball(f[2], {Z: box}) < 0:
                raise Gap(f"the second derivative keeps no sign around z = {peak}")
            if not sign * ball(f[0], {Z: box}) > -limit:
                raise Gap(f"the other sign is not excluded around z = {peak}")

    def _check_interior(self, f: list[Term], bound: Term) -> int:
        """|f| <= c on [-radius, radius] but within reach of the peaks; the number of boxes."""
        centres, limit = [ball(door.term(peak)) for peak in self.peaks], ball(bound)
        boxes, count = [(fmpq(0), fmpq(self.radius))], 0
        while boxes:
            middle, half = boxes.pop()
            count += 1
            point, offset = arb(middle), arb(0, 1) * arb(half)
            if count > MAX_BOXES:
                raise Gap(f"undecided after {MAX_BOXES} boxes, near z = {point.str(8)}")
            if any(abs(point - centre) + half <= self.reach for centre in centres):
                continue
            value, slope = (ball(term, {Z: point}) for term in f[:2])
            curvature = ball(f[2], {Z: point + offset})
            if abs(value + slope * offset + curvature * offset * offset / 2) <= limit:
                continue
            if abs(value) > limit:
                raise Gap(f"counter-model: |f(z)| > {bound} at z = {point.str(8)}")
            boxes += [(middle - half / 2, half / 2), (middle + half / 2, half / 2)]
        return count

    def _check_tails(self, goal: Statement, scope: Scope) -> None:
        """Show |f| <= c beyond the radius, by the ranges of elementary functions."""
        largest = (ball(goal.rhs) * DENOMINATOR).lower().floor().unique_fmpz()
        if largest is None:
            raise Gap(f"the value of {goal.rhs} is not known")
        bound, radius = number(Fraction(int(largest), DENOMINATOR)), number(self.radius)
        for tail in (le(radius, Z), le(Z, times(number(-1), radius))):
            with in_part(f"where {tail}"):
                Smt(RANGE).prove(le(goal.lhs, bound), scope.with_hypothesis(RANGE, tail))


def _without_moduli(term: Term) -> Term:
    """Remove |·| from the term: |f| becomes f."""
    return _without_moduli(term.args[0]) if term.head is heads.ABS else term
