"""The holes that the engine had, each planted again.

Where the engine has no such place, terms take a way through SymPy at the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from sympy import Add, Expr, Mul, Pow, Rational, pi

from rnnbounds.theory.kernel import algebra, door, heads, rewriting
from rnnbounds.theory.kernel.algebra import apply, build, plus, power, split
from rnnbounds.theory.kernel.functions import PI
from rnnbounds.theory.kernel.heads import Head
from rnnbounds.theory.kernel.statements import Clause, Law, Statement
from rnnbounds.theory.kernel.terms import ONE, Term, TermError, number
from rnnbounds.theory.kernel.translate import Translation
from rnnbounds.theory.language import Statement as Stated
from rnnbounds.theory.language import definitions
from rnnbounds.theory.language.terms import variables
from rnnbounds.theory.language.terms import vectors as formal
from rnnbounds.theory.language.vocabulary import unfold
from rnnbounds.theory.proof import accept, proof, records, scope, together

Patch = tuple[object, str, object]
prepare, rewrite, translate = rewriting.prepare, rewriting.rewrite, door.term
atom = Translation._atom
replace, instances, head = Statement.replace, Law.at, door.head
JOINED: dict[Head, type[Expr]] = {heads.SUM: Add, heads.PRODUCT: Mul, heads.POWER: Pow}


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


def _cancelled(term: Term) -> Term:
    """exp(log x) as x, and x x⁻¹ as 1, as SymPy has it."""
    args = tuple(map(_cancelled, term.args))
    if term.head is heads.EXP and args[0].head is heads.LOG:
        return args[0].args[0]
    if term.head is heads.PRODUCT:
        inverse = {power(one, number(-1)) for one in args if one.head is not heads.NUMBER}
        gone = {one for one in args if one in inverse or power(one, number(-1)) in args}
        args = tuple(one for one in args if one not in gone)
    return build(term.head, args) if args or term.args else term


def _settled(stated: Statement) -> Statement:
    return Statement(_cancelled(stated.lhs), stated.relation, _cancelled(stated.rhs))


def _late(stated: Statement, values: Mapping[Term, Term]) -> Statement:
    """Quantities are written out after domains were looked at, and then cancelled."""
    found = replace(stated, values)
    return _settled(found) if values is door.definitions() and found != stated else found


def _late_at(law: Law, terms: tuple[Term, ...]) -> tuple[Clause, ...]:
    """A law at quantities that are written out: what they come to is cancelled too."""
    found = instances(law, terms)
    if not any(term in door.definitions().values() for term in terms):
        return found
    return tuple(Clause(_settled(c.conclusion), tuple(map(_settled, c.given))) for c in found)


def _in_sympy(term: Term) -> Expr:
    """The term as SymPy makes it; raises TermError for what is no function of reals."""
    args = tuple(map(_in_sympy, term.args))
    if term.head is heads.NUMBER:
        return Rational(term.value.numerator, term.value.denominator)
    if term.head in JOINED:
        return JOINED[term.head](*args)
    for function, head in door._FUNCTIONS.items():
        if head == term.head:
            return function(*args)
    symbols = variables.NAMED.get(term.head.name, [])
    if term.head.kind == "variable" and 0 <= term.head.mark < len(symbols):
        return symbols[term.head.mark]
    if term is PI:
        return pi
    raise TermError(f"{term} is no expression of reals")


def _through(statement: Statement) -> Statement:
    """The statement, through SymPy and back."""
    try:
        lhs, rhs = (door.term(_in_sympy(side)) for side in statement.sides)
    except TermError:
        return statement
    return Statement(lhs, statement.relation, rhs)


def _complex(statement: Statement, rules: rewriting.Rules) -> Statement:
    """Terms are rewritten, and what SymPy makes of them is translated again."""
    return _through(rewrite(statement, rules))


def _written_out(stated: Stated) -> Statement:
    return door.statement(unfold(stated))


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
    "quantities are unfolded late": ((Statement, "replace", _late), (Law, "at", _late_at)),
    "rewriting leaves the reals": ((rewriting, "rewrite", _complex),),
    "lemmas are written out in SymPy": (
        (scope, "door", SimpleNamespace(**vars(door) | {"goal": _written_out})),
    ),
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
