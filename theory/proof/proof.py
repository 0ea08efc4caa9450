"""Ledgers: a proof is a list of steps, the last of which concludes the claim itself.

Each step names all that it uses and its method; nothing else is visible to it, but for the ranges
of the vocabulary (norms and lengths are not negative).  `check` re-targets the last step at any
goal: run against a false variant the same ledger must fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.smt import heard
from rnnbounds.theory.kernel.terms import Term
from rnnbounds.theory.language import Assumption, Axiom, Instance, Law, Statement, Use
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.limits import time_limit
from rnnbounds.theory.proof.methods import GIVEN, Gap, Induction
from rnnbounds.theory.proof.records import (
    Ledger,
    Lemma,
    Proof,
    Step,
    StepResult,
    Verdict,
    copied,
)
from rnnbounds.theory.proof.scope import StepScope, assumption_variables, kernel_law
from rnnbounds.theory.proof.together import are_contradictory

__all__ = ["GIVEN", "Ledger", "Proof", "Step", "StepResult", "check"]


def check(proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]) -> Ledger:
    """Run the proof with its last step re-targeted at the goal, from the given assumptions."""
    try:
        records = copied(proof, goal, assumptions)
    except (Gap, RecursionError) as gap:
        return Ledger((StepResult("records", "", "", (), "failed", str(gap)),), False, ())
    return _checked(*records)


@cache
def _checked(proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]) -> Ledger:
    scopes, results = scopes_of(proof, assumptions)
    if proof.steps:
        results = (*results, run_step(final_step(proof, goal), scopes[-1]))
    if results and results[-1].verdict == "proved" and are_contradictory(assumptions):
        last = replace(
            results[-1], verdict="failed", detail="the assumptions contradict each other"
        )
        results = (*results[:-1], last)
    used = [use for step in proof.steps for use in step.method.uses]
    return Ledger(
        results,
        {result.verdict for result in results} == {"proved"},
        _used_law_ids(used, Axiom),
        _used_law_ids(used, Definition),
        _unused_assumptions(used, assumptions),
        _ranges(proof, goal, assumptions),
    )


def final_step(proof: Proof, goal: Statement) -> Step:
    """The last step, re-targeted; nothing may be left open: no variables, no premises."""
    return replace(proof.steps[-1], conclusion=goal, forall=(), given=())


@cache
def scopes_of(
    proof: Proof, assumptions: tuple[Assumption, ...]
) -> tuple[tuple[StepScope, ...], tuple[StepResult, ...]]:
    """(scope of each step, result of each step but the last); cached, as no goal changes them."""
    names = tuple(step.id for step in proof.steps)
    known = StepScope({assumption.id: assumption for assumption in assumptions}, later=names)
    results: list[StepResult] = []
    scopes = [known]
    for step in proof.steps[:-1]:
        result = run_step(step, known)
        known = replace(known, later=known.later[1:])
        results.append(result)
        if result.verdict == "failed":
            known = replace(known, failed=(*known.failed, step.id))
        else:
            known = known.with_law(kernel_law(step.law), _fixed_variables(step))
        scopes.append(known)
    return tuple(scopes), tuple(results)


def run_step(step: Step, known: StepScope) -> StepResult:
    """Run the step's method in this scope."""

    with suppress(Gap):  # which symbols have a name in common is known then
        for statement in (step.conclusion, *step.given):
            door.statement(statement)
    try:
        text, uses, quantifier = step.text, step.use_names, step.quantifier
    except ValueError:  # Python writes no number of more than 4300 digits
        reason = "a number is too long to be written"
        return StepResult(step.id, "", step.method.name, (), "failed", reason, step.location)

    def result(verdict: Verdict, detail: str) -> StepResult:
        return StepResult(
            step.id, text, step.method.name, uses, verdict, detail, step.location, quantifier,
            tuple(asked),
        )  # fmt: skip

    try:
        with heard() as asked, time_limit():
            _require_fresh_names(step, known)
            goal = door.goal(step.conclusion)
            detail = step.method.prove(goal, _with_premises(step, known))
            _require_lemmas(step)
            return result("proved", detail)
    except Gap as gap:
        return result("failed", str(gap))


