"""Mathematical induction on a natural variable; base and step are proved each by its own method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import Symbol

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import plus
from rnnbounds.theory.kernel.statements import Clause, Law
from rnnbounds.theory.kernel.statements import Statement as Kept
from rnnbounds.theory.kernel.terms import ONE, ZERO
from rnnbounds.theory.language import Instance, Statement, Use
from rnnbounds.theory.proof.methods.base import GIVEN, Composite, Direct, Gap, Scope, in_part

HYPOTHESIS = "induction hypothesis"


@dataclass(frozen=True)
class Induction(Composite):
    """The conclusion at 0, and at `over` + 1 from the conclusion at `over` (the hypothesis).

    Premises that speak of `over` are listed, as the step's own, in `given`: they are supposed at 0
    and at `over` + 1, and are premises of the hypothesis, which holds for all `others`.
    """

    over: Symbol
    base: Direct
    step: Direct
    given: tuple[Statement, ...] = ()
    others: tuple[Symbol, ...] = ()

    name: ClassVar[str] = "induction"
    part_names: ClassVar[tuple[str, ...]] = ("base", "step")

    def provides(self, use: Use) -> bool:
        """True if the use is of the induction hypothesis."""
        return HYPOTHESIS in (use, use.law if isinstance(use, Instance) else "")

    def prove(self, goal: Kept, scope: Scope) -> str:
        """Prove the base, then the step."""
        premises, over = tuple(map(door.goal, self.given)), door.term(self.over)
        if over not in goal.variables.union(*(premise.variables for premise in premises)):
            raise Gap(f"{over} does not occur in {goal}")
        hypothesis = Law(HYPOTHESIS, tuple(map(door.term, self.others)), (Clause(goal, premises),))
        for part, method, value, known in (
            ("base", self.base, ZERO, scope),
            ("step", self.step, plus(over, ONE), scope.with_law(hypothesis)),
        ):
            conclusion = goal.replace({over: value})
            for index, premise in enumerate(premises, start=1):
                known = known.with_hypothesis(f"{GIVEN} {index}", premise.replace({over: value}))
            with in_part(f"{part} ({conclusion})"):
                method.prove(conclusion, known)
        return f"base by {self.base.name}, step by {self.step.name}"

    def objection(self, forall: tuple[Symbol, ...], given: tuple[Statement, ...]) -> str:
        """Why the step may not be proved so; empty if it may."""
        over, free = door.term(self.over), set(map(door.term, forall))
        premises, carried = (tuple(map(door.goal, part)) for part in (given, self.given))
        varying = {over, *map(door.term, self.others)}
        if over.head.range != "natural":
            return f"induction over {over}, which is no natural number"
        is_fixed = carried == premises or all(varying.isdisjoint(p.variables) for p in premises)
        if not varying <= free or len(varying) <= len(self.others) or not is_fixed:
            return f"induction over {over}, which is not a free variable of the step"
        return "" if carried in ((), premises) else "the premises are not the step's"
