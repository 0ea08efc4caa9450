"""Consistency test of a form's assumptions taken together, though no step uses them so.

If no real numbers satisfy them all, any conclusion is worthless. Laws are tested at some values of
their variables alone, so that it cannot be shown that numbers satisfy them.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import count

from sympy import Expr, Integer, Symbol

from rnnbounds.theory.kernel.smt import refuted
from rnnbounds.theory.kernel.statements import Clause
from rnnbounds.theory.kernel.terms import Gap
from rnnbounds.theory.language import Assumption, Use, at
from rnnbounds.theory.proof.scope import StepScope

Unknowns = dict[tuple[object, int], Symbol]  # the n-th of a kind, for all laws


@lru_cache(maxsize=1024)
def are_contradictory(assumptions: tuple[Assumption, ...]) -> bool:
    """True if z3 refutes the assumptions together: the conditions, the laws without variables,
    and all other laws at the values of `_values`."""
    scope, unknowns = StepScope({each.id: each for each in assumptions}), Unknowns()
    facts: list[Clause] = []
    for id, each in scope.assumptions.items():
        if each.condition is not None:  # by itself: of both, a scope would use the law
            facts += _clauses(StepScope({id: Assumption(id, "", each.condition)}), id)
        if each.law is not None and each.law.variables:
            for terms in _values(each.law.variables, unknowns):
                facts += _clauses(scope, at(id, *terms))
        elif each.law is not None:
            facts += _clauses(scope, id)
    return refuted(tuple(facts))


def _clauses(scope: StepScope, use: Use) -> tuple[Clause, ...]:
    """The clauses of a use; none where the kernel refuses it: fewer facts refute no more."""
    try:
        return scope.clauses((use,))
    except Gap:
        return ()


def _values(variables: tuple[Symbol, ...], unknowns: Unknowns) -> Iterator[tuple[Expr, ...]]:
    """Unknowns, zeros, 0, 1, 2, … and these backwards; of vectors and operators 0 throughout."""
    yield tuple(_unknown(variables, unknowns))
    size = len(variables)
    for numbers in ((0,) * size, range(size), range(size - 1, -1, -1)):
        pairs = zip(variables, numbers, strict=True)
        yield tuple(Integer(n if variable.is_commutative else 0) for variable, n in pairs)


def _unknown(variables: tuple[Symbol, ...], unknowns: Unknowns) -> Iterator[Symbol]:
    """The n-th unknown of its kind for the n-th variable of a kind, by type, sign and range."""
    numbers: dict[object, Iterator[int]] = {}
    for variable in variables:
        kind = (type(variable), frozenset(variable.assumptions0.items()))
        index = next(numbers.setdefault(kind, count()))
        facts = {name: value for name, value in variable.assumptions0.items() if value is not None}
        yield unknowns.setdefault((kind, index), type(variable)(f"{variable.name}_any", **facts))
