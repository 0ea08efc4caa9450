"""Satisfiability modulo the theory of the reals, by z3; `unknown` is a gap."""

from typing import ClassVar

from rnnbounds.theory.kernel.rewriting import prepare
from rnnbounds.theory.kernel.smt import Asked as Asked
from rnnbounds.theory.kernel.smt import entail as entail
from rnnbounds.theory.kernel.smt import heard as heard
from rnnbounds.theory.kernel.statements import Statement
from rnnbounds.theory.proof.methods.base import Direct, Scope


class Smt(Direct):
    """The hypotheses are satisfiable, and together with the negated goal they are not."""

    name: ClassVar[str] = "smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        return entail(goal, facts, scope)
