"""Definitions: equations that give a new function its values, once, in one registry.

Terms are read by the fields of their trees: nothing that SymPy computes decides.  A definition is
conservative.  Its functions are new: made by `function(..., defined=True)`, which
nothing else is said of without proof but what follows from their values.  It gives each of them a
value once: by a term, or by recursion at 0 and at j + 1 from its values at j.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from sympy import Add, Basic, Expr, Symbol

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language.law import Clause, Law
from rnnbounds.theory.language.statement import Statement, eq, le

Key: TypeAlias = tuple[type[Expr], int]  # a function, and how many arguments it has


class DefinitionError(InputError):
    """A law that defines nothing new, or not once and for all."""


class Definition(Law):
    """Law that defines new functions: one equation for each value."""

    @property
    def functions(self) -> tuple[Key, ...]:
        """Keys of the functions that the law defines, in order."""
        return tuple(dict.fromkeys(function_key(clause.conclusion.lhs) for clause in self.clauses))

    @property
    def is_registered(self) -> bool:
        """True if the definition is in the registry."""
        return REGISTRY.get(self.id) == self


REGISTRY: dict[str, Definition] = {}
NEW: set[type[Expr]] = set()  # functions that were made to be defined


def function_key(term: Expr) -> Key:
    """(function, number of arguments) of a term."""
    return term.func, len(term.args)


def define(id: str, variables: tuple[Symbol, ...], *equations: Statement | Clause) -> Definition:
    """Enter the definition, whose functions are then taken.

    Raises:
        DefinitionError: it says more than what new functions are worth.
    """
    # Nobody else has the one that is kept.
    definition, kept = (Definition(id, variables, tuple(map(_afresh, equations))) for _ in range(2))
    if definition.is_registered:
        return definition
    for fault in _definition_faults(definition):
        raise DefinitionError(f"the definition {id!r} {fault}")
    REGISTRY[id] = kept
    return definition


def _afresh(equation: Statement | Clause) -> Clause:
    """The equation without what a statement keeps of itself."""
    clause = equation if isinstance(equation, Clause) else Clause(equation)
    parts = (Statement(s.lhs, s.relation, s.rhs) for s in (clause.conclusion, *clause.given))
    return Clause(next(parts), tuple(parts))


def maximum(value: Expr, first: Expr, second: Expr) -> tuple[Clause, ...]:
    """value = max(first, second), case by case: SymPy's own Max compares what it cannot."""
    return (
        Clause(eq(value, first), (le(second, first),)),
        Clause(eq(value, second), (le(first, second),)),
    )


def _definition_faults(definition: Definition) -> Iterator[str]:
    if definition.id in REGISTRY:
        yield "has the name of another one; give it one of its own"
    if definition.constants:
        yield "has free symbols; list its variables, and state the rest as an assumption"
    for clause in definition.clauses:
        if clause.conclusion.relation != "==":
            yield "is no equation; state it as an axiom with a source, or as an assumption"
        lhs, rhs = clause.conclusion.lhs, clause.conclusion.rhs
        if rhs != 0 and lhs.is_commutative != rhs.is_commutative:
            yield f"has {lhs} and {rhs}, which are compared; equate what is of one sort"
    defined = {key for other in REGISTRY.values() for key in other.functions}
    for key in definition.functions:
        function, _ = key
        if function not in NEW:
            yield f"says something of {function}, which is no new function; state it as an axiom"
        if key in defined:
            yield f"gives {function} a second value; a function is defined once"
    for target in (clause.conclusion.lhs for clause in definition.clauses):
        if any(hasattr(target, f"_eval_is_{fact}") for fact in ("nonnegative", "integer")):
            yield f"defines {target}, whose sign or kind is known; take a plain function"
    for index, clause in enumerate(definition.clauses):
        yield from _clause_faults(
            clause, definition.functions, _recursion_positions(definition), defined
        )
        for other in definition.clauses[:index]:
            if not _are_disjoint(clause, other):
                yield f"gives {clause.conclusion.lhs} two values; give it one"


