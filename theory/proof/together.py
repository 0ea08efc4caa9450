"""Consistency test of a form's assumptions taken together, though no step uses them so.

Conditions, and laws at unknown values: if no real numbers satisfy them all, any conclusion from
them is worthless.  The test cannot show that they can be satisfied, as a law says more.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count

from sympy import Expr, Integer, Symbol

from rnnbounds.theory.kernel.smt import refuted
from rnnbounds.theory.kernel.statements import Clause
from rnnbounds.theory.kernel.terms import Gap
from rnnbounds.theory.language import Assumption, at
from rnnbounds.theory.proof.scope import StepScope


@lru_cache(maxsize=1024)
def are_contradictory(assumptions: tuple[Assumption, ...]) -> bool:
    """True if z3 refutes the assumptions taken together."""
    return refuted(tuple(_facts(StepScope({each.id: each for each in assumptions}))))


def _facts(known: StepScope) -> Iterator[Clause]:
    """The conditions, and the laws; all of them at the same unknown values, and at some numbers."""
    values: dict[tuple[object, ...], Symbol] = {}
    for id, assumption in known.assumptions.items():
        with suppress(Gap):
            if assumption.condition is not None:
                yield from StepScope({id: Assumption(id, "", assumption.condition)}).clauses((id,))
        law = assumption.law
        with suppress(Gap):
            if law is not None and not law.variables:
                yield from known.clauses((id,))
        for terms in _values(law.variables, values) if law is not None and law.variables else ():
            with suppress(Gap):
                yield from known.clauses((at(id, *terms),))


def _values(
    variables: tuple[Symbol, ...], values: dict[tuple[object, ...], Symbol]
) -> Iterator[tuple[Expr, ...]]:
    """Yield values at which a law is instantiated: unknowns, zeros, and n = 0, 1, … both ways."""
    yield tuple(_unknown(variables, values))
    size = len(variables)
    for numbers in ((0,) * size, range(size), range(size - 1, -1, -1)):
        pairs = zip(variables, numbers, strict=True)
        yield tuple(Integer(n if variable.is_commutative else 0) for variable, n in pairs)


def _unknown(
    variables: tuple[Symbol, ...], values: dict[tuple[object, ...], Symbol]
) -> Iterator[Symbol]:
    """One value for the first variable of each kind, another one for the second."""
    numbers: dict[object, Iterator[int]] = {}
    for variable in variables:
        kind = (type(variable), frozenset(variable.assumptions0.items()))
        index = next(numbers.setdefault(kind, count()))
        facts = {name: value for name, value in variable.assumptions0.items() if value is not None}
        yield values.setdefault((kind, index), type(variable)(f"{variable.name}_any", **facts))
