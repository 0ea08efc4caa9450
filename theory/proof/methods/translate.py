"""From SymPy to z3's reals.

Norms are non-negative reals, symbolic powers and unknown functions are fresh reals.  A quotient is
multiplied out: 1/d is a fresh v with v·d = 1, and d ≠ 0 becomes an obligation; z3's own division,
total at 0, is never used.  A root is a fresh r ≥ 0 with r² = x and the obligation x ≥ 0.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeAlias

import z3
from sympy import Abs, Expr, Integer, Max, Min, NumberSymbol, Pow, Rational, nan, oo, zoo

from theory.language import Clause, Statement
from theory.language.terms.vectors import Norm
from theory.language.vocabulary import VOCABULARY
from theory.proof.methods.base import Gap
from theory.proof.methods.powers import Powers

Formula: TypeAlias = Any  # z3 ships no types


class Translation:
    """One z3 context, its atoms, and the constraints that define them.

    `ranges` hold always; an obligation (condition, its text, what it makes true) gives meaning to
    a quotient or a root once its condition is shown.
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.context = z3.Context()
        sides = [side for s in statements for side in (s.lhs, s.rhs)]
        self.powers = Powers(sides)
        self.atoms: dict[Expr, Formula] = {}
        self.ranges: list[Formula] = []
        self.obligations: list[tuple[Formula, str, list[Formula]]] = []

    def clause(self, clause: Clause) -> Formula:
        """given ⟹ conclusion."""
        conclusion = self.formula(clause.conclusion)
        if not clause.given:
            return conclusion
        return z3.Implies(z3.And([self.formula(g) for g in clause.given]), conclusion)

    def formula(self, statement: Statement) -> Formula:
        """The statement over the reals; a strict inequality of integers gains 1."""
        lhs, rhs = self.real(statement.lhs), self.real(statement.rhs)
        if statement.relation in ("<=", "exists"):
            return lhs <= rhs
        if statement.relation == "<":
            whole = statement.lhs.is_integer and statement.rhs.is_integer
            return lhs + 1 <= rhs if whole else lhs < rhs
        return lhs == rhs if statement.relation == "==" else lhs != rhs

    def real(self, expression: Expr) -> Formula:
        """The expression as a z3 real."""
        if expression.has(oo, -oo, zoo, nan):
            raise Gap(f"{expression} is no real number")
        if expression.is_Rational:
            return self._number(expression)
        if expression.is_Add:
            return z3.Sum([self.real(term) for term in expression.args])
        if expression.is_Mul:
            return z3.Product([self.real(factor) for factor in expression.args])
        if not expression.is_commutative:
            raise Gap(f"the vector {expression} stands where a number is needed")
        if isinstance(expression, Pow):
            return self._power(expression)
        if isinstance(expression, Abs):
            inner = self.real(expression.args[0])
            return z3.If(inner >= 0, inner, -inner)
        if isinstance(expression, Max | Min):
            larger = isinstance(expression, Max)
            return self._fold([self.real(arg) for arg in expression.args], larger)
        return self._atom(expression)

    def _number(self, number: Expr) -> Formula:
        return z3.RealVal(Fraction(int(number.p), int(number.q)), self.context)

    def _fold(self, values: list[Formula], larger: bool) -> Formula:
        best = values[0]
        for value in values[1:]:
            best = z3.If(value >= best if larger else value <= best, value, best)
        return best

    def _atom(self, expression: Expr, make: Callable[[Formula], None] | None = None) -> Formula:
        if expression in self.atoms:
            return self.atoms[expression]
        atom = z3.Real(f"{expression} #{len(self.atoms)}", self.context)
        self.atoms[expression] = atom
        if make:
            make(atom)
        lower = least_value(expression)
        if lower is not None:
            self.ranges.append(atom >= lower)
        if isinstance(expression, NumberSymbol):  # π, e, …
            low, high = expression.approximation_interval(Integer)
            self.ranges += [atom >= self._number(low), atom <= self._number(high)]
        return atom

    def _power(self, power: Expr) -> Formula:
        base, exponent = power.args
        if exponent.is_Integer and exponent > 0:
            return z3.Product([self.real(base)] * int(exponent))
        if exponent.is_Integer:
            return self._inverse(base**-exponent)
        if exponent.is_Rational and exponent.q == 2 and exponent.p > 0:
            return z3.Product([self._root(base)] * int(exponent.p))
        if exponent.is_Rational and exponent.q == 2:
            return self._inverse(base**-exponent)
        if exponent.is_number:
            raise Gap(f"the power {power} has no translation")
        (_, rest), more = self.powers.atom(power)
        least = rest + self.powers.least[(base, rest)]
        atom = self._atom(Pow(base, least, evaluate=False))
        return z3.Product([atom] + [self.real(base)] * more)

    def _inverse(self, expression: Expr) -> Formula:
        divisor = self.real(expression)

        def define(atom: Formula) -> None:
            self.obligations.append((divisor != 0, f"{expression} != 0", [atom * divisor == 1]))

        return self._atom(Pow(expression, Integer(-1)), define)

    def _root(self, expression: Expr) -> Formula:
        radicand = self.real(expression)

        def define(atom: Formula) -> None:
            meaning = [atom * atom == radicand, atom >= 0]
            self.obligations.append((radicand >= 0, f"{expression} >= 0", meaning))

        return self._atom(Pow(expression, Rational(1, 2)), define)


def least_value(atom: Expr) -> int | None:
    """The lower end of an atom's range: norms, natural variables, quantities of the vocabulary."""
    if isinstance(atom, Norm):
        return 0
    if atom.is_Symbol:
        quantity = VOCABULARY.get(atom.name)
        if quantity is not None and quantity.symbol == atom:
            return quantity.lower
        if atom.is_integer:
            return 0
    return None
