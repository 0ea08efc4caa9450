"""Proof by cases: the statement with the values of each case, each by its own method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sympy import Expr

from theory.law import Use
from theory.methods.base import Gap, Method, Scope
from theory.statement import Statement


@dataclass(frozen=True)
class Case:
    """The values that some terms take, what is given then, and how the statement is proved."""

    name: str
    values: tuple[tuple[Expr, Expr], ...]
    given: tuple[tuple[str, Statement], ...]
    method: Method


@dataclass(frozen=True)
class Cases(Method):
    """The cases are all there are: the step's text says of what."""

    cases: tuple[Case, ...]

    name: ClassVar[str] = "cases"

    @property
    def uses(self) -> tuple[Use, ...]:
        """What the cases use, but for what is given in each."""
        return tuple(
            dict.fromkeys(
                use
                for case in self.cases
                for use in case.method.uses
                if use not in dict(case.given)
            )
        )

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove every case."""
        for case in self.cases:
            within = scope
            for id, statement in case.given:
                within = within.supposing(id, statement)
            try:
                case.method.prove(goal.replace(dict(case.values)), within)
            except Gap as gap:
                raise Gap(f"{case.name}: {gap}") from gap
        return f"{len(self.cases)} cases: {', '.join(case.name for case in self.cases)}"

    def reduced(self) -> Iterator[tuple[str, Method]]:
        """Every case is needed."""
        yield from ()
