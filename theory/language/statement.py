"""A statement is inert data: left side, relation, right side, kept apart.

SymPy's own relationals are never used, since they fold (`Le(0, r)` becomes `True`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from sympy import Expr, Integer, Symbol, exp, log, nan, sympify

from theory.errors import InputError, StatementError

Relation: TypeAlias = Literal["<=", "<", "==", "!=", "exists"]
ZERO, ONE = Integer(0), Integer(1)


class NoValueError(InputError):
    """A term that has no real value where another one is put into it."""


def put(term: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """The term with every key replaced by its value, all at once.

    Raises NoValueError where a part leaves the reals: SymPy goes on, log(y)² at y = −1 is −π².
    """
    if term in values:
        return values[term]
    arguments = tuple(put(argument, values) for argument in term.args)
    if arguments == term.args:
        return term
    try:
        made = term.func(*arguments)
    except ValueError as error:  # of Max and Min
        raise NoValueError(f"{error}: {term} has no value there") from error
    if isinstance(term, exp) and not isinstance(made, exp) and arguments[0].has(log):
        raise NoValueError(
            f"{arguments[0]} meets exp, which hides where its logarithm has no value"
        )
    if made is nan or (made.is_commutative and made.is_real is False):
        raise NoValueError(f"{made} is no real number; it comes from {term}")
    return made


@dataclass(frozen=True)
class Statement:
    """`lhs relation rhs` over the vocabulary.

    `exists` says that on the named witness lhs <= rhs, for every k < T.
    """

    lhs: Expr
    relation: Relation
    rhs: Expr

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise StatementError(f"unknown relation {self.relation!r}; use <=, <, ==, != or exists")
        object.__setattr__(self, "lhs", sympify(self.lhs))
        object.__setattr__(self, "rhs", sympify(self.rhs))

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The free symbols of both sides."""
        return frozenset(self.lhs.free_symbols | self.rhs.free_symbols)

    def replace(self, values: Mapping[Expr, Expr]) -> "Statement":
        """The statement with every key replaced by its value, all at once."""
        return Statement(put(self.lhs, values), self.relation, put(self.rhs, values))


def le(lhs: Expr, rhs: Expr) -> Statement:
    """`lhs <= rhs`."""
    return Statement(lhs, "<=", rhs)


def lt(lhs: Expr, rhs: Expr) -> Statement:
    """`lhs < rhs`."""
    return Statement(lhs, "<", rhs)


def eq(lhs: Expr, rhs: Expr) -> Statement:
    """`lhs == rhs`."""
    return Statement(lhs, "==", rhs)


def ne(lhs: Expr, rhs: Expr) -> Statement:
    """`lhs != rhs`."""
    return Statement(lhs, "!=", rhs)


def exists(lhs: Expr, rhs: Expr) -> Statement:
    """On the witness, `lhs <= rhs`."""
    return Statement(lhs, "exists", rhs)
