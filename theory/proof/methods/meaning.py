"""Where expressions have a meaning, and what SymPy's own simplifications may hide.

SymPy turns λ (v/λ) into v, (√y)² into y and exp(log y) into y as soon as a term is put for a
variable, also where λ = 0 or y < 0.  So what results is a fact only where all had a value before:
that quotients, roots and powers had one becomes a premise, other partial functions are refused.
"""

from collections.abc import Iterable
from functools import lru_cache

import sympy
from sympy import Basic, Expr, Float, I, Integer, Pow, Symbol, nan, oo, zoo

from theory.language import Clause, Statement, le, ne, sorts
from theory.language.statement import put
from theory.language.terms.vectors import Norm, Term
from theory.language.vocabulary import DEFINITIONS, unfold
from theory.proof.methods.base import KEPT, Gap

# All that a term may be built of: what binds a variable, jumps or leaves the reals is not on it.
HEADS = (
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
    sympy.log,  # a free real where its argument is not positive
    sympy.tanh,
    sympy.sin,
    sympy.cos,
    sympy.atan,
    sympy.erf,
    sympy.floor,
    sympy.ceiling,
    Term,
)
PLAIN = tuple(
    Symbol("_", **kind).assumptions0
    for kind in ({"real": True}, {"integer": True}, {"commutative": False})
)


def require_exact(expressions: Iterable[Expr]) -> None:
    """Raise Gap for decimals, which SymPy rounds, for what is not real, and for other heads.

    So for what SymPy knows more of than it is: |p| is p of a `positive` symbol, by no premise.
    """
    for expression in expressions:
        _require_exact(expression)


@lru_cache(maxsize=KEPT)
def _require_exact(expression: Expr) -> None:
    if expression.has(Float, I, oo, -oo, zoo, nan):
        raise Gap(f"{expression} is no real number, exactly written")
    for node in sympy.preorder_traversal(expression):
        if not isinstance(node, HEADS):
            raise Gap(f"{node} may have no value, or binds a variable")
        if node.is_commutative and not _may_be_real(node):
            raise Gap(f"{node} is no real number")
        if isinstance(node, Pow) and not (node.exp.is_Rational or is_index(node.exp)):
            raise Gap(f"{node.exp} in {node} is not shown to be a natural number")
    require_plain(expression.free_symbols)
    for term in expression.atoms(Term):
        sign = None if isinstance(term, Norm) else term.is_nonnegative
        known = {sign, term.is_zero, term.is_integer}
        if known != {None} and term.is_commutative:
            raise Gap(f"of {term} SymPy takes for granted what no law says")


def _may_be_real(node: Expr) -> bool:
    """Whether nothing speaks against it: of a number, that SymPy knows it to be real."""
    return node.is_real is not False and (node.is_real or not is_closed(node))


def is_closed(node: Expr) -> bool:
    """Whether it is a number, in which no formal term stands: `is_number` says so of f(0)."""
    return not node.free_symbols and not node.has(Term)


def is_index(expression: Expr) -> bool:
    """Whether it is a polynomial of natural variables."""
    nodes = tuple(sympy.preorder_traversal(expression))
    powers = (node for node in nodes if isinstance(node, Pow))
    return (
        all(
            isinstance(node, Symbol | sympy.Rational | sympy.Add | sympy.Mul | Pow)
            for node in nodes
        )
        and all(symbol.is_integer for symbol in expression.free_symbols)
        and all(power.exp.is_Integer and power.exp > 0 for power in powers)
    )


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
        if not isinstance(node, HEADS):
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


def unfolded(statement: Statement) -> Statement:
    """The statement with each measured quantity replaced by its definition.

    Raises Gap where a part that need not have a value is simplified away: q/p of equal lengths.
    """
    plain = unfold(statement)
    if plain == statement:
        return plain
    meant = [DEFINITIONS[symbol] for symbol in statement.symbols if symbol in DEFINITIONS]
    parts = (put(part, DEFINITIONS) for part in partial(sides((statement,))))
    for part in (*parts, *partial(meant)):
        if not any(side.has(part) for side in sides((plain,))):
            raise Gap(f"{part}, which may have no value, is lost when quantities are written out")
    return plain
