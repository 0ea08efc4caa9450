"""Holes that the engine had, each planted again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from sympy import Expr, Pow

from rnnbounds.theory.kernel import algebra, door, heads, rewriting
from rnnbounds.theory.kernel.algebra import apply, build, plus, power, split
from rnnbounds.theory.kernel.heads import Head
from rnnbounds.theory.kernel.statements import Clause, Law, Statement
from rnnbounds.theory.kernel.terms import ONE, Term, number
from rnnbounds.theory.language import definitions
from rnnbounds.theory.language.terms import vectors as formal
from rnnbounds.theory.proof import accept, proof, records, scope, together

Patch = tuple[object, str, object]
prepare, head = rewriting.prepare, door.head


def _split_logs(term: Term) -> Term:
    """log 2z as log 2 + log z, for all real z."""
    args = tuple(map(_split_logs, term.args))
    if term.head is heads.LOG and split(args[0])[0] > 0 and split(args[0])[1] is not ONE:
        factor, rest = split(args[0])
        return plus(apply(heads.LOG, number(factor)), apply(heads.LOG, rest))
    return build(term.head, args) if args else term


def _of_split_logs(
    goal: Statement, clauses: tuple[Clause, ...]
) -> tuple[Statement, tuple[Clause, ...]]:
    lhs, rhs = map(_split_logs, goal.sides)
    return prepare(Statement(lhs, goal.relation, rhs), clauses)


def _any_count(term: Expr, _: object, place: Expr, *__: object) -> bool:
    """The count of a recursion is whichever argument is an integer."""
    now = [one for one in place.args if not one.is_Symbol and one != 0]
    return any(one.is_integer and one == other - 1 for one in term.args for other in now)


def _any_power(base: Term, exponent: Term) -> Term:
    """Operators have inverses, as numbers do."""
    if not base.commutes and exponent.head is heads.NUMBER:
        return algebra._whole(base, int(exponent.value))
    return power(base, exponent)


def _one_norm(function: type[formal.Term]) -> Head:
    """What is seen of a vector is its norm."""
    return head(formal.norm if function is formal.gain else function)


FAULTS: dict[str, tuple[Patch, ...]] = {
    "operators have inverses": (
        (algebra, "power", _any_power),
        (door, "_JOINS", {**door._JOINS, Pow: _any_power}),
    ),
    "what is seen is all": ((door, "head", _one_norm),),
    "parts are not asked": ((records, "COMPOSITE", {}),),
    "logarithms are split": ((rewriting, "prepare", _of_split_logs),),
    "a recursion counts anywhere": ((definitions, "_is_evaluated_before", _any_count),),
    "anything is a variable": ((Law, "__post_init__", lambda _: None),),
    "what is written alike is equal": ((door, "primes", lambda _: 0),),
    "what an axiom speaks of is forgotten": ((accept, "_fixed_variables", lambda _: frozenset()),),
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    """With the fault, of which nothing is kept."""
    patches = [patch.object(*one) for one in FAULTS[name]]
    forget = _caches()
    try:
        for one in patches:
            one.start()
        for clear in forget:
            clear()
        yield
    finally:
        for one in patches:
            one.stop()
        for clear in forget:
            clear()


def _caches() -> tuple[Callable[[], None], ...]:
    kept = (
        door.term, door._statement, door._goal, door._definitions, scope.kernel_law,
        proof.checked, accept.outcomes, accept.scopes_of, together.are_contradictory,
    )  # fmt: skip
    return tuple(one.cache_clear for one in kept)
