"""One step of a proof, with the hypotheses that its method was given and what z3 was asked."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from rnnbounds.theory.kernel.statements import Clause
from rnnbounds.theory.language import Assumption, Use
from rnnbounds.theory.proof.ledger import StepResult
from rnnbounds.theory.proof.methods.base import use_name
from rnnbounds.theory.proof.methods.smt import Asked, heard
from rnnbounds.theory.proof.proof import Proof, Step, before, run
from rnnbounds.theory.proof.scope import Known


@dataclass(frozen=True)
class Given:
    """The hypotheses of a part of a step: what it uses, and what that says there."""

    uses: tuple[str, ...]
    clauses: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """A step as it was run; a method of several parts asks for the hypotheses of each."""

    result: StepResult
    given: tuple[Given, ...]
    asked: tuple[Asked, ...]


@dataclass(frozen=True)
class _Watched(Known):
    """A scope that keeps what it is asked for."""

    told: list[Given] = field(default_factory=list)

    def clauses(self, uses: tuple[Use, ...]) -> tuple[Clause, ...]:
        found = super().clauses(uses)
        self.told.append(Given(tuple(map(use_name, uses)), tuple(map(clause_text, found))))
        return found


def shown(proof: Proof, assumptions: tuple[Assumption, ...], step: Step) -> Shown:
    """A step of the proof, run once more."""
    steps = proof.steps[: proof.steps.index(step) + 1]
    *_, known = before(Proof(steps), assumptions)[0]
    run(step, known)  # what lemmas ask for their own ledgers is asked here
    watched = _Watched(**{part.name: getattr(known, part.name) for part in fields(known)})
    with heard() as asked:
        result = run(step, watched)
    return Shown(result, tuple(watched.told), tuple(asked))


def clause_text(clause: Clause) -> str:
    """As a reader types it: if the premises hold, so does the conclusion."""
    premises = " and ".join(map(str, clause.given))
    return f"if {premises}: {clause.conclusion}" if premises else str(clause.conclusion)
