"""New functions by recursion."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from flint import fmpq
from sympy import Expr, Integer

from drawn_ledgers.models import Model, whole
from drawn_ledgers.said import Said, premises
from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Clause, define, eq, le, lt
from rnnbounds.theory.language.definitions import REGISTRY, Definition
from rnnbounds.theory.language.terms.variables import j, m, z
from rnnbounds.theory.language.terms.vectors import Scalar, function
from rnnbounds.theory.proof.methods import Smt

DEEP = 12
NAME, new = "drawn definition", function("drawn", Scalar, defined=True)
INSTANCES: tuple[tuple[Expr, Expr], ...] = ((j, z), (j, j), (0, z), (0, j), (m, j), (j, Integer(0)))


def _accepted(chance: Random) -> Definition | None:
    """A definition of a new function by recursion, if it passes for one; it is not kept."""
    second = chance.choice((z, z, m))
    first = chance.choice((j + 1, j + 1, j + 1, j))
    argument = chance.choice(
        (
            *((j, z), (j, second), (j, second), (j, j), (j + 1, j), (j + 1, j), (j, second + 1)),
            *((second, j), (j + 1, second), (0, 0), (j, 2 * z), (j - 1, second)),
        )
    )
    inner = new(*argument)
    value = chance.choice(
        (inner + 1, 2 * inner, inner - second, 1 - inner, inner**2 + j, Integer(1))
    )
    again = Clause(eq(new(first, second), value))
    if not chance.choice(range(6)):
        again = Clause(eq(new(first, second), 1), (le(inner, 0),))
    start = eq(new(0, second), chance.choice((Integer(0), second, Integer(1), inner)))
    try:
        return define(NAME, (j, second), start, again)
    except InputError:
        return None
    finally:
        REGISTRY.pop(NAME, None)


def _recursion(found: Definition, model: Model) -> Callable[..., Any]:
    """The function that is defined; what has no end is 0 after so many calls."""
    deep = [0]

    def value(*args: Any) -> Any:
        if deep[0] > DEEP:
            return fmpq(0)
        for clause in found.clauses:
            here = dict[Expr, Any]()
            pairs = zip(clause.conclusion.lhs.args, args, strict=True)
            if all(_matches(pattern, arg, here) for pattern, arg in pairs):
                inside = model.at({new: value, **here})
                deep[0] += 1
                try:
                    if all(map(inside.grants, clause.given)):
                        return inside.of(clause.conclusion.rhs)
                finally:
                    deep[0] -= 1
        return fmpq(0)

    return value


def _matches(pattern: Expr, arg: Any, here: dict[Expr, Any]) -> bool:
    """Whether the argument is of this form: 0, a variable, or j + 1."""
    if pattern.is_Symbol:
        here[pattern] = fmpq(whole(arg)) if pattern.is_integer else arg
        return True
    if pattern == 0 or arg == 0:
        return bool(pattern == arg == 0)
    (symbol,) = pattern.free_symbols
    here[symbol] = fmpq(whole(arg) - 1)
    return True


def definitions(chance: Random, model: Model) -> Said | None:
    """A clause of a definition at some terms; one that is accepted gives each place one value."""
    found = _accepted(chance)
    if found is None:
        return None
    meant = model.at({new: _recursion(found, model)})
    clause, terms = chance.choice(found.clauses), chance.choice(INSTANCES)
    put = clause.replace(dict(zip(found.variables, terms, strict=True)))
    stated, kind = put.conclusion, chance.choice(range(3))
    if kind == 1:
        stated = chance.choice((lt, le))(stated.rhs, stated.lhs - 1)
    elif kind == 2:
        stated = stated.replace({chance.choice((j, z, m)): chance.choice((Integer(0), j + 1, z))})
    forall = tuple(sorted(stated.symbols.union(*(g.symbols for g in put.given)), key=str))
    by = Smt(*premises(put.given), found.at(*terms))
    return Said(stated, forall, by, put.given, kind == 0, model=meant, defined=found)
