"""Sorts of terms: numbers, vectors and operators.

A symbol has the sort of its class, a function term that of the function's values.  An operator
takes what stands to its right: a product of operators is one, and with a vector last it is a
vector.  Laws that are true of vectors and of operators have variables which range over `EITHER`.
"""

from functools import lru_cache
from typing import Any, Literal, TypeAlias

from sympy import Expr, Symbol

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language.statement import Statement

Sort: TypeAlias = Literal["number", "vector", "operator", "vector or operator"]
NUMBER: Sort = "number"
VECTOR: Sort = "vector"
OPERATOR: Sort = "operator"
EITHER: Sort = "vector or operator"


class SortError(InputError):
    """A term that has no sort, or another one than is asked for."""


class SortedSymbol(Symbol):
    """A non-commutative symbol of another sort than vectors; it is ordered as they are."""

    __slots__ = ()

    @classmethod
    def class_key(cls) -> tuple[Any, ...]:
        """SymPy's own, of plain symbols."""
        return Symbol.class_key()  # type: ignore[no-any-return]


class OperatorSymbol(SortedSymbol):
    """A symbol of operators."""

    __slots__ = ()
    sort: Sort = OPERATOR


class EitherSymbol(SortedSymbol):
    """A variable that ranges over vectors and over operators."""

    __slots__ = ()
    sort: Sort = EITHER


@lru_cache(maxsize=2**16)
def sort_of(term: Expr) -> Sort:
    """The sort of the term.

    Raises SortError where a vector is added to an operator or to a number, or takes something.
    """
    if term.is_Add:
        return _common(term)
    if term.is_Mul:
        return _product(term)
    sorts = tuple(sort_of(argument) for argument in term.args)
    if term.is_Pow and not term.is_commutative:
        if sorts[0] != OPERATOR:
            raise SortError(f"{term} is a power of a {sorts[0]}; take it of an operator")
        return OPERATOR
    if getattr(term, "stored", False):
        for argument in term.args:
            if not (argument.is_Atom or argument.is_Function):
                raise SortError(f"{argument} in {term.func} is computed, not stored; name it")
    return NUMBER if term.is_commutative else getattr(term, "sort", VECTOR)


def _common(total: Expr) -> Sort:
    found = sorted({sort_of(part) for part in total.args})
    if len(found) > 1:
        raise SortError(f"{total} adds {' and '.join(found)}; add what is of one sort")
    return found[0]


def _product(product: Expr) -> Sort:
    for factor in product.args:
        sort_of(factor)
    *left, last = product.args_cnc()[1] or (None,)
    for factor in left:
        if sort_of(factor) != OPERATOR:
            raise SortError(f"{factor} in {product} is no operator, and takes nothing")
    return NUMBER if last is None else sort_of(last)


def fits(term: Expr, variable: Symbol) -> bool:
    """Whether the term may stand for the variable; 0 is a number, a vector and an operator."""
    wanted, found = sort_of(variable), sort_of(term)
    if term == 0 or wanted == found:
        return True
    return wanted == EITHER and found in (VECTOR, OPERATOR)


def require_sorted(statement: Statement) -> None:
    """Raise SortError unless both sides are of one sort, and numbers if ordered; 0 is of all."""
    sides = (statement.lhs, statement.rhs)
    found = {sort_of(side) for side in sides if side != 0}
    if len(found) > 1:
        named = " and ".join(f"{side} ({sort_of(side)})" for side in sides)
        raise SortError(f"{named} are compared; compare what is of one sort")
    if not found <= {NUMBER} and statement.relation != "==":
        told = f"{sides[0]} {statement.relation} {sides[1]}"
        raise SortError(f"{told} compares no numbers; take norms")
