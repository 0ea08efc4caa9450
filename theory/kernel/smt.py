"""Entailment over the reals, by z3; `unknown` is a gap.

z3 is bounded in its own count of steps, so that the answer is the same on every machine, and in
CPU time and memory, which the answers that proofs rest on do not come near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from rnnbounds.theory.kernel import heads
from rnnbounds.theory.kernel.algebra import parts_of, split
from rnnbounds.theory.kernel.solver.client import SOLVER, STRATEGIES, Answer
from rnnbounds.theory.kernel.statements import Clause, Statement, le
from rnnbounds.theory.kernel.terms import ZERO, Gap, Term
from rnnbounds.theory.kernel.translate import Formula, Translation, negation

Formulas: TypeAlias = Sequence[Formula]
ABSTRACT = "abstract: powers are free numbers in this model"


@dataclass(frozen=True)
class Asked:
    """A closed text in SMT-LIB, which asks `what`, the terms that its constants stand for, and
    z3's answer."""

    what: str
    text: str
    verdict: str
    atoms: tuple[Term, ...]

    @property
    def script(self) -> str:
        """The text, with the terms beside."""
        head, *lines = self.text.splitlines()
        named = [f"{line} ; {term}" for line, term in zip(lines, self.atoms, strict=False)]
        return "\n".join([head, *named, *lines[len(named) :]])


_ASKED: ContextVar[list[Asked] | None] = ContextVar("asked", default=None)


@contextmanager
def heard() -> Iterator[list[Asked]]:
    """All that z3 is asked within; who hears more hears it too."""
    asked: list[Asked] = []
    outer, token = _ASKED.get(), _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(token)
        if outer is not None:
            outer += asked


Explainer: TypeAlias = Callable[[Statement, tuple[Clause, ...]], str]
_EXPLAINERS: list[Explainer] = []


def explains(explainer: Explainer) -> Explainer:
    """Make the function tell of a better counter-model of facts and a goal, if it finds one."""
    _EXPLAINERS.append(explainer)
    return explainer


def entail(goal: Statement, facts: tuple[Clause, ...], conditions: tuple[Clause, ...]) -> str:
    """Show that the facts, all of numbers, are satisfiable and entail the goal; raises Gap.

    By the facts and the conditions of the claim exponents are natural numbers.
    """
    query = Translation([goal, *statements(facts)])
    for exponent in query.exponents:
        require_natural(exponent, (*facts, *conditions))
    stated, negated = formulas(query, goal, facts)
    known = [*stated, *meanings(query, stated)]
    refuted, told = _answer(query, [*known, negated], "the hypotheses and the negated conclusion")
    if refuted.verdict == "sat":
        free = f" ({ABSTRACT})" if query.exponents else ""
        better = (explain(goal, (*facts, *conditions)) for explain in _EXPLAINERS)
        raise Gap(f"counter-model: {next(better, '') or values(query, refuted) + free}")
    if refuted.verdict != "unsat":
        raise Gap(f"z3 gives up: {refuted.reason}")
    satisfiable = decide(query, [*known, *told], "the hypotheses alone", valued=False)
    if satisfiable.verdict != "sat":
        reason = satisfiable.reason or satisfiable.verdict
        raise Gap(f"the hypotheses are not shown satisfiable: {reason}")
    return "hypotheses satisfiable; with the negated conclusion, unsatisfiable"


def require_natural(number: Term, clauses: Iterable[Clause]) -> None:
    """Raise Gap unless the clauses between integers (and the ranges) make it a natural number."""
    if not number.whole:
        raise Gap(f"{number} is not shown to be a natural number")
    if all(factor >= 0 and _is_natural(rest) for factor, rest in map(split, parts_of(number))):
        return
    whole = dict.fromkeys(c for c in clauses if not c.given and all(s.whole for s in c.sides))
    goal = le(ZERO, number)
    query = Translation([goal, *statements(whole)])
    stated, negated = formulas(query, goal, whole)
    found = decide(query, [*stated, negated], f"the facts on integers, and not {goal}")
    if found.verdict != "unsat":
        why = f"; counter-model: {values(query, found)}" if found.verdict == "sat" else ""
        raise Gap(f"{number} is not shown to be a natural number{why}")


def _is_natural(rest: Term) -> bool:
    return rest.head is heads.NUMBER or (rest.head.least is not None and rest.head.least >= 0)


def refuted(facts: tuple[Clause, ...]) -> bool:
    """True if z3 shows the facts on real numbers unsatisfiable, quotients and roots taken as
    defined."""
    scalar = [fact for fact in facts if _translates(fact)]
    query = Translation(statements(scalar))
    stated = [query.clause(fact) for fact in scalar]
    meant = [part for o in query.obligations for part in (o.condition, *o.meaning)]
    formulas = [*stated, *query.ranges, *meant]
    return decide(query, formulas, "all that is assumed, together", True).verdict == "unsat"


def _translates(fact: Clause) -> bool:
    try:
        Translation(statements((fact,))).clause(fact)
    except Gap:
        return False
    return True


def statements(facts: Iterable[Clause]) -> list[Statement]:
    """The conclusions and the premises of the facts."""
    return [statement for fact in facts for statement in fact.statements]


def formulas(
    query: Translation, goal: Statement, facts: Iterable[Clause]
) -> tuple[list[Formula], Formula]:
    """The facts with the ranges, and the negated goal."""
    stated = [query.clause(fact) for fact in facts]
    negated = negation(query.formula(goal))
    return [*stated, *query.ranges], negated


def meanings(query: Translation, known: Formulas) -> list[Formula]:
    """Discharge the obligations, each from the facts and those discharged before it."""
    meanings: list[Formula] = []
    left = query.obligations
    while left:
        failed = []
        for obligation in left:
            formulas = [*known, *meanings, negation(obligation.condition)]
            found, _ = _answer(query, formulas, f"the hypotheses, and not {obligation.text}")
            if found.verdict == "unsat":
                meanings += obligation.meaning
            else:
                failed.append((obligation, found))
        if len(failed) == len(left):
            obligation, found = failed[0]
            sat = found.verdict == "sat"
            why = values(query, found) if sat else found.reason or found.verdict
            raise Gap(f"the hypotheses do not give {obligation.text}; counter-model: {why}")
        left = [obligation for obligation, _ in failed]
    return meanings


def _answer(query: Translation, formulas: Formulas, what: str) -> tuple[Answer, Formulas]:
    """The answer without what is told of functions or, where that is not enough, with it; and what
    was told."""
    found = decide(query, formulas, what)
    if found.verdict == "unsat" or not query.told:
        return found, ()
    return decide(query, [*formulas, *query.told], what), query.told


def decide(
    query: Translation, formulas: Formulas, what: str, quick: bool = False, valued: bool = True
) -> Answer:
    """z3's answer to a closed text, with the values of the plain unknowns in a model."""
    text = query.text(formulas)
    terms = [atom for _, atom in query.plain] if valued else []
    answer = SOLVER.ask(text, terms, STRATEGIES[: 1 if quick else None])
    if (asked := _ASKED.get()) is not None:
        asked.append(Asked(what, text, answer.verdict, tuple(query.atoms)))
    return answer


def values(query: Translation, found: Answer) -> str:
    """A model: the value of each plain term."""
    valued = zip(query.plain, found.values, strict=True)
    return ", ".join(sorted(f"{term} = {value}" for (term, _), value in valued))
