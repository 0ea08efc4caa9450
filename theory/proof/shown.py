"""One step of a proof, with the hypotheses that its method was given and what z3 was asked."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from rnnbounds.theory.kernel.statements import Clause
from rnnbounds.theory.language import Use
from rnnbounds.theory.proof.accept import run_step, scopes_of
from rnnbounds.theory.proof.claim import Form
from rnnbounds.theory.proof.methods.base import use_name
from rnnbounds.theory.proof.proof import Proof, Step, StepResult, result
from rnnbounds.theory.proof.records import copied
from rnnbounds.theory.proof.scope import StepScope


@dataclass(frozen=True)
class Hypotheses:
    """The hypotheses of a part of a step: what it uses, and what that says there."""

    uses: tuple[str, ...]
    clauses: tuple[str, ...]


@dataclass(frozen=True)
class StepTrace:
    """A step as it was run; a method of several parts asks for the hypotheses of each."""

    result: StepResult
    hypotheses: tuple[Hypotheses, ...]


@dataclass(frozen=True)
class _RecordingScope(StepScope):
    """Scope that records which hypotheses a method asks for."""

    recorded: list[Hypotheses] = field(default_factory=list)

    def clauses(self, uses: tuple[Use, ...]) -> tuple[Clause, ...]:
        clauses = super().clauses(uses)
        self.recorded.append(
            Hypotheses(tuple(map(use_name, uses)), tuple(map(clause_text, clauses)))
        )
        return clauses


def trace_step(form: Form, step: Step) -> StepTrace:
    """Run one step of the form's proof again, recording its hypotheses and solver queries."""
    steps = form.proof.steps[: form.proof.steps.index(step) + 1]
    proof, assumptions = copied(Proof(steps), form.assumptions)
    *_, scope = scopes_of(proof, assumptions)[0]
    step = proof.steps[-1]
    step = replace(step, conclusion=form.meant(step.conclusion))
    run_step(step, scope)  # what lemmas ask for their own ledgers is asked here
    recording = _RecordingScope(
        **{scope_field.name: getattr(scope, scope_field.name) for scope_field in fields(scope)}
    )
    outcome = run_step(step, recording)
    return StepTrace(result(outcome), tuple(recording.recorded))


def clause_text(clause: Clause) -> str:
    """As a reader types it: if the premises hold, so does the conclusion."""
    premises = " and ".join(map(str, clause.given))
    return f"if {premises}: {clause.conclusion}" if premises else str(clause.conclusion)
