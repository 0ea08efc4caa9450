"""Mathematical induction on a natural variable; base and step are proved each by its own method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from sympy import Integer, Symbol

from theory.law import Use
from theory.methods.base import Direct, Gap, Method, Scope
from theory.statement import Statement

HYPOTHESIS = "induction hypothesis"


@dataclass(frozen=True)
class Induction(Method):
    """The conclusion at 0, and at `over` + 1 from the conclusion at `over` (the hypothesis)."""

    over: Symbol
    base: Direct
    step: Direct

    name: ClassVar[str] = "induction"

    @property
    def uses(self) -> tuple[Use, ...]:
        """What base and step use, the induction hypothesis apart."""
        both = (*self.base.uses, *self.step.uses)
        return tuple(dict.fromkeys(use for use in both if use != HYPOTHESIS))

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the base, then the step."""
        if self.over not in goal.symbols:
            raise Gap(f"{self.over} does not occur in {goal.text}")
        base = goal.replace({self.over: Integer(0)})
        step = goal.replace({self.over: self.over + 1})
        for part, method, conclusion, within in (
            ("base", self.base, base, scope),
            ("step", self.step, step, scope.supposing(HYPOTHESIS, goal)),
        ):
            try:
                method.prove(conclusion, within)
            except Gap as gap:
                raise Gap(f"{part} ({conclusion.text}): {gap}") from gap
        return f"base by {self.base.name}, step by {self.step.name}"

    def reduced(self) -> Iterator[tuple[str, Method]]:
        """Leave out each use of the base and of the step."""
        for use, base in self.base.reduced():
            yield f"base: {use}", replace(self, base=base)
        for use, step in self.step.reduced():
            yield f"step: {use}", replace(self, step=step)
