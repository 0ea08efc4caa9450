"""Identities by a decidable normal form.

Both sides are rewritten by the equations used, left to right.  In the difference each power
λ^e is an atom, and so is each term with another function, of which nothing is known; vectors are
expanded as non-commutative polynomials, and the coefficient of each monomial must cancel to zero.
Quotients and roots must have a value by the hypotheses.
"""

from collections import defaultdict
from typing import ClassVar

from sympy import Dummy, Expr, Integer, Mul, Pow, cancel, fraction, together

from theory.language import Statement
from theory.proof.methods.base import Direct, Gap, Scope
from theory.proof.methods.meaning import is_closed
from theory.proof.methods.powers import Key, Powers, multiplied, require_expandable, symbolic_powers
from theory.proof.methods.rewriting import prepare
from theory.proof.methods.smt import require_meaning


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
        opaque: dict[Expr, Expr] = {}
        difference = _polynomial(difference, opaque)
        names |= {atom: term for term, atom in opaque.items()}
        require_expandable(difference)
        for monomial, coefficient in _coefficients(difference).items():
            numerator, denominator = fraction(cancel(together(coefficient)))
            if numerator != 0:
                left_over = (numerator / denominator * monomial).xreplace(names)
                raise Gap(f"counter-model: the sides differ by {left_over}")
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
    for term in multiplied(expression).as_ordered_terms():
        scalars, vectors = term.args_cnc()
        coefficients[Mul(*vectors)] += Mul(*scalars)
    return dict(coefficients)


def _polynomial(expression: Expr, names: dict[Expr, Expr]) -> Expr:
    """The expression with a symbol for each term that is no sum, product or whole power.

    SymPy knows more of them than is true: it splits log 2z, at z = 0 too.
    """
    whole = isinstance(expression, Pow) and expression.exp.is_Integer
    if expression.is_Add or expression.is_Mul or whole:
        return expression.func(*(_polynomial(part, names) for part in expression.args))
    if not expression.is_commutative or expression.is_Symbol or is_closed(expression):
        return expression
    if isinstance(expression, Pow) and expression.exp.is_Rational:
        base, exponent = expression.args
        rest = exponent - exponent.floor()
        root = names.setdefault(base**rest, Dummy("r", real=True)) if rest else Integer(1)
        return root * _polynomial(base, names) ** exponent.floor()
    return names.setdefault(expression, Dummy("f", real=True))
