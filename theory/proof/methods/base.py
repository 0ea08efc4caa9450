"""Interfaces of proof methods, and of the scope in which they prove a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol

from rnnbounds.theory.kernel.smt import Scope as Entailed
from rnnbounds.theory.kernel.statements import Clause, Law, Statement
from rnnbounds.theory.kernel.terms import Gap as Gap
from rnnbounds.theory.language import Use

GIVEN = "given"
RANGE = "range"  # what is known of a point where a part of a step is shown


class Scope(Entailed, Protocol):
    """Scope of a step for a method: the facts that it may use."""

    def clauses(self, uses: tuple[Use, ...]) -> tuple[Clause, ...]:
        """The used statements; raises Gap if one is not at hand or its side conditions fail."""

    def with_hypothesis(self, id: str, statement: Statement) -> Scope:
        """Scope with the statement as one more hypothesis, under this name."""

    def with_law(self, law: Law) -> Scope:
        """Scope with one more law."""

    def bare(self) -> Scope:
        """Scope in which nothing is granted."""


@dataclass(frozen=True)
class Method(ABC):
    """A way to prove a step from the uses that it lists."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def uses(self) -> tuple[Use, ...]:
        """All facts that the method may use."""

    @abstractmethod
    def prove(self, goal: Statement, scope: Scope) -> str:
        """A line on how the goal follows; raises Gap if it does not."""


@dataclass(frozen=True)
class Direct(Method):
    """Proof method that uses all its hypotheses at once."""

    hypotheses: tuple[Use, ...]

    def __init__(self, *hypotheses: Use) -> None:
        object.__setattr__(self, "hypotheses", hypotheses)

    @property
    def uses(self) -> tuple[Use, ...]:
        """Hypotheses, in the order in which they were given."""
        return self.hypotheses


@dataclass(frozen=True)
class Composite(Method):
    """A method of several parts, fields of these names, each with hypotheses of its own."""

    part_names: ClassVar[tuple[str, ...]]

    @property
    def uses(self) -> tuple[Use, ...]:
        """Uses of the parts, without the hypotheses that the method itself provides."""
        part_uses = (use for part in self.part_names for use in getattr(self, part).uses)
        return tuple(dict.fromkeys(use for use in part_uses if not self.provides(use)))

    @abstractmethod
    def provides(self, use: Use) -> bool:
        """True if the method itself provides the hypothesis that the use names."""


@contextmanager
def in_part(part_name: str) -> Iterator[None]:
    """Prefix the message of a Gap that is raised within by the name of the part."""
    try:
        yield
    except Gap as gap:
        raise Gap(f"{part_name}: {gap}") from gap


def use_name(use: Use) -> str:
    """Text of a use in a ledger: its name, or the law with its terms."""
    return use if isinstance(use, str) else use.name