def _clause_faults(
    clause: Clause, functions: tuple[Key, ...], positions: Mapping[Key, int], defined: set[Key]
) -> Iterator[str]:
    """Yield a message for each fault: no unique value, undefined symbols, or circular use."""
    target = clause.conclusion.lhs
    arguments = tuple(_index_variable(argument) for argument in target.args)
    bound = {symbol for symbol in arguments if symbol is not None}
    if len(bound) < sum(argument != 0 for argument in target.args):
        yield f"has {target} on the left; write variables, 0, or j + 1 of a natural j"
    if not clause.symbols <= bound:
        yield f"uses on the right what {target} does not name; name it"
    earlier = functions[: functions.index(function_key(target))]
    position = positions.get(function_key(target))
    for term in sorted(_defined_terms(clause), key=str):
        if function_key(term) not in functions:
            if function_key(term) not in defined:
                yield f"uses {term.func}, which is not defined yet; define that before"
        elif not _is_evaluated_before(
            term, positions.get(function_key(term)), target, position, function_key(term) in earlier
        ):
            yield f"goes round in a circle: {target} from {term}; go from j to j + 1"


def _defined_terms(clause: Clause) -> set[Expr]:
    """The terms with defined functions in the value and in the premises."""
    premises = (side for premise in clause.given for side in (premise.lhs, premise.rhs))
    terms = (premise for side in (clause.conclusion.rhs, *premises) for premise in _subterms(side))
    return {term for term in terms if term.func in NEW}


def _subterms(term: Basic) -> Iterator[Basic]:
    yield term
    for part in term.args:
        yield from _subterms(part)


def _index_variable(argument: Expr) -> Symbol | None:
    """The symbol j if the argument is j or j + 1; else None."""
    if isinstance(argument, Symbol):
        return argument
    rest = [part for part in argument.args if part != 1] if isinstance(argument, Add) else []
    is_index = len(rest) == 1 and isinstance(rest[0], Symbol) and rest[0].is_integer
    return rest[0] if is_index and len(argument.args) == 2 else None


def _recursion_positions(definition: Definition) -> dict[Key, int]:
    """The place of each function where its recursion counts: everywhere 0 or j + 1 on the left."""
    arguments_of: dict[Key, list[tuple[Expr, ...]]] = {}
    for clause in definition.clauses:
        arguments_of.setdefault(function_key(clause.conclusion.lhs), []).append(
            clause.conclusion.lhs.args
        )
    candidates = {
        key: [i for i in range(key[1]) if all(a[i] == 0 or _is_successor(a[i]) for a in arguments)]
        for key, arguments in arguments_of.items()
    }
    return {key: positions[0] for key, positions in candidates.items() if positions}


def _is_evaluated_before(
    term: Expr, term_position: int | None, target: Expr, target_position: int | None, earlier: bool
) -> bool:
    """True if the term is evaluated before the place at j + 1: it is at j, or earlier at j + 1."""
    if (
        term_position is None
        or target_position is None
        or not _is_successor(target.args[target_position])
    ):
        return False
    term_index, target_index = term.args[term_position], target.args[target_position]
    return bool(
        term_index == _index_variable(target_index) or (earlier and term_index == target_index)
    )


def _are_disjoint(clause: Clause, other_clause: Clause) -> bool:
    """True if the clauses define no place twice: 0 against j + 1, or cases of a comparison."""
    first, second = clause.conclusion.lhs, other_clause.conclusion.lhs
    if function_key(first) != function_key(second):
        return True
    pairs = tuple(zip(first.args, second.args, strict=True))
    if any((p == 0 and _is_successor(q)) or (q == 0 and _is_successor(p)) for p, q in pairs):
        return True
    p, q = clause.conclusion.rhs, other_clause.conclusion.rhs
    return first == second and {clause, other_clause} == set(maximum(first, p, q))


def _is_successor(argument: Expr) -> bool:
    """True if the argument is j + 1 for a natural variable j."""
    return not isinstance(argument, Symbol) and _index_variable(argument) is not None
