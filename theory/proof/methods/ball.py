"""The maximum of |f| over the real line by ball arithmetic: exact, and for all z.

Around each peak, where |f| takes the bound, f' vanishes exactly and f'' has the sign that makes f
fall off on both sides.  On the rest of [-radius, radius] boxes are split until the second-order
Taylor form f(m) + f'(m) (z - m) + f''(box) (z - m)²/2 stays below the bound.  On the tails the
ranges of the elementary functions show that |f| stays below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from flint import arb, ctx, fmpq
from sympy import Expr

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import rebuilt, times
from rnnbounds.theory.kernel.functions import ball
from rnnbounds.theory.kernel.statements import Statement, eq, le
from rnnbounds.theory.kernel.terms import ABS, PRODUCT, ZERO, Term, number
from rnnbounds.theory.language import Use
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.proof.methods.base import RANGE, Gap, Method, Scope, use_name
from rnnbounds.theory.proof.methods.elementary import Elementary, derivatives
from rnnbounds.theory.proof.methods.identity import Identity

PRECISION = 128
MOST_BOXES = 2_000
PARTS = 4  # of the reach around a peak, on either side
BELOW = 1024  # on the tails |f| is shown to stay below a multiple of 1/1024
Z = door.term(z)


@dataclass(frozen=True)
class BallMaximum(Method):
    """|f(z)| <= c for all real z; `hypotheses` are equations that hold at the peaks."""

    peaks: tuple[Expr, ...]
    hypotheses: tuple[Use, ...] = ()
    radius: int = 8
    reach: float = 0.125

    name: ClassVar[str] = "ball maximum"

    @property
    def uses(self) -> tuple[Use, ...]:
        """The equations."""
        return self.hypotheses

    def reduced(self) -> Iterator[tuple[str, Method]]:
        """Leave out each equation."""
        for use in self.hypotheses:
            rest = tuple(other for other in self.hypotheses if other != use)
            yield use_name(use), replace(self, hypotheses=rest)

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove |f(z)| <= c."""
        if goal.relation != "<=" or goal.lhs.variables != {Z} or goal.rhs.variables:
            raise Gap(f"{goal} does not bound |f(z)|")
        search = _Search(self, goal, scope)
        with ctx.workprec(PRECISION):
            for peak in map(door.term, self.peaks):
                search.peak(peak)
            boxes = search.compact()
            search.tails()
        return f"{len(self.peaks)} peaks, {boxes} boxes, tails beyond |z| = {self.radius} by ranges"


class _Search:
    """One function, its first two derivatives and the bound.

    A product is as large as that of its factors without their moduli, which is differentiated.
    """

    def __init__(self, method: BallMaximum, goal: Statement, scope: Scope) -> None:
        self.method, self.goal, self.scope, self.bound = method, goal, scope, goal.rhs
        factors = goal.lhs.args if goal.lhs.head is PRODUCT else (goal.lhs,)
        bare = times(*map(_bare, factors))
        self.function, self.first, self.second = derivatives(bare, Z, 2, scope)

    def peak(self, peak: Term) -> None:
        """|f| <= c within reach of the peak."""
        slope, value = (rebuilt(one, {Z: peak}) for one in (self.first, self.function))
        try:
            self._equal(slope, ZERO)
        except Gap as gap:
            raise Gap(f"the derivative is not shown to vanish at z = {peak}: {gap}") from gap
        sign = 1 if ball(value) > 0 else -1
        height = ball(value) * sign
        if height > self._limit:
            told = f"counter-model: f = {height.str(8)} against {self.bound}"
            raise Gap(f"{told} at z = {peak}")
        if not height < self._limit:
            self._equal(times(number(sign), value), self.bound)
        reach = self.method.reach
        for part in range(-PARTS, PARTS):
            box = ball(peak) + arb((part + 0.5) * reach / PARTS, reach / PARTS)
            if not sign * self._at(self.second, box) < 0:
                raise Gap(f"the second derivative keeps no sign around z = {peak}")
            if not sign * self._at(self.function, box) > -self._limit:
                raise Gap(f"the other sign is not excluded around z = {peak}")

    def compact(self) -> int:
        """|f| <= c on [-radius, radius] but within reach of the peaks; the number of boxes."""
        centres = [ball(door.term(peak)) for peak in self.method.peaks]
        boxes = [(fmpq(0), fmpq(self.method.radius))]
        count = 0
        while boxes:
            middle, half = boxes.pop()
            count += 1
            at, offset = arb(middle), arb(0, 1) * arb(half)
            if count > MOST_BOXES:
                raise Gap(f"undecided after {MOST_BOXES} boxes, near z = {at.str(8)}")
            if any(abs(at - centre) + half <= self.method.reach for centre in centres):
                continue
            if self._taylor(at, offset) <= self._limit:
                continue
            if abs(self._at(self.function, at)) > self._limit:
                raise Gap(f"counter-model: |f(z)| > {self.bound} at z = {at.str(8)}")
            boxes += [(middle - half / 2, half / 2), (middle + half / 2, half / 2)]
        return count

    def tails(self) -> None:
        """|f| is below a rational below c beyond the radius."""
        below = (self._limit * BELOW).lower().floor().unique_fmpz()
        if below is None:
            raise Gap(f"the value of {self.bound} is not known")
        most, radius = number(Fraction(int(below), BELOW)), number(self.method.radius)
        for outside in (le(radius, Z), le(Z, times(number(-1), radius))):
            within = self.scope.supposing(RANGE, outside)
            try:
                Elementary(RANGE).prove(le(self.goal.lhs, most), within)
            except Gap as gap:
                raise Gap(f"where {outside}: {gap}") from gap

    @property
    def _limit(self) -> arb:
        return ball(self.bound)

    def _at(self, term: Term, box: arb) -> arb:
        return ball(term, {Z: box})

    def _taylor(self, centre: arb, offset: arb) -> arb:
        """|f| on the box."""
        slope, curvature = self._at(self.first, centre), self._at(self.second, centre + offset)
        return abs(
            self._at(self.function, centre) + slope * offset + curvature * offset * offset / 2
        )

    def _equal(self, one: Term, other: Term) -> None:
        """By the normal form, the equations applied; raises Gap."""
        Identity(*self.method.hypotheses).prove(eq(one, other), self.scope)


def _bare(term: Term) -> Term:
    """The term without its moduli."""
    return _bare(term.args[0]) if term.head is ABS else term