def _with_premises(step: Step, known: StepScope) -> StepScope:
    """Scope of the step, with its premises; an induction that carries them adds its own."""
    carried = isinstance(step.method, Induction) and step.method.given
    for index, statement in enumerate(() if carried else step.given, start=1):
        known = known.with_hypothesis(f"{GIVEN} {index}", door.goal(statement))
    return known


def _require_fresh_names(step: Step, known: StepScope) -> None:
    """The name is new, and of the variables nothing is assumed but what the step says."""
    for statement in (step.conclusion, *step.given):
        door.statement(statement)
    forall = tuple(map(door.term, step.forall))
    kernel_law(step.law)
    if step.id in known.laws or step.id in known.assumptions:
        raise Gap(f"the name {step.id!r} is taken")
    if step.forall and not known.constants.union(_fixed_variables(step)).isdisjoint(forall):
        raise Gap("a variable of the step is a constant of the claim")
    if isinstance(step.method, Induction):
        objection = step.method.objection(step.forall, step.given)
        if objection:
            raise Gap(objection)


def _require_lemmas(step: Step) -> None:
    """The ledgers of the lemmas are proved."""
    for law in (use.law for use in step.method.uses if isinstance(use, Instance)):
        if isinstance(law, Lemma) and not _ledger(law).proved:
            raise Gap(f"{law.id} is not proved")


def _ledger(lemma: Lemma) -> Ledger:
    return _checked(lemma.proof, lemma.goal, lemma.assumptions)


def _fixed_variables(step: Step) -> frozenset[Term]:
    """The variables of which the laws speak that the step uses: the identity I, in axioms."""
    used = (use.law for use in step.method.uses if isinstance(use, Instance))
    laws = [law for law in used if isinstance(law, Law)]
    return frozenset[Term]().union(*(kernel_law(law).constants for law in laws))


def _used_law_ids(uses: list[Use], kind: type[Law]) -> tuple[str, ...]:
    """The names of the axioms, or of the definitions, those of the lemmas included."""
    ids: set[str] = set()
    for use in uses:
        law = use.law if isinstance(use, Instance) else None
        if isinstance(law, Lemma):
            ids.update(_ledger(law).axioms if kind is Axiom else _ledger(law).definitions)
        elif isinstance(law, kind):
            ids.add(law.id)
    return tuple(sorted(ids))


def _unused_assumptions(uses: list[Use], assumptions: tuple[Assumption, ...]) -> tuple[str, ...]:
    used_ids = {use if isinstance(use, str) else use.law for use in uses}
    for use in uses:
        if isinstance(use, Instance) and isinstance(use.law, Lemma):
            used_ids |= {assumption.id for assumption in use.law.assumptions}
    return tuple(assumption.id for assumption in assumptions if assumption.id not in used_ids)


def _ranges(proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]) -> tuple[str, ...]:
    """The least values that the vocabulary declares of quantities of which the steps speak."""
    spoken = set[Term]()
    with suppress(Gap):
        spoken |= door.goal(goal).variables.union(*map(assumption_variables, assumptions))
    for step in proof.steps:
        with suppress(Gap):
            spoken.update(*_spoken(step))
    declared = {
        f"{quantity.lower} <= {quantity.name}"
        for quantity in VOCABULARY.values()
        if quantity.lower is not None and door.term(quantity.symbol) in spoken
    }
    lemmas = (law for law in _laws(proof) if isinstance(law, Lemma))
    return tuple(sorted(declared.union(*(_ledger(lemma).ranges for lemma in lemmas))))


def _laws(proof: Proof) -> Iterator[Law | str]:
    return (u.law for step in proof.steps for u in step.method.uses if isinstance(u, Instance))


def _spoken(step: Step) -> Iterator[frozenset[Term]]:
    """The variables of a step, those of the terms that it puts into laws among them."""
    yield kernel_law(step.law).constants | frozenset(map(door.term, step.forall))
    for use in step.method.uses:
        if isinstance(use, Instance):
            yield from (door.goal(Statement(term, "==", term)).variables for term in use.terms)
            yield frozenset() if isinstance(use.law, str) else kernel_law(use.law).constants
