"""Ledgers: the outcome of a proof, step by step, and all that it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel import hints as hints  # finds better counter-models
from rnnbounds.theory.kernel import shown as shown  # prints the terms of details
from rnnbounds.theory.kernel.smt import Asked
from rnnbounds.theory.kernel.terms import Gap, Term
from rnnbounds.theory.language import Assumption, Axiom, Instance, Law, Statement, Use
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.accept import Outcome, outcomes
from rnnbounds.theory.proof.records import Lemma, Proof, Step, copied
from rnnbounds.theory.proof.scope import assumption_variables, kernel_law

__all__ = ["Ledger", "Proof", "Step", "StepResult", "check"]

Verdict: TypeAlias = Literal["proved", "failed"]


@dataclass(frozen=True)
class StepResult:
    """Outcome of a step: `quantifier` is the range of its variables, `location` the file and the
    line where it is written, `queries` all that z3 was asked, for lemmas that it uses too."""

    id: str
    statement: str
    method: str
    uses: tuple[str, ...]
    verdict: Verdict
    detail: str
    location: str = ""
    quantifier: str = ""
    queries: tuple[Asked, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Ledger:
    """The outcome of a proof, and all that it rests on: textbook axioms and definitions.

    `unused` names the assumptions that no step needed, `ranges` what the vocabulary declares of
    quantities and steps took for granted: `0 <= lam`.
    """

    steps: tuple[StepResult, ...]
    proved: bool
    axioms: tuple[str, ...]
    definitions: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[StepResult, ...]:
        """The steps that failed."""
        return tuple(step for step in self.steps if step.verdict == "failed")


def check(proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]) -> Ledger:
    """Run the proof with its last step re-targeted at the goal, from the given assumptions."""
    try:
        records = copied(proof, goal, assumptions)
    except (Gap, RecursionError) as gap:
        return refused(gap)
    return checked(*records)


def refused(reason: Exception) -> Ledger:
    """The ledger of what is not run."""
    return Ledger((StepResult("records", "", "", (), "failed", str(reason)),), False, ())


@cache
def checked(proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]) -> Ledger:
    """The ledger of records that nobody else has."""
    results = tuple(map(result, outcomes(proof, goal, assumptions)))
    used = [use for step in proof.steps for use in step.method.uses]
    return Ledger(
        results,
        {result.verdict for result in results} == {"proved"},
        _used_law_ids(used, Axiom),
        _used_law_ids(used, Definition),
        _unused_assumptions(used, assumptions),
        _ranges(proof, goal, assumptions),
    )


def result(outcome: Outcome) -> StepResult:
    """The outcome of a step as a ledger tells it."""
    step = outcome.step
    verdict: Verdict = "proved" if outcome.proved else "failed"
    try:
        text, uses, quantifier = step.text, step.use_names, step.quantifier
    except ValueError:  # Python writes no number of more than 4300 digits
        reason = "a number is too long to be written"
        return StepResult(step.id, "", step.method.name, (), "failed", reason, step.location)
    return StepResult(
        step.id, text, step.method.name, uses, verdict, outcome.detail, step.location, quantifier,
        outcome.queries,
    )  # fmt: skip


def _ledger(lemma: Lemma) -> Ledger:
    return checked(lemma.proof, lemma.goal, lemma.assumptions)


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
    uses = (use for step in proof.steps for use in step.method.uses if isinstance(use, Instance))
    lemmas = (use.law for use in uses if isinstance(use.law, Lemma))
    return tuple(sorted(declared.union(*(_ledger(lemma).ranges for lemma in lemmas))))


def _spoken(step: Step) -> Iterator[frozenset[Term]]:
    """The variables of a step, those of the terms that it puts into laws among them."""
    yield kernel_law(step.law).constants | frozenset(map(door.term, step.forall))
    for use in step.method.uses:
        if isinstance(use, Instance):
            yield from (door.goal(Statement(term, "==", term)).variables for term in use.terms)
            yield frozenset() if isinstance(use.law, str) else kernel_law(use.law).constants


def law_instances(proof: Proof) -> Iterator[Instance]:
    """Every use of a law by the proof, those of its lemmas included."""
    for use in (use for step in proof.steps for use in step.method.uses):
        if isinstance(use, Instance):
            yield use
            if isinstance(use.law, Lemma):
                yield from law_instances(use.law.proof)


def axioms_used(proof: Proof) -> Iterator[Axiom]:
    """The axioms that the proof uses, those of its lemmas included."""
    return (use.law for use in law_instances(proof) if isinstance(use.law, Axiom))
