"""One goal, from some statements, by one method."""

from theory.language import Assumption, Statement
from theory.proof.methods import Method, Smt
from theory.proof.scope import Known


def scope(*statements: Statement) -> Known:
    """A scope that grants the statements, by the names h0, h1, …"""
    granted = (Assumption(f"h{i}", "", statement) for i, statement in enumerate(statements))
    return Known({assumption.id: assumption for assumption in granted})


def proves(goal: Statement, *statements: Statement, by: type[Method] = Smt) -> str:
    """Prove the goal from all the statements."""
    names = [f"h{i}" for i in range(len(statements))]
    return by(*names).prove(goal, scope(*statements))
