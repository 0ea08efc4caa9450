"""Inequalities between elementary functions of one variable, by their ranges and SMT.

Each of tanh z, exp z, sin z … becomes a fresh real in its range; what is left are polynomials.
"""

from typing import ClassVar

from sympy import pi

from theory.kernel import door
from theory.kernel.functions import ranges
from theory.kernel.rewriting import prepare
from theory.kernel.smt import entail
from theory.kernel.statements import Statement
from theory.proof.methods.base import Direct, Scope


class Elementary(Direct):
    """The ranges of the elementary functions entail the statement."""

    name: ClassVar[str] = "ranges and smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses and the ranges."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        names, within = ranges(goal, door.term(pi))
        named = (fact.replace(names) for fact in facts)
        detail = entail(goal.replace(names), (*named, *within), scope)
        return f"{len(names)} functions by their ranges; {detail}" if names else detail
