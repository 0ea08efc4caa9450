"""Records of a proof that was run: results of its steps, and their ledger."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rnnbounds.theory.kernel.statements import Law as Kept
from rnnbounds.theory.language import Assumption, Law

StepKind: TypeAlias = Literal["machine", "human"]
Verdict: TypeAlias = Literal["proved", "failed", "human"]


@dataclass(frozen=True)
class StepResult:
    """Outcome of a step: `quantifier` is the range of its variables, `redundant` are uses without
    which it was proved too, `location` is the file and the line where it is written."""

    id: str
    statement: str
    kind: StepKind
    method: str
    uses: tuple[str, ...]
    verdict: Verdict
    redundant: tuple[str, ...]
    detail: str
    location: str = ""
    quantifier: str = ""


@dataclass(frozen=True)
class Ledger:
    """The outcome of a proof, and all that it rests on: textbook axioms and definitions.

    `unused` names the assumptions that no step needed.  With a human step nothing is proved: where
    every machine step is, the claim is `argued`.
    """

    steps: tuple[StepResult, ...]
    proved: bool
    axioms: tuple[str, ...]
    definitions: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    argued: bool = False

    @property
    def stands(self) -> bool:
        """True if the goal is concluded: proved, or argued in part."""
        return self.proved or self.argued

    @property
    def failures(self) -> tuple[StepResult, ...]:
        """The machine steps that failed."""
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
