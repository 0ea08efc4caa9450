"""A statement is inert data: left side, relation, right side, kept apart.

SymPy's own relationals are never used, since they fold (`Le(0, r)` becomes `True`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from sympy import Expr, Integer, Symbol, sympify

from rnnbounds.theory.errors import StatementError

Relation: TypeAlias = Literal["<=", "<", "==", "!=", "exists"]
ZERO, ONE = Integer(0), Integer(1)


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
        table = dict(values)
        return Statement(self.lhs.xreplace(table), self.relation, self.rhs.xreplace(table))


def le(lhs: Expr, rhs: Expr) -> Statement:
    """Statement `lhs <= rhs`."""
    return Statement(lhs, "<=", rhs)


def lt(lhs: Expr, rhs: Expr) -> Statement:
    """Statement `lhs < rhs`."""
    return Statement(lhs, "<", rhs)


def eq(lhs: Expr, rhs: Expr) -> Statement:
    """Statement `lhs == rhs`."""
    return Statement(lhs, "==", rhs)


def ne(lhs: Expr, rhs: Expr) -> Statement:
    """Statement `lhs != rhs`."""
    return Statement(lhs, "!=", rhs)


def exists(lhs: Expr, rhs: Expr) -> Statement:
    """Statement that `lhs <= rhs` holds on the named witness."""
    return Statement(lhs, "exists", rhs)
