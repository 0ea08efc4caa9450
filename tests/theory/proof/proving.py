"""One goal, from some statements, by one method; and what is tested, as terms of the kernel."""

from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Assumption, Statement
from rnnbounds.theory.proof.methods import Method, Scope, Smt
from rnnbounds.theory.proof.scope import StepScope


def scope(*statements: Statement) -> StepScope:
    """A scope that grants the statements, by the names h0, h1, …"""
    granted = (Assumption(f"h{i}", "", statement) for i, statement in enumerate(statements))
    return StepScope({assumption.id: assumption for assumption in granted})


def prove(method: Method, goal: Statement, known: Scope | None = None) -> str:
    """Prove the goal by the method, in a scope."""
    return method.prove(door.goal(goal), StepScope({}) if known is None else known)


def proves(goal: Statement, *statements: Statement, by: type[Method] = Smt) -> str:
    """Prove the goal from all the statements."""
    names = [f"h{i}" for i in range(len(statements))]
    return prove(by(*names), goal, scope(*statements))
