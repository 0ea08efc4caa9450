"""Records of a proof that was run: results of its steps, and their ledger."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rnnbounds.theory.kernel.smt import Asked

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
