"""An inequality of functions of one variable, from its left end and the sign of a derivative.

If f(a) ≥ 0 and f' ≥ 0 on [a, ∞), then f ≥ 0 there.  f is built of polynomials, quotients, log and
exponential; that it has a value and a derivative on all of [a, ∞) is shown too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from sympy import Add, Dummy, Expr, Integer, Mul, Pow, Rational, Symbol, log

from theory.language import Instance, Statement, Use, eq, le, lt, ne
from theory.language.printing import statement_text
from theory.language.terms.vectors import exponential
from theory.proof.methods.base import Direct, Gap, Method, Scope
from theory.proof.methods.meaning import partial, require_exact, sides
from theory.proof.methods.rewriting import is_vector

RANGE = "range"
REAL = Symbol("_", real=True).assumptions0


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
        if goal.relation != "<=" or self.over not in goal.symbols:
            raise Gap(f"{statement_text(goal)} does not bound a function of {self.over}")
        if self.over.assumptions0 != REAL or not isinstance(self.start, Rational):
            raise Gap(f"{self.over} does not range over the reals from a rational number on")
        require_exact(sides((goal,)))
        if any(map(is_vector, sides((goal,)))):
            raise Gap(f"{statement_text(goal)} compares vectors")
        point = Dummy(self.over.name, real=True)
        moved = goal.replace({self.over: point})
        # At the start and in the derivative SymPy may cancel what has no value.
        conditions = [eq(power, power) for power in partial(sides((moved,)))]
        rise = derivative(moved.rhs, point, conditions) - derivative(moved.lhs, point, conditions)
        within = scope.supposing(RANGE, le(self.start, point))
        slope = type(self.slope)(*(_at(use, self.over, point) for use in self.slope.uses))
        parts: list[tuple[str, Direct, Statement, Scope]] = [
            ("inside", self.inside, le(self.start, self.over), scope),
            ("base", self.base, goal.replace({self.over: self.start}), scope),
            *(("domain", slope, condition, within) for condition in dict.fromkeys(conditions)),
            ("slope", slope, le(Integer(0), rise), within),
        ]
        for part, method, conclusion, known in parts:
            try:
                method.prove(conclusion, known)
            except Gap as gap:
                raise Gap(f"{part} ({statement_text(conclusion)}): {gap}") from gap
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
    """The instance at the point; a fact with no terms stays a fact about the variable."""
    if isinstance(use, str):
        return use
    return Instance(use.law, tuple(term.xreplace({variable: point}) for term in use.terms))


def derivative(function: Expr, point: Symbol, conditions: list[Statement]) -> Expr:
    """d/dt of the function; adds where it has a value and is differentiable to the conditions.

    Raises Gap for what is no sum, product, whole power, log or exponential.
    """
    if point not in function.free_symbols:
        return Integer(0)
    if function == point:
        return Integer(1)
    inner = [derivative(argument, point, conditions) for argument in function.args]
    if function.is_Add:
        return Add(*inner)
    if function.is_Mul:
        factors = function.args
        return Add(*(Mul(*factors[:i], d, *factors[i + 1 :]) for i, d in enumerate(inner)))
    (argument, *_), (slope, *_) = function.args, inner
    if isinstance(function, Pow) and function.exp.is_Integer:
        if function.exp.is_negative:
            conditions.append(ne(argument, Integer(0)))
        return function.exp * argument ** (function.exp - 1) * slope
    if isinstance(function, log):
        conditions.append(lt(Integer(0), argument))
        return slope / argument
    if isinstance(function, exponential):
        return function * slope
    raise Gap(f"{function} is not known to be differentiable in {point.name}")
