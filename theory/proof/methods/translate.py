"""From SymPy to z3's reals, in SMT-LIB.

Norms are non-negative reals, symbolic powers and unknown functions are fresh reals.  A quotient is
multiplied out: 1/d is a fresh v with v·d = 1, and d ≠ 0 becomes an obligation; z3's own division,
total at 0, is never used.  A root is a fresh r ≥ 0 with r² = x and the obligation x ≥ 0.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Abs, Expr, Integer, Max, Min, NumberSymbol, Pow, Rational, nan, oo, zoo

from theory.language import Clause, Statement
from theory.language.terms.vectors import Norm
from theory.language.vocabulary import VOCABULARY
from theory.proof.methods.base import Gap
from theory.proof.methods.powers import Powers

Formula: TypeAlias = str
MOST_FACTORS = 64  # of one power: it is multiplied out


@dataclass(frozen=True)
class Obligation:
    """Once the condition is shown, which is `text`, a quotient or a root has its meaning."""

    condition: Formula
    text: str
    meaning: tuple[Formula, ...]


class Translation:
    """The atoms of the statements, and the constraints that define them.

    `ranges` hold always; an obligation gives meaning to a quotient or a root.
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        sides = [side for s in statements for side in (s.lhs, s.rhs)]
        self.powers = Powers(sides)
        self.atoms: dict[Expr, Formula] = {}
        self.ranges: list[Formula] = []
        self.obligations: list[Obligation] = []

    def clause(self, clause: Clause) -> Formula:
        """given ⟹ conclusion."""
        parts = [*map(self.formula, clause.given), self.formula(clause.conclusion)]
        return f"(=> {' '.join(parts)})" if clause.given else parts[0]

    def formula(self, statement: Statement) -> Formula:
        """The statement over the reals; a strict inequality of integers gains 1."""
        for side in (statement.lhs, statement.rhs):
            if side.has(oo, -oo, zoo, nan):
                raise Gap(f"{side} is no real number")
        lhs, rhs = self.real(statement.lhs), self.real(statement.rhs)
        if statement.relation in ("<=", "exists"):
            return f"(<= {lhs} {rhs})"
        if statement.relation == "<":
            whole = statement.lhs.is_integer and statement.rhs.is_integer
            return f"(<= (+ {lhs} 1.0) {rhs})" if whole else f"(< {lhs} {rhs})"
        return f"(= {lhs} {rhs})" if statement.relation == "==" else negation(f"(= {lhs} {rhs})")

    def real(self, expression: Expr) -> Formula:
        """The expression as a term of z3's reals."""
        if expression.is_Rational:
            return _number(expression)
        if expression.is_Add:
            return f"(+ {' '.join(map(self.real, expression.args))})"
        if expression.is_Mul:
            return f"(* {' '.join(map(self.real, expression.args))})"
        if not expression.is_commutative:
            raise Gap(f"the vector {expression} stands where a number is needed")
        if isinstance(expression, Pow):
            return self._power(expression)
        if isinstance(expression, Abs):
            inner = self.real(expression.args[0])
            return f"(let ((?v {inner})) (ite (>= ?v 0.0) ?v (- ?v)))"
        if isinstance(expression, Max | Min):
            return _fold(">=" if isinstance(expression, Max) else "<=", self._all(expression.args))
        return self._atom(expression)

    def _all(self, expressions: Iterable[Expr]) -> list[Formula]:
        return [self.real(expression) for expression in expressions]

    def _atom(self, expression: Expr, make: Callable[[Formula], None] | None = None) -> Formula:
        if expression in self.atoms:
            return self.atoms[expression]
        atom = f"a{len(self.atoms)}"
        self.atoms[expression] = atom
        if make:
            make(atom)
        lower = least_value(expression)
        if lower is not None:
            self.ranges.append(f"(>= {atom} {lower}.0)")
        if isinstance(expression, NumberSymbol):  # π, e, …
            low, high = map(_number, expression.approximation_interval(Integer))
            self.ranges += [f"(>= {atom} {low})", f"(<= {atom} {high})"]
        return atom

    def _power(self, power: Expr) -> Formula:
        base, exponent = power.args
        if exponent.is_Integer and exponent > 0:
            return self._product(base, int(exponent))
        if exponent.is_Integer:
            return self._inverse(base**-exponent)
        if exponent.is_Rational and exponent.q == 2 and exponent.p > 0:
            return _multiplied(self._root(base), int(exponent.p))
        if exponent.is_Rational and exponent.q == 2:
            return self._inverse(base**-exponent)
        if exponent.is_number:
            raise Gap(f"the power {power} has no translation")
        (_, rest), more = self.powers.atom(power)
        least = rest + self.powers.least[(base, rest)]
        atom = self._atom(Pow(base, least, evaluate=False))
        return f"(* {atom} {self._product(base, more)})" if more else atom

    def _product(self, base: Expr, factors: int) -> Formula:
        return _multiplied(self.real(base), factors)

    def _inverse(self, expression: Expr) -> Formula:
        divisor = self.real(expression)

        def define(atom: Formula) -> None:
            condition, meaning = negation(f"(= {divisor} 0.0)"), f"(= (* {atom} {divisor}) 1.0)"
            self.obligations.append(Obligation(condition, f"{expression} != 0", (meaning,)))

        return self._atom(Pow(expression, Integer(-1)), define)

    def _root(self, expression: Expr) -> Formula:
        radicand = self.real(expression)

        def define(atom: Formula) -> None:
            meaning = f"(= (* {atom} {atom}) {radicand})", f"(>= {atom} 0.0)"
            self.obligations.append(
                Obligation(f"(>= {radicand} 0.0)", f"{expression} >= 0", meaning)
            )

        return self._atom(Pow(expression, Rational(1, 2)), define)


def negation(formula: Formula) -> Formula:
    """Not the formula."""
    return f"(not {formula})"


def _number(number: Expr) -> Formula:
    size = f"{abs(number.p)}.0" if number.q == 1 else f"(/ {abs(number.p)}.0 {number.q}.0)"
    return f"(- {size})" if number.is_negative else size


def _multiplied(factor: Formula, times: int) -> Formula:
    if times > MOST_FACTORS:
        raise Gap(f"a power of {times} factors is not multiplied out; the limit is {MOST_FACTORS}")
    return factor if times == 1 else f"(let ((?f {factor})) (*{' ?f' * times}))"


def _fold(sign: str, values: list[Formula]) -> Formula:
    best = values[0]
    for value in values[1:]:
        best = f"(let ((?b {best}) (?v {value})) (ite ({sign} ?v ?b) ?v ?b))"
    return best


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
