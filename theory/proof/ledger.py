"""Records of a proof that was run: results of its steps, and their ledger."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rnnbounds.theory.kernel.statements import Law as Kept
from rnnbounds.theory.language import Assumption, Law

Verdict: TypeAlias = Literal["proved", "failed"]


@dataclass(frozen=True)
class StepResult:
    """Outcome of a step: `quantifier` is the range of its variables, `location` the file and the
    line where it is written."""

    id: str
    statement: str
    method: str
    uses: tuple[str, ...]
    verdict: Verdict
    detail: str
    location: str = ""
    quantifier: str = ""


@dataclass(frozen=True)
class Ledger:
    """The outcome of a proof, and all that it rests on: textbook axioms and definitions.

    `unused` names the assumptions that no step needed.
    """

    steps: tuple[StepResult, ...]
    proved: bool
    axioms: tuple[str, ...]
    definitions: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[StepResult, ...]:
        """The steps that failed."""
        return tuple(step for step in self.steps if step.verdict == "failed")


@dataclass(frozen=True)
class ProvedLaw(Law):
    """A law with a ledger of its own, and with what it assumes; it has no clauses but those that
    the kernel makes of what was proved."""

    assumptions: tuple[Assumption, ...]

    @property
    @abstractmethod
    def kernel_law(self) -> Kept:
        """The proved law, over terms of the kernel."""

    @property
    @abstractmethod
    def ledger(self) -> Ledger:
        """Ledger of the law's own proof."""
