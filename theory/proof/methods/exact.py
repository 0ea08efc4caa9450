"""Closed statements decided by computation: in rationals where possible, else in balls."""

from typing import ClassVar

from flint import arb, ctx, fmpq
from sympy import Expr, exp

from theory.language import Statement
from theory.language.printing import statement_text
from theory.language.terms.vectors import exponential
from theory.numbers.evaluate import ball, rational
from theory.proof.methods.base import Direct, Gap, Scope
from theory.proof.methods.rewriting import prepare
from theory.proof.methods.smt import require_meaning

PRECISIONS = (64, 256, 1024)


class Exact(Direct):
    """Both sides are numbers, once the equations used are applied."""

    name: ClassVar[str] = "exact"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Decide the statement; what no precision decides is a gap."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        require_meaning(facts, scope)
        if goal.symbols:
            names = ", ".join(sorted(map(str, goal.symbols)))
            raise Gap(f"not a statement about numbers: {names} are free")
        lhs, rhs = (side.replace(exponential, exp) for side in (goal.lhs, goal.rhs))
        p, q = rational(lhs, {}), rational(rhs, {})
        if p is not None and q is not None:
            return _decide(goal, p, q, "rationals")
        for precision in PRECISIONS:
            left, right = _balls(lhs, rhs, precision)
            if left < right or left > right:
                return _decide(goal, left, right, f"balls of {precision} bits")
        raise Gap(f"{statement_text(goal)} is undecided at {PRECISIONS[-1]} bits")


def _balls(lhs: Expr, rhs: Expr, precision: int) -> tuple[arb, arb]:
    with ctx.workprec(precision):
        return ball(lhs, {}), ball(rhs, {})


def _decide(goal: Statement, lhs: arb | fmpq, rhs: arb | fmpq, where: str) -> str:
    truth = {
        "<=": lhs <= rhs,
        "exists": lhs <= rhs,
        "<": lhs < rhs,
        "==": lhs == rhs,
        "!=": lhs != rhs,
    }
    if not truth[goal.relation]:
        raise Gap(f"counter-model: {statement_text(goal)} is false, {lhs} against {rhs}")
    return f"decided in {where}"
