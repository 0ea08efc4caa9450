"""Entailment over the reals, by z3; `unknown` is a gap.

z3 is bounded in its own count of steps, so that the answer is the same on every machine, and in
CPU time and memory, which the answers that proofs rest on do not come near.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product
from re import findall
from typing import Protocol, TypeAlias

from rnnbounds.theory.kernel.solver.client import SOLVER, Answer
from rnnbounds.theory.kernel.statements import Clause, Statement, eq, ne
from rnnbounds.theory.kernel.terms import NUMBER, POWER, ZERO, Gap, Term, number
from rnnbounds.theory.kernel.translate import Formula, Obligation, Translation, negation

Terms: TypeAlias = Sequence[tuple[Term, str]]  # and the constants that stand for them
ABSTRACT = "abstract: powers are free numbers in this model"
LENGTHS = (3, 2, 1, 0, 8, 16)  # where counter-models are looked for
MOST = 3


class Scope(Protocol):
    """Interface of a step's scope for the SMT rules."""

    @property
    def conditions(self) -> tuple[Clause, ...]:
        """The claim's own conditions."""

    def require_natural(self, number: Term, clauses: tuple[Clause, ...]) -> None:
        """Raise Gap unless the clauses and the claim's conditions make the exponent natural."""


@dataclass(frozen=True)
class Asked:
    """Query to z3, in SMT-LIB with the terms that its constants stand for, and the answer."""

    what: str
    script: str
    verdict: str


_ASKED: ContextVar[list[Asked] | None] = ContextVar("asked", default=None)


@contextmanager
def heard() -> Iterator[list[Asked]]:
    """All that z3 is asked within."""
    asked: list[Asked] = []
    token = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(token)


def entail(goal: Statement, facts: tuple[Clause, ...], scope: Scope) -> str:
    """Show that the facts, all of numbers, are satisfiable and entail the goal; raises Gap."""
    query = Translation([goal, *_statements(facts)])
    for exponent in query.powers.exponents:
        scope.require_natural(exponent, facts)
    stated, negated = _formulas(query, goal, facts)
    known = [*stated, *_meanings(query, stated)]
    terms = _plain(query)
    what = "the hypotheses and the negated conclusion"
    refuted, used = _asked(query, [*known, negated], what, terms)
    if refuted.verdict == "sat":
        better = _at_small_lengths(goal, facts, scope)
        free = f" ({ABSTRACT})" if query.powers.exponents else ""
        raise Gap(f"counter-model: {better or _values(terms, refuted) + free}")
    if refuted.verdict != "unsat":
        raise Gap(f"z3 gives up: {refuted.reason}")
    satisfiable = _solve(query, [*known, *used], "the hypotheses alone")
    if satisfiable.verdict != "sat":
        reason = satisfiable.reason or satisfiable.verdict
        raise Gap(f"the hypotheses are not shown satisfiable: {reason}")
    return "hypotheses satisfiable; with the negated conclusion, unsatisfiable"


def refuted(facts: tuple[Clause, ...]) -> bool:
    """True if z3 shows the facts on real numbers unsatisfiable, quotients and roots taken as
    defined."""
    scalar = [fact for fact in facts if _translates(fact)]
    query = Translation(_statements(scalar))
    stated = [query.clause(fact) for fact in scalar]
    meant = [part for o in query.obligations for part in (o.condition, *o.meaning)]
    what = "all that is assumed, together"
    return _solve(query, [*stated, *query.ranges, *meant], what, (), ("quick",)).verdict == "unsat"


def _translates(fact: Clause) -> bool:
    try:
        Translation(_statements((fact,))).clause(fact)
    except Gap:
        return False
    return True


def require_meaning(facts: tuple[Clause, ...], scope: Scope) -> None:
    """Raise Gap unless the facts are satisfiable and give a meaning to all that they speak of."""
    if facts:
        entail(eq(ZERO, ZERO), facts, scope)


def require_nonzero(term: Term, facts: tuple[Clause, ...], scope: Scope) -> None:
    """Raise Gap unless the facts make the term differ from 0."""
    if term.head is not NUMBER or not term.value:
        entail(ne(term, ZERO), facts, scope)


def _statements(facts: Iterable[Clause]) -> list[Statement]:
    return [statement for fact in facts for statement in fact.statements]


def _formulas(
    query: Translation, goal: Statement, facts: tuple[Clause, ...]
) -> tuple[list[Formula], Formula]:
    """The facts with the ranges, and the negated goal."""
    stated = [query.clause(fact) for fact in facts]
    negated = negation(query.formula(goal))
    return [*stated, *query.ranges], negated


