"""Where expressions have a meaning, and what SymPy's own simplifications may hide.

SymPy turns λ (v/λ) into v, (√y)² into y and exp(log y) into y as soon as a term is put for a
variable, also where λ = 0 or y < 0.  So what results is a fact only where all had a value before:
that quotients, roots and powers had one becomes a premise, other partial functions are refused.
"""

from collections.abc import Iterable
from functools import lru_cache

import sympy
from sympy import Basic, Expr, Float, I, Integer, Pow, Symbol, nan, oo, zoo
from sympy.core.function import AppliedUndef

from theory.language import Clause, Statement, le, ne, sorts
from theory.language.terms.vectors import Norm, Term
from theory.proof.methods.base import KEPT, Gap

TOTAL = (
    sympy.Symbol,
    sympy.Rational,
    sympy.NumberSymbol,
    sympy.Add,
    sympy.Mul,
    sympy.Pow,  # where the exponent and the base allow it
    sympy.Abs,
    sympy.Max,
    sympy.Min,
    sympy.exp,
    sympy.log,  # a free real but where exp meets it
    sympy.tanh,
    sympy.sin,
    sympy.cos,
    sympy.atan,
    sympy.erf,
    sympy.floor,
    sympy.ceiling,
    Term,
    AppliedUndef,
)
PLAIN = tuple(
    Symbol("_", **kind).assumptions0
    for kind in ({"real": True}, {"integer": True}, {"commutative": False})
)


def require_exact(expressions: Iterable[Expr]) -> None:
    """Raise Gap for decimals, which SymPy rounds, for what is not real, and for bound variables.

    So for what SymPy knows more of than it is: |p| is p of a `positive` symbol, by no premise.
    """
    for expression in expressions:
        _require_exact(expression)


@lru_cache(maxsize=KEPT)
def _require_exact(expression: Expr) -> None:
    if expression.has(Float, I, oo, -oo, zoo, nan):
        raise Gap(f"{expression} is no real number, exactly written")
    if expression.free_symbols != expression.atoms(Symbol):
        raise Gap(f"{expression} binds a variable")
    require_plain(expression.free_symbols)
    for term in expression.atoms(Term, AppliedUndef):
        sign = None if isinstance(term, Norm) else term.is_nonnegative
        known = {sign, term.is_zero, term.is_integer}
        if known != {None} and term.is_commutative:
            raise Gap(f"of {term} SymPy takes for granted what no law says")


def require_plain(variables: Iterable[Basic]) -> None:
    """Raise Gap unless each variable ranges over all vectors, all reals or all naturals."""
    for variable in variables:
        if variable.assumptions0 not in PLAIN:
            raise Gap(f"{variable} does not range over all vectors, reals or natural numbers")


def require_fitting(term: Expr, variable: Symbol) -> None:
    """Raise Gap unless the term is of a sort over which the variable ranges."""
    try:
        fitting = sorts.fits(term, variable)
    except sorts.SortError as error:
        raise Gap(str(error)) from error
    if not fitting:
        found, wanted = sorts.sort_of(term), sorts.sort_of(variable)
        raise Gap(f"{term} cannot stand for {variable}: {found} for {wanted}")


def require_sorted(statements: Iterable[Statement]) -> None:
    """Raise Gap for sums and comparisons of different sorts, and for products that have none."""
    try:
        for statement in statements:
            sorts.require_sorted(statement)
    except sorts.SortError as error:
        raise Gap(str(error)) from error


def require_total(term: Expr, within: Iterable[Expr]) -> None:
    """Raise Gap if the term could lose its meaning where it is put into the expressions."""
    for node in sympy.preorder_traversal(term):
        if not isinstance(node, TOTAL):
            raise Gap(f"{node} may have no value")
    if term.has(sympy.log) and any(expression.has(sympy.exp) for expression in within):
        raise Gap(f"{term} meets exp, which would hide where its logarithm has no value")


def sides(statements: Iterable[Statement]) -> tuple[Expr, ...]:
    """The left and right sides."""
    return tuple(side for statement in statements for side in (statement.lhs, statement.rhs))


def clause_sides(clauses: Iterable[Clause]) -> tuple[Expr, ...]:
    """The left and right sides of conclusions and premises."""
    return sides(s for clause in clauses for s in (clause.conclusion, *clause.given))


def partial(expressions: Iterable[Expr]) -> tuple[Pow, ...]:
    """The quotients, roots and symbolic powers, at any depth."""
    return _partial(tuple(expressions))


@lru_cache(maxsize=KEPT)
def _partial(expressions: tuple[Expr, ...]) -> tuple[Pow, ...]:
    found: set[Pow] = set()
    for expression in expressions:
        for power in expression.atoms(Pow):
            if not (power.exp.is_Integer and power.exp > 0):
                found.add(power)
    return tuple(sorted(found, key=str))


def numeric(powers: Iterable[Pow]) -> tuple[Pow, ...]:
    """Those whose exponent is a number."""
    return tuple(power for power in powers if power.exp.is_number)


def conditions(powers: Iterable[Pow]) -> tuple[Statement, ...]:
    """Where the powers have a value, but that symbolic exponents must be whole numbers too."""
    needed: list[Statement] = []
    for power in powers:
        base, exponent = power.args
        if not power.is_commutative:
            raise Gap(f"the power {power} of an operator has no translation")
        if not exponent.is_number:
            needed.append(le(Integer(0), exponent))
            continue
        if exponent.is_negative and not (base.is_number and base.is_nonzero):
            needed.append(ne(base, Integer(0)))
        if not exponent.is_Integer and not (base.is_number and base.is_nonnegative):
            needed.append(le(Integer(0), base))
    return tuple(dict.fromkeys(needed))
