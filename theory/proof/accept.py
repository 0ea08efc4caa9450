"""The acceptance of proofs: all steps follow, each by its method from what it names.

Nothing else is visible to a step but the ranges of the vocabulary (norms and lengths are not
negative).  The last step is re-targeted at any goal: run against a false variant the same proof
must fail.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.smt import Asked, heard
from rnnbounds.theory.kernel.terms import Gap, Term
from rnnbounds.theory.language import Assumption, Instance, Law, Statement
from rnnbounds.theory.proof.limits import time_limit
from rnnbounds.theory.proof.methods import GIVEN, Induction
from rnnbounds.theory.proof.records import Lemma, Proof, Step
from rnnbounds.theory.proof.scope import StepScope, kernel_law
from rnnbounds.theory.proof.together import are_contradictory


@dataclass(frozen=True)
class Outcome:
    """A step, how it follows or why it does not, and all that z3 was asked, for lemmas too."""

    step: Step
    proved: bool
    detail: str
    queries: tuple[Asked, ...] = field(default=(), repr=False, compare=False)


@cache
def outcomes(
    proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]
) -> tuple[Outcome, ...]:
    """Run all steps of records that nobody else has; the goal is proved if there are some, and all
    of them are."""
    if not proof.steps:
        return ()
    scopes, found = scopes_of(proof, assumptions)
    # Nothing may be left open: no variables, no premises.
    last = run_step(replace(proof.steps[-1], conclusion=goal, forall=(), given=()), scopes[-1])
    if last.proved and are_contradictory(assumptions):
        last = replace(last, proved=False, detail="the assumptions contradict each other")
    return (*found, last)


def is_proved(found: tuple[Outcome, ...]) -> bool:
    """True if there are steps, and all of them are proved."""
    return bool(found) and all(outcome.proved for outcome in found)


@cache
def scopes_of(
    proof: Proof, assumptions: tuple[Assumption, ...]
) -> tuple[tuple[StepScope, ...], tuple[Outcome, ...]]:
    """(scope of each step, outcome of each but the last); kept, as no goal changes them."""
    names = tuple(step.id for step in proof.steps)
    known = StepScope({assumption.id: assumption for assumption in assumptions}, later=names)
    found: list[Outcome] = []
    scopes = [known]
    for step in proof.steps[:-1]:
        found.append(run_step(step, known))
        known = replace(known, later=known.later[1:])
        if found[-1].proved:
            known = known.with_law(kernel_law(step.law), _fixed_variables(step))
        else:
            known = replace(known, failed=(*known.failed, step.id))
        scopes.append(known)
    return tuple(scopes), tuple(found)


def run_step(step: Step, known: StepScope) -> Outcome:
    """Run the step's method in this scope."""
    try:
        with heard() as asked, time_limit():
            _require_fresh_names(step, known)
            detail = step.method.prove(door.goal(step.conclusion), _with_premises(step, known))
            _require_lemmas(step)
            return Outcome(step, True, detail, tuple(asked))
    except Gap as gap:
        return Outcome(step, False, str(gap), tuple(asked))


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
    """The lemmas are proved."""
    for law in (use.law for use in step.method.uses if isinstance(use, Instance)):
        if isinstance(law, Lemma) and not is_proved(outcomes(law.proof, law.goal, law.assumptions)):
            raise Gap(f"{law.id} is not proved")


def _fixed_variables(step: Step) -> frozenset[Term]:
    """The variables of which the laws speak that the step uses: the identity I, in axioms."""
    used = (use.law for use in step.method.uses if isinstance(use, Instance))
    laws = [law for law in used if isinstance(law, Law)]
    return frozenset[Term]().union(*(kernel_law(law).constants for law in laws))