def _halves(query: Translation) -> list[Formula]:
    """The divisors and radicands at 1/2: counter-models are found soon then."""
    within = {name for o in query.obligations for name in findall(r"\ba\d+\b", o.condition)}
    named = (
        atom for term, atom in query.atoms.items()
        if term.head.kind == "variable" and atom in within
    )  # fmt: skip
    return [f"(= {atom} 0.5)" for atom in named]


def _at_small_lengths(goal: Statement, facts: tuple[Clause, ...], scope: Scope) -> str:
    """A counter-model in which lengths are integers and so powers are powers; empty if none.

    It meets all conditions of the claim, those that no step uses included.
    """
    facts = (*facts, *scope.conditions)
    variables = goal.variables.union(*(statement.variables for statement in _statements(facts)))
    lengths = sorted((one for one in variables if one.whole), key=lambda one: one.key)
    undecided = 0
    for numbers in product(LENGTHS, repeat=len(lengths)) if len(lengths) <= MOST else ():
        values = {one: number(n) for one, n in zip(lengths, numbers, strict=True)}
        with suppress(Gap):
            instance = goal.replace(values)
            known = tuple(fact.replace(values) for fact in facts)
            query = Translation([instance, *_statements(known)])
            stated, negated = _formulas(query, instance, known)
            formulas = [*stated, *query.told, *_meanings(query, stated), negated]
            terms, what = _plain(query), "a counter-model at small lengths"
            for more in ([], _halves(query)):
                found = _solve(query, [*formulas, *more], what, terms, ("quick",))
                if found.verdict == "sat":
                    lengths_at = (f"{one} = {n}" for one, n in values.items())
                    return ", ".join([*lengths_at, _values(terms, found)])
                if found.verdict == "unsat":
                    break
                undecided += 1
            if undecided >= MOST:
                break  # others may take as long
    return ""


def _meanings(query: Translation, known: list[Formula]) -> list[Formula]:
    """Discharge the obligations, each from the facts and those discharged before it."""
    meanings: list[Formula] = []
    left, terms = query.obligations, _plain(query)
    while left:
        again: list[tuple[Obligation, Answer]] = []
        for obligation in left:
            formulas = [*known, *meanings, negation(obligation.condition)]
            what = f"the hypotheses, and not {obligation.text}"
            found, _ = _asked(query, formulas, what, terms)
            if found.verdict == "unsat":
                meanings += obligation.meaning
            else:
                again.append((obligation, found))
        if len(again) == len(left):
            obligation, found = again[0]
            sat = found.verdict == "sat"
            why = _values(terms, found) if sat else found.reason or found.verdict
            raise Gap(f"the hypotheses do not give {obligation.text}; counter-model: {why}")
        left = [obligation for obligation, _ in again]
    return meanings


def _asked(
    query: Translation, formulas: list[Formula], what: str, terms: Terms
) -> tuple[Answer, list[Formula]]:
    """The answer without what is told of functions or, where that is not enough, with it; and what
    was told."""
    found, used = _solve(query, formulas, what, terms), list[Formula]()
    if found.verdict != "unsat" and query.told:
        used = query.told
        found = _solve(query, [*formulas, *used], what, terms)
    return found, used


def _solve(
    query: Translation,
    formulas: list[Formula],
    what: str,
    terms: Terms = (),
    strategies: Sequence[str] | None = None,
) -> Answer:
    answer = SOLVER.ask(_script(query, formulas), [atom for _, atom in terms], strategies)
    if (asked := _ASKED.get()) is not None:
        asked.append(Asked(what, _script(query, formulas, named=True), answer.verdict))
    return answer


def _script(query: Translation, formulas: list[Formula], named: bool = False) -> str:
    """The formulas in SMT-LIB; with the terms that the constants stand for beside them."""
    beside = (f" ; {term}" if named else "" for term in query.atoms)
    declared = zip(query.atoms.values(), beside, strict=True)
    constants = (f"(declare-const {atom} Real){comment}" for atom, comment in declared)
    return "\n".join([*constants, *(f"(assert {formula})" for formula in formulas)])


def _plain(query: Translation) -> Terms:
    """All terms but those that follow from others, with the constants that stand for them."""
    return [(term, atom) for term, atom in query.atoms.items() if not _is_derived(term)]


def _values(terms: Terms, found: Answer) -> str:
    """A model: the value of each of these terms."""
    valued = zip(terms, found.values, strict=True)
    return ", ".join(sorted(f"{term} = {value}" for (term, _), value in valued))


def _is_derived(term: Term) -> bool:
    """A quotient or a root, whose value follows from the others."""
    return term.head is POWER and not term.args[1].variables
