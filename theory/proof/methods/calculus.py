"""Inequalities of functions of one real variable, by what the kernel knows of functions.

`Elementary`: each of tanh z, exp z, sin z … becomes a fresh real in its range; what is left are
polynomials. `Exact`: closed statements, decided in rationals where possible, else in balls.
`Monotone`: if f(a) ≥ 0 and f' ≥ 0 on [a, ∞), then f ≥ 0 there; f is built of polynomials,
quotients, log and exponential, and that it has a value and a derivative on all of [a, ∞) is shown
too. `BallMaximum`: the maximum of |f| over the real line, exact, and for all z.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb, ctx, fmpq
from sympy import Dummy, Expr, Rational, Symbol

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import minus, rebuilt, times
from rnnbounds.theory.kernel.functions import ball, derivative, ranges, rational
from rnnbounds.theory.kernel.rewriting import prepare
from rnnbounds.theory.kernel.smt import entail, require_meaning
from rnnbounds.theory.kernel.statements import Statement, domains, eq, le
from rnnbounds.theory.kernel.terms import ABS, PRODUCT, ZERO, Term, number
from rnnbounds.theory.language import Instance, Use
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.proof.methods.base import (
    RANGE,
    Composite,
    Direct,
    Gap,
    Method,
    Scope,
    in_part,
)
from rnnbounds.theory.proof.methods.identity import Identity

PRECISIONS = (64, 256, 1024)
PRECISION = 128  # of balls around peaks and in boxes
MAX_BOXES = 2_000
PARTS = 4  # of the reach around a peak, on either side
DENOMINATOR = 1024  # on the tails |f| is shown to stay below a multiple of 1/1024
Z = door.term(z)


class Elementary(Direct):
    """The ranges of the elementary functions entail the statement."""

    name: ClassVar[str] = "ranges and smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses and the ranges."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        names, within = ranges(goal)
        named = (fact.replace(names) for fact in facts)
        detail = entail(goal.replace(names), (*named, *within), scope)
        return f"{len(names)} functions by their ranges; {detail}" if names else detail


def derivatives(term: Term, point: Term, order: int, scope: Scope) -> list[Term]:
    """The term and its derivatives up to this order; raises Gap unless, by their ranges, all have a
    value for all reals."""
    terms, conditions = [term], list(domains((term,)))
    for _ in range(order):
        terms.append(derivative(terms[-1], point, conditions))
    for condition in dict.fromkeys(conditions):
        with in_part(f"{term} is not shown to be smooth, {condition}"):
            Elementary().prove(condition, scope)
    return terms


class Exact(Direct):
    """Both sides are numbers, once the equations used are applied."""

    name: ClassVar[str] = "exact"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Decide the statement; what no precision decides is a gap."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        require_meaning(facts, scope)
        if goal.variables:
            names = ", ".join(sorted(map(str, goal.variables)))
            raise Gap(f"not a statement about numbers: {names} are free")
        p, q = map(rational, goal.sides)
        if p is not None and q is not None:
            return _decide_numbers(goal, p, q, "rationals")
        for precision in PRECISIONS:
            with ctx.workprec(precision):
                left, right = map(ball, goal.sides)
            if left < right or left > right:
                return _decide_numbers(goal, left, right, f"balls of {precision} bits")
        raise Gap(f"{goal} is undecided at {PRECISIONS[-1]} bits")


def _decide_numbers(goal: Statement, lhs: arb | fmpq, rhs: arb | fmpq, arithmetic: str) -> str:
    outcomes = {
        "<=": lhs <= rhs,
        "exists": lhs <= rhs,
        "<": lhs < rhs,
        "==": lhs == rhs,
        "!=": lhs != rhs,
    }
    if not outcomes[goal.relation]:
        raise Gap(f"counter-model: {goal} is false, {lhs} against {rhs}")
    return f"decided in {arithmetic}"


@dataclass(frozen=True)
class Monotone(Composite):
    """lhs <= rhs for `over` >= start: at the start, and by the derivative of rhs - lhs.

    The derivative's sign is shown at a fresh point, which stands for `over` in what `slope` uses;
    of it nothing is known but RANGE, that it is at least `start`.
    """

    over: Symbol
    start: Rational
    base: Direct
    slope: Direct
    inside: Direct  # shows start <= over

    name: ClassVar[str] = "monotone"
    part_names: ClassVar[tuple[str, ...]] = ("base", "slope", "inside")

    def provides(self, use: Use) -> bool:
        """True for RANGE, the fact `start <= over` at the fresh point."""
        return use == RANGE

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the three parts, and that both sides are differentiable."""
        over = door.term(self.over)
        if goal.relation != "<=" or over not in goal.variables:
            raise Gap(f"{goal} does not bound a function of {over}")
        if over.head.range != "real" or not isinstance(self.start, Rational):
            raise Gap(f"{over} does not range over the reals from a rational number on")
        if not all(side.commutes for side in goal.sides):
            raise Gap(f"{goal} compares vectors")
        start, fresh = door.term(self.start), Dummy(self.over.name, real=True)
        point = door.term(fresh)
        moved = goal.replace({over: point})
        # Where both sides have a value, and the derivative that is computed has one.
        conditions = list(domains(moved.sides))
        rise = minus(
            derivative(moved.rhs, point, conditions), derivative(moved.lhs, point, conditions)
        )
        within = scope.with_hypothesis(RANGE, le(start, point))
        slope = type(self.slope)(*(_use_at(use, self.over, fresh) for use in self.slope.uses))
        parts: list[tuple[str, Direct, Statement, Scope]] = [
            ("inside", self.inside, le(start, over), scope),
            ("base", self.base, goal.replace({over: start}), scope),
            *(("domain", slope, condition, within) for condition in dict.fromkeys(conditions)),
            ("slope", slope, le(ZERO, rise), within),
        ]
        for part, method, conclusion, known in parts:
            with in_part(f"{part} ({conclusion})"):
                method.prove(conclusion, known)
        return f"holds at {self.start} by {self.base.name}, and the difference does not decrease"


def _use_at(use: Use, variable: Symbol, point: Symbol) -> Use:
    """The instance at the point; a fact with no terms stays a fact about the variable.

    SymPy's replacement proposes terms of a law, which holds at all terms.
    """
    if isinstance(use, str):
        return use
    return Instance(use.law, tuple(term.xreplace({variable: point}) for term in use.terms))


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
                Elementary(RANGE).prove(le(self.goal.lhs, bound), within)

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
        Identity(*self.method.hypotheses).prove(eq(one, other), self.scope)


def _without_moduli(term: Term) -> Term:
    """Remove |·| from the term: |f| becomes f."""
    return _without_moduli(term.args[0]) if term.head is ABS else term
