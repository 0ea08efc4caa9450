"""An inequality of functions of one variable, from its left end and the sign of a derivative.

If f(a) ≥ 0 and f' ≥ 0 on [a, ∞), then f ≥ 0 there.  f is built of polynomials, quotients, log and
exponential; that it has a value and a derivative on all of [a, ∞) is shown too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from sympy import Dummy, Rational, Symbol

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import minus
from rnnbounds.theory.kernel.functions import derivative
from rnnbounds.theory.kernel.statements import Statement, domains, le
from rnnbounds.theory.kernel.terms import ZERO
from rnnbounds.theory.language import Instance, Use
from rnnbounds.theory.proof.methods.base import RANGE, Direct, Gap, Method, Scope


@dataclass(frozen=True)
class Monotone(Method):
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

    @property
    def uses(self) -> tuple[Use, ...]:
        """What the three parts use, RANGE apart."""
        parts = (*self.base.uses, *self.slope.uses, *self.inside.uses)
        return tuple(dict.fromkeys(use for use in parts if use != RANGE))

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
        within = scope.supposing(RANGE, le(start, point))
        slope = type(self.slope)(*(_at(use, self.over, fresh) for use in self.slope.uses))
        parts: list[tuple[str, Direct, Statement, Scope]] = [
            ("inside", self.inside, le(start, over), scope),
            ("base", self.base, goal.replace({over: start}), scope),
            *(("domain", slope, condition, within) for condition in dict.fromkeys(conditions)),
            ("slope", slope, le(ZERO, rise), within),
        ]
        for part, method, conclusion, known in parts:
            try:
                method.prove(conclusion, known)
            except Gap as gap:
                raise Gap(f"{part} ({conclusion}): {gap}") from gap
        return f"holds at {self.start} by {self.base.name}, and the difference does not decrease"

    def reduced(self) -> Iterator[tuple[str, Method]]:
        """Leave out each use of each part."""
        for use, base in self.base.reduced():
            yield f"base: {use}", replace(self, base=base)
        for use, slope in self.slope.reduced():
            yield f"slope: {use}", replace(self, slope=slope)
        for use, inside in self.inside.reduced():
            yield f"inside: {use}", replace(self, inside=inside)


def _at(use: Use, variable: Symbol, point: Symbol) -> Use:
    """The instance at the point; a fact with no terms stays a fact about the variable.

    SymPy's replacement proposes terms of a law, which holds at all terms.
    """
    if isinstance(use, str):
        return use
    return Instance(use.law, tuple(term.xreplace({variable: point}) for term in use.terms))
