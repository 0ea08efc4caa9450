"""Closed statements decided by computation: in rationals where possible, else in balls."""

from typing import ClassVar

from flint import arb, ctx, fmpq

from rnnbounds.theory.kernel.functions import ball, rational
from rnnbounds.theory.kernel.rewriting import prepare
from rnnbounds.theory.kernel.smt import require_meaning
from rnnbounds.theory.kernel.statements import Statement
from rnnbounds.theory.proof.methods.base import Direct, Gap, Scope

PRECISIONS = (64, 256, 1024)


class Exact(Direct):
    """Both sides are numbers, once the equations used are applied."""

    name: ClassVar[str] = "exact"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Decide the statement; what no precision decides is a gap."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        require_meaning(facts, scope)
        if goal.variables:
            names = ", ".join(sorted(map(str, goal.variables)))
            raise Gap(f"not a statement about numbers: {names} are free")
        p, q = map(rational, goal.sides)
        if p is not None and q is not None:
            return _decide(goal, p, q, "rationals")
        for precision in PRECISIONS:
            with ctx.workprec(precision):
                left, right = map(ball, goal.sides)
            if left < right or left > right:
                return _decide(goal, left, right, f"balls of {precision} bits")
        raise Gap(f"{goal} is undecided at {PRECISIONS[-1]} bits")


def _decide(goal: Statement, lhs: arb | fmpq, rhs: arb | fmpq, where: str) -> str:
    truth = {
        "<=": lhs <= rhs,
        "exists": lhs <= rhs,
        "<": lhs < rhs,
        "==": lhs == rhs,
        "!=": lhs != rhs,
    }
    if not truth[goal.relation]:
        raise Gap(f"counter-model: {goal} is false, {lhs} against {rhs}")
    return f"decided in {where}"
