"""The door: what claims are written in, SymPy, is translated to terms once, head by head.

What is not on the list is refused by its name. Nothing of SymPy's is called but the fields of its
trees, and no tree of SymPy's passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

import sympy
from sympy import Basic
from sympy.core.function import UndefinedFunction

from rnnbounds.theory.kernel import heads
from rnnbounds.theory.kernel.algebra import apply, plus, power, times
from rnnbounds.theory.kernel.functions import CONSTANTS
from rnnbounds.theory.kernel.heads import Head, Range
from rnnbounds.theory.kernel.statements import Clause, Law, Relation, Statement, require_fitting
from rnnbounds.theory.kernel.terms import Term, TermError, number, variable
from rnnbounds.theory.language import Clause as StatedClause
from rnnbounds.theory.language import Law as StatedLaw
from rnnbounds.theory.language import Statement as StatedStatement
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.quantity import Symbol as QuantitySymbol
from rnnbounds.theory.language.terms.variables import EitherSymbol, OperatorSymbol, is_name, primes
from rnnbounds.theory.language.terms.vectors import (
    Norm,
    Operator,
    Scalar,
    Vector,
)
from rnnbounds.theory.language.terms.vectors import Term as Formal
from rnnbounds.theory.language.vocabulary import DEFINITIONS, VOCABULARY

KEPT = 2**16
_FUNCTIONS: dict[type[Basic], Head] = {
    getattr(sympy, name.title() if head in (heads.ABS, heads.MAX, heads.MIN) else name): head
    for name, head in heads.REAL_FUNCTIONS.items()
}
_KNOWN = {head.name: head for head in (heads.TRANSPOSE, heads.EXPONENTIAL)}
_KINDS: tuple[tuple[type, str], ...] = (
    (Norm, "norm"), (Scalar, "scalar"), (Operator, "operator"), (Vector, "vector"),
)  # fmt: skip
_RANGES: tuple[tuple[dict[str, bool], Range], ...] = (
    ({"real": True}, "real"), ({"integer": True}, "natural"), ({"commutative": False}, "vector"),
)  # fmt: skip
_PLAIN: dict[tuple[tuple[str, bool | None], ...], Range] = {
    tuple(sorted(sympy.Symbol("_", **kind).assumptions0.items())): over for kind, over in _RANGES
}
_SYMBOLS = (sympy.Symbol, sympy.Dummy, QuantitySymbol, OperatorSymbol, EitherSymbol)
_SORTED: dict[type, Range] = {OperatorSymbol: "operator", EitherSymbol: "either"}
_CONSTANTS: dict[Basic, Term] = {
    sympy.pi: CONSTANTS["pi"], sympy.E: CONSTANTS["E"], SILU_PEAK: CONSTANTS["z_silu"],
}  # fmt: skip


@lru_cache(maxsize=KEPT)
def term(expression: Basic) -> Term:
    """The expression as a term; raises TermError, which names what is refused."""
    if isinstance(expression, sympy.Rational):
        return number(Fraction(int(expression.p), int(expression.q)))
    if isinstance(expression, sympy.Symbol):
        return _variable(expression)
    if expression in _CONSTANTS:
        return _CONSTANTS[expression]
    join = _JOINS.get(expression.func)
    if join is not None:
        return join(*map(term, expression.args))
    if expression.func in _FUNCTIONS:
        return apply(_FUNCTIONS[expression.func], *map(term, expression.args))
    if isinstance(expression, Formal):
        return apply(head(expression.func), *map(term, expression.args))
    if isinstance(expression.func, UndefinedFunction):
        raise TermError(f"{expression} is a function of no sort; make it by `function`")
    if expression.is_Number or expression is sympy.I:
        raise TermError(f"{expression} is no real number, exactly written")
    raise TermError(f"{expression} has no translation: {expression.func.__name__} is on no list")


_JOINS: dict[type[Basic], Callable[..., Term]] = {
    sympy.Add: plus, sympy.Mul: times, sympy.Pow: power,
}  # fmt: skip


def _variable(symbol: sympy.Symbol) -> Term:
    over = _PLAIN.get(tuple(sorted(symbol.assumptions0.items())))
    if over is None or type(symbol) not in _SYMBOLS:
        what = "does not range over all vectors, reals or natural numbers"
        raise TermError(f"{symbol} {what}")
    over = _SORTED.get(type(symbol), over)
    quantity = VOCABULARY.get(symbol.name)
    own = quantity is not None and quantity.symbol == symbol
    if type(symbol) is QuantitySymbol and not own:  # what it is may yet be said
        raise TermError(f"{symbol} is no quantity of the vocabulary; enter it first")
    least = quantity.lower if quantity is not None and own else 0 if over == "natural" else None
    if not is_name(symbol.name):
        raise TermError(f"{symbol.name!r} is no name; use letters, digits and underscores")
    return variable(symbol.name, over, least, primes(symbol))


@lru_cache(maxsize=KEPT)
def head(function: type[Formal]) -> Head:
    """The head of a function of formal terms, of which each has a name of its own."""
    kind = next((kind for base, kind in _KINDS if issubclass(function, base)), None)
    if kind is None:
        raise TermError(f"{function} returns nothing that has a sort")
    own = next(base for base, _ in _KINDS if issubclass(function, base))
    facts = ("_eval_is_", "default_assumptions")
    stated = (name for name in dir(function) if name.startswith(facts))
    if any(getattr(function, name) != getattr(own, name, None) for name in stated):
        raise TermError(f"of {function} SymPy takes for granted what no law says")
    return _KNOWN.get(function.__name__, Head(function.__name__, kind))


def statement(stated: StatedStatement) -> Statement:
    """The statement over terms, of one sort; raises TermError."""
    return _statement(stated.lhs, stated.relation, stated.rhs)


@lru_cache(maxsize=KEPT)
def _statement(lhs: Basic, relation: Relation, rhs: Basic) -> Statement:
    """Kept by its parts, for a record can be written into."""
    found = Statement(term(lhs), relation, term(rhs))
    found.require_sorted()
    return found


def clause(stated: StatedClause) -> Clause:
    """The clause over terms; raises TermError."""
    return Clause(statement(stated.conclusion), tuple(map(statement, stated.given)))


def law(stated: StatedLaw) -> Law:
    """The law over terms; raises TermError."""
    return Law(stated.id, tuple(map(term, stated.variables)), tuple(map(clause, stated.clauses)))


def definitions() -> Mapping[Term, Term]:
    """Map each measured quantity to its definition, as terms of the kernel."""
    return _definitions(tuple(DEFINITIONS.items()))


@lru_cache(maxsize=16)
def _definitions(items: tuple[tuple[Basic, Basic], ...]) -> Mapping[Term, Term]:
    found = {term(symbol): term(value) for symbol, value in items}
    for one, value in found.items():
        require_fitting(value, one)
        if one.whole and not value.whole:
            raise TermError(f"{one} is a natural number, and {value} is not shown to be one")
    return found


def unfolded(stated: StatedLaw) -> Law:
    """The law over terms, measured quantities replaced by their definitions; raises TermError where
    a variable of the law would be taken for what a definition speaks of."""
    found, known = law(stated), definitions()
    spoken = {one for one in found.constants if one in known}
    hidden = frozenset[Term]().union(*(known[one].variables for one in spoken))
    if not hidden.isdisjoint(found.variables):
        raise TermError(f"{stated.id} ranges over what its quantities speak of")
    return Law(found.id, found.variables, tuple(c.replace(known) for c in found.clauses))


def goal(stated: StatedStatement) -> Statement:
    """The statement over terms, measured quantities replaced by their definitions."""
    return _goal(stated.lhs, stated.relation, stated.rhs)


@lru_cache(maxsize=KEPT)
def _goal(lhs: Basic, relation: Relation, rhs: Basic) -> Statement:
    return _statement(lhs, relation, rhs).replace(definitions())
