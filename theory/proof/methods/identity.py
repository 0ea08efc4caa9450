"""Identities by a decidable normal form.

Both sides are rewritten by the equations used, left to right.  In the difference each power
λ^e is an atom, vectors are expanded as non-commutative polynomials, and the coefficient of each
monomial must cancel to zero; denominators must be non-zero by the hypotheses.
"""

from collections import defaultdict
from typing import ClassVar

from sympy import Dummy, Expr, Integer, Mul, cancel, fraction, together

from theory.language import Statement
from theory.proof.methods.base import Direct, Gap, Scope
from theory.proof.methods.powers import Key, Powers, require_expandable, symbolic_powers
from theory.proof.methods.rewriting import prepare
from theory.proof.methods.smt import require_meaning, require_nonzero


class Identity(Direct):
    """Both sides have the same normal form."""

    name: ClassVar[str] = "identity"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove an equation of scalars or vectors."""
        if goal.relation != "==":
            raise Gap(f"a {goal.relation} is no identity")
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses), every=True)
        require_meaning(facts, scope)
        powers = Powers((goal.lhs, goal.rhs))
        for exponent in powers.exponents:
            scope.require_natural(exponent, facts)
        difference, names = _with_atoms(goal.lhs - goal.rhs, powers)
        require_expandable(difference)
        for monomial, coefficient in _coefficients(difference).items():
            numerator, denominator = fraction(cancel(together(coefficient)))
            if numerator != 0:
                left_over = (numerator / denominator * monomial).xreplace(names)
                raise Gap(f"counter-model: the sides differ by {left_over}")
        for factor in _divisors(goal):
            require_nonzero(factor, facts, scope)
        return "the difference of both sides has normal form 0"


def _with_atoms(expression: Expr, powers: Powers) -> tuple[Expr, dict[Expr, Expr]]:
    """The expression with a symbol for each power, and what the symbols stand for."""
    symbols: dict[Key, Dummy] = {}
    values: dict[Expr, Expr] = {}
    for power in sorted(symbolic_powers(expression), key=str):
        key, more = powers.atom(power)
        symbol = symbols.setdefault(key, Dummy("q", real=True))
        values[power] = symbol * key[0] ** more
    names = {symbols[key]: key[0] ** (key[1] + powers.least[key]) for key in symbols}
    return expression.xreplace(values), names


def _coefficients(expression: Expr) -> dict[Expr, Expr]:
    """Non-commutative monomial -> its commutative coefficient."""
    coefficients: dict[Expr, Expr] = defaultdict(lambda: Integer(0))
    for term in expression.expand().as_ordered_terms():
        scalars, vectors = term.args_cnc()
        coefficients[Mul(*vectors)] += Mul(*scalars)
    return dict(coefficients)


def _divisors(statement: Statement) -> list[Expr]:
    powers = statement.lhs.atoms(Expr) | statement.rhs.atoms(Expr)
    found = {p.base for p in powers if p.is_Pow and p.exp.is_number and p.exp.is_negative}
    return sorted(found, key=str)
