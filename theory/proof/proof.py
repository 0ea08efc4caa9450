"""Ledgers: a proof is a list of steps, the last of which concludes the claim itself.

Each step names all that it uses and its method; nothing else is visible to it, but for the ranges
of the vocabulary (norms and lengths are not negative).  `check` re-targets the last step at any
goal: run against a false variant the same ledger must fail.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

from sympy import Symbol

from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.statements import Statement as Kept
from rnnbounds.theory.kernel.terms import Term
from rnnbounds.theory.language import Assumption, Axiom, Clause, Instance, Law, Statement, Use
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.printing import plain_text, statement_text
from rnnbounds.theory.language.vocabulary import DEFINITIONS
from rnnbounds.theory.proof.ledger import Ledger, ProvedLaw, StepResult, Verdict
from rnnbounds.theory.proof.limits import time_limit
from rnnbounds.theory.proof.methods import GIVEN, Gap, Induction, Method
from rnnbounds.theory.proof.methods.base import use_name
from rnnbounds.theory.proof.scope import StepScope, kernel_law
from rnnbounds.theory.proof.together import are_contradictory

__all__ = ["GIVEN", "Ledger", "Proof", "Step", "StepResult", "check"]

_ENGINE = Path(__file__).parent
_ROOT = _ENGINE.parents[1]


def _caller_location() -> str:
    """FILE:LINE of what makes a step, beyond the engine; the file from the folder of the rooms."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_engine_file(frame.f_code.co_filename):
        frame = frame.f_back
    path = Path(frame.f_code.co_filename)
    known = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else Path(path.name)
    return f"{known.as_posix()}:{frame.f_lineno}"


@cache
def _is_engine_file(file: str) -> bool:
    """True if the file is the proof engine's, or a dataclass's generated code."""
    return file.startswith("<") or Path(file).is_relative_to(_ENGINE)


@dataclass(frozen=True)
class Step:
    """One conclusion, for all values of the variables `forall` for which `given` holds.

    `location` is the file and the line where the step is written.
    """

    id: str
    conclusion: Statement
    method: Method
    forall: tuple[Symbol, ...] = ()
    given: tuple[Statement, ...] = ()
    location: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise StatementError(f"step {self.id!r} names no method of proof; prose proves nothing")
        if not self.location:
            object.__setattr__(self, "location", _caller_location())

    @cached_property
    def use_names(self) -> tuple[str, ...]:
        """The names of all that the step uses; measured quantities are unfolded to their terms."""
        measured = sorted(s.name for s in self.conclusion.symbols if s in DEFINITIONS)
        return tuple(dict.fromkeys([*map(use_name, self.method.uses), *measured]))

    @cached_property
    def text(self) -> str:
        """The conclusion, in plain text."""
        return statement_text(self.conclusion)

    @cached_property
    def quantifier(self) -> str:
        """For which values it is stated: `for all j, if 0 <= y`; empty for what is closed."""
        variables = f"for all {', '.join(map(plain_text, self.forall))}" if self.forall else ""
        premises = f"if {' and '.join(map(statement_text, self.given))}" if self.given else ""
        return ", ".join(filter(None, (variables, premises)))

    @property
    def law(self) -> Law:
        """Law that later steps may use: conclusion and premises."""
        return Law(self.id, self.forall, (Clause(self.conclusion, self.given),))


@dataclass(frozen=True)
class Proof:
    """Steps in order; the last one concludes the claim."""

    steps: tuple[Step, ...]

    @property
    def conclusion(self) -> Statement:
        """Conclusion of the last step."""
        return self.steps[-1].conclusion


@cache
def check(proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]) -> Ledger:
    """Run the proof with its last step re-targeted at the goal, from the given assumptions."""
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

    def result(verdict: Verdict, detail: str) -> StepResult:
        return StepResult(
            step.id, step.text, step.method.name, step.use_names, verdict, detail, step.location,
            step.quantifier,
        )  # fmt: skip

    try:
        with time_limit():
            _require_fresh_names(step, known)
            goal = door.goal(step.conclusion)
            return result("proved", step.method.prove(goal, _with_premises(step, known)))
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


def _fixed_variables(step: Step) -> frozenset[Term]:
    """The variables of which the laws speak that the step uses: the identity I, in axioms."""
    used = (use.law for use in step.method.uses if isinstance(use, Instance))
    laws = [law for law in used if isinstance(law, Law)]
    return frozenset[Term]().union(*(kernel_law(law).constants for law in laws))


def proves(method: Method, goal: Kept, known: StepScope) -> bool:
    """True if the method proves the goal from the known facts."""
    try:
        with time_limit():
            method.prove(goal, known)
    except Gap:
        return False
    return True


def _used_law_ids(uses: list[Use], kind: type[Law]) -> tuple[str, ...]:
    """The names of the axioms, or of the definitions, those of the lemmas included."""
    ids: set[str] = set()
    for use in uses:
        law = use.law if isinstance(use, Instance) else None
        if isinstance(law, ProvedLaw):
            ids.update(law.ledger.axioms if kind is Axiom else law.ledger.definitions)
        elif isinstance(law, kind):
            ids.add(law.id)
    return tuple(sorted(ids))


def _unused_assumptions(uses: list[Use], assumptions: tuple[Assumption, ...]) -> tuple[str, ...]:
    used_ids = {use if isinstance(use, str) else use.law for use in uses}
    for use in uses:
        if isinstance(use, Instance) and isinstance(use.law, ProvedLaw):
            used_ids |= {assumption.id for assumption in use.law.assumptions}
    return tuple(assumption.id for assumption in assumptions if assumption.id not in used_ids)
