"""Definitions: equations that give a new function its values, once, in one registry.

Terms are read by the fields of their trees: nothing that SymPy computes decides.  A definition is
conservative.  Its functions are new: made by `function(..., defined=True)`, which
nothing else is said of without proof but what follows from their values.  It gives each of them a
value once: by a term, or by recursion at 0 and at j + 1 from its values at j.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from sympy import Add, Basic, Expr, Symbol

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language.law import Assumption, Clause, Law, law
from rnnbounds.theory.language.statement import Statement, eq, le

Name: TypeAlias = tuple[type[Expr], int]  # a function, and how many arguments it has


class DefinitionError(InputError):
    """A law that defines nothing new, or not once and for all."""


class Definition(Law):
    """A law that gives new functions their values."""

    @property
    def names(self) -> tuple[Name, ...]:
        """The functions, in order."""
        return tuple(dict.fromkeys(name_of(clause.conclusion.lhs) for clause in self.clauses))

    @property
    def registered(self) -> bool:
        """True if the definition is in the registry."""
        return DEFINED.get(self.id) == self

    def objection(self, granted: Mapping[str, Assumption], named: Sequence[object]) -> str:
        """That it was never entered."""
        return "" if self.registered else super().objection(granted, named)


DEFINED: dict[str, Definition] = {}


def name_of(term: Expr) -> Name:
    """The function, and its number of arguments, of a term."""
    return term.func, len(term.args)


def define(id: str, variables: tuple[Symbol, ...], *equations: Statement | Clause) -> Definition:
    """Enter the definition, whose functions are then taken.

    Raises:
        DefinitionError: it says more than what new functions are worth.
    """
    stated = law(id, variables, *equations)
    new = Definition(id, variables, stated.clauses)
    if new.registered:
        return new
    for fault in _faults(new):
        raise DefinitionError(f"the definition {id!r} {fault}")
    DEFINED[id] = new
    return new


def larger(value: Expr, first: Expr, second: Expr) -> tuple[Clause, ...]:
    """value = max(first, second), case by case: SymPy's own Max compares what it cannot."""
    return (
        Clause(eq(value, first), (le(second, first),)),
        Clause(eq(value, second), (le(first, second),)),
    )


def _faults(new: Definition) -> Iterator[str]:
    if new.id in DEFINED:
        yield "has the name of another one; give it one of its own"
    if new.constants:
        yield "has free symbols; list its variables, and state the rest as an assumption"
    for clause in new.clauses:
        if clause.conclusion.relation != "==":
            yield "is no equation; state it as an axiom with a source, or as an assumption"
        lhs, rhs = clause.conclusion.lhs, clause.conclusion.rhs
        if rhs != 0 and lhs.is_commutative != rhs.is_commutative:
            yield f"has {lhs} and {rhs}, which are compared; equate what is of one sort"
    taken = {name for other in DEFINED.values() for name in other.names}
    for name in new.names:
        function, _ = name
        if not getattr(function, "defined", False):
            yield f"says something of {function}, which is no new function; state it as an axiom"
        if name in taken:
            yield f"gives {function} a second value; a function is defined once"
    for place in (clause.conclusion.lhs for clause in new.clauses):
        if any(hasattr(place, f"_eval_is_{fact}") for fact in ("nonnegative", "integer")):
            yield f"defines {place}, whose sign or kind is known; take a plain function"
    for index, clause in enumerate(new.clauses):
        yield from _faults_of(clause, new.names, _counts(new), taken)
        for other in new.clauses[:index]:
            if not _apart(clause, other):
                yield f"gives {clause.conclusion.lhs} two values; give it one"


def _faults_of(
    clause: Clause, names: tuple[Name, ...], counts: Mapping[Name, int], taken: set[Name]
) -> Iterator[str]:
    """Yield a message for each fault: no unique value, undefined symbols, or circular use."""
    place = clause.conclusion.lhs
    found = tuple(_variable(argument) for argument in place.args)
    given = {symbol for symbol in found if symbol is not None}
    if len(given) < sum(argument != 0 for argument in place.args):
        yield f"has {place} on the left; write variables, 0, or j + 1 of a natural j"
    if not clause.symbols <= given:
        yield f"uses on the right what {place} does not name; name it"
    earlier = names[: names.index(name_of(place))]
    counted = counts.get(name_of(place))
    for term in sorted(_used(clause), key=str):
        if name_of(term) not in names:
            if name_of(term) not in taken:
                yield f"uses {term.func}, which is not defined yet; define that before"
        elif not _comes_before(
            term, counts.get(name_of(term)), place, counted, name_of(term) in earlier
        ):
            yield f"goes round in a circle: {place} from {term}; go from j to j + 1"


def _used(clause: Clause) -> set[Expr]:
    """The terms with defined functions in the value and in the premises."""
    premises = (side for part in clause.given for side in (part.lhs, part.rhs))
    terms = (part for side in (clause.conclusion.rhs, *premises) for part in _within(side))
    return {term for term in terms if getattr(term, "defined", False)}


def _within(term: Basic) -> Iterator[Basic]:
    yield term
    for part in term.args:
        yield from _within(part)


def _variable(argument: Expr) -> Symbol | None:
    """j of j and of j + 1; None of anything else."""
    if isinstance(argument, Symbol):
        return argument
    rest = [part for part in argument.args if part != 1] if isinstance(argument, Add) else []
    whole = len(rest) == 1 and isinstance(rest[0], Symbol) and rest[0].is_integer
    return rest[0] if whole and len(argument.args) == 2 else None


def _counts(new: Definition) -> dict[Name, int]:
    """The place of each function where its recursion counts: everywhere 0 or j + 1 on the left."""
    places: dict[Name, list[tuple[Expr, ...]]] = {}
    for clause in new.clauses:
        places.setdefault(name_of(clause.conclusion.lhs), []).append(clause.conclusion.lhs.args)
    found = {
        name: [i for i in range(name[1]) if all(a[i] == 0 or _succeeds(a[i]) for a in arguments)]
        for name, arguments in places.items()
    }
    return {name: counted[0] for name, counted in found.items() if counted}


def _comes_before(
    term: Expr, of_term: int | None, place: Expr, of_place: int | None, earlier: bool
) -> bool:
    """True if the term is evaluated before the place at j + 1: it is at j, or earlier at j + 1."""
    if of_term is None or of_place is None or not _succeeds(place.args[of_place]):
        return False
    before, now = term.args[of_term], place.args[of_place]
    return bool(before == _variable(now) or (earlier and before == now))


def _apart(one: Clause, other: Clause) -> bool:
    """True if the clauses define no place twice: 0 against j + 1, or cases of a comparison."""
    first, second = one.conclusion.lhs, other.conclusion.lhs
    if name_of(first) != name_of(second):
        return True
    pairs = tuple(zip(first.args, second.args, strict=True))
    if any((p == 0 and _succeeds(q)) or (q == 0 and _succeeds(p)) for p, q in pairs):
        return True
    p, q = one.conclusion.rhs, other.conclusion.rhs
    return first == second and {one, other} == set(larger(first, p, q))


def _succeeds(argument: Expr) -> bool:
    """True if the argument is j + 1 for a natural variable j."""
    return not isinstance(argument, Symbol) and _variable(argument) is not None
