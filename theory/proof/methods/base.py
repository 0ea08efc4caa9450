"""Interfaces of proof methods, and of the scope in which they prove a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
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

    def supposing(self, id: str, statement: Statement) -> Scope:
        """Scope with one more hypothesis."""

    def with_law(self, law: Law) -> Scope:
        """Scope with one more law."""


@dataclass(frozen=True)
class Method(ABC):
    """A way to prove a step from the uses that it lists."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def uses(self) -> tuple[Use, ...]:
        """Everything that the method may use."""

    @abstractmethod
    def prove(self, goal: Statement, scope: Scope) -> str:
        """A line on how the goal follows; raises Gap if it does not."""

    @abstractmethod
    def reduced(self) -> Iterator[tuple[str, Method]]:
        """The method without each of its uses in turn, and the name of the one left out."""


@dataclass(frozen=True)
class Direct(Method):
    """A method that uses all its hypotheses at once."""

    hypotheses: tuple[Use, ...]

    def __init__(self, *hypotheses: Use) -> None:
        object.__setattr__(self, "hypotheses", hypotheses)

    @property
    def uses(self) -> tuple[Use, ...]:
        """The hypotheses."""
        return self.hypotheses

    def reduced(self) -> Iterator[tuple[str, Direct]]:
        """Leave out each hypothesis in turn."""
        for index, use in enumerate(self.hypotheses):
            rest = self.hypotheses[:index] + self.hypotheses[index + 1 :]
            yield use_name(use), type(self)(*rest)


@dataclass(frozen=True)
class Composed(Method):
    """A method of several parts, fields of these names, each with hypotheses of its own."""

    parts: ClassVar[tuple[str, ...]]

    @property
    def uses(self) -> tuple[Use, ...]:
        """Uses of the parts, without the hypotheses that the method itself provides."""
        both = (use for part in self.parts for use in getattr(self, part).uses)
        return tuple(dict.fromkeys(use for use in both if not self.supposes(use)))

    @abstractmethod
    def supposes(self, use: Use) -> bool:
        """True if the method itself provides the hypothesis that the use names."""

    def reduced(self) -> Iterator[tuple[str, Method]]:
        """Leave out each use of each part."""
        for part in self.parts:
            for use, fewer in getattr(self, part).reduced():
                yield f"{part}: {use}", replace(self, **{part: fewer})


@contextmanager
def part_of(what: str) -> Iterator[None]:
    """A gap within says of which part of the step it is one."""
    try:
        yield
    except Gap as gap:
        raise Gap(f"{what}: {gap}") from gap


def use_name(use: Use) -> str:
    """How the ledger prints a use."""
    return use if isinstance(use, str) else use.name
