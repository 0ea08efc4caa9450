"""Inequalities between elementary functions of one variable, by their ranges and SMT.

Each of tanh z, exp z, sin z … becomes a fresh real in its range; what is left are polynomials.
"""

from typing import ClassVar

from rnnbounds.theory.kernel.functions import derivative, ranges
from rnnbounds.theory.kernel.rewriting import prepare
from rnnbounds.theory.kernel.smt import entail
from rnnbounds.theory.kernel.statements import Statement, domains
from rnnbounds.theory.kernel.terms import Term
from rnnbounds.theory.proof.methods.base import Direct, Gap, Scope


class Elementary(Direct):
    """The ranges of the elementary functions entail the statement."""

    name: ClassVar[str] = "ranges and smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses and the ranges."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        names, within = ranges(goal)
        named = (fact.replace(names) for fact in facts)
        detail = entail(goal.replace(names), (*named, *within), scope)
        return f"{len(names)} functions by their ranges; {detail}" if names else detail


def derivatives(term: Term, point: Term, order: int, scope: Scope) -> list[Term]:
    """The term and its derivatives up to this order; raises Gap unless, by their ranges, all have a
    value for all reals."""
    found, conditions = [term], list(domains((term,)))
    for _ in range(order):
        found.append(derivative(found[-1], point, conditions))
    for condition in dict.fromkeys(conditions):
        try:
            Elementary().prove(condition, scope)
        except Gap as gap:
            raise Gap(f"{term} is not shown to be smooth, {condition}: {gap}") from gap
    return found
