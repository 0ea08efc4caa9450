"""Inequalities between elementary functions of one variable, by their ranges and SMT.

Each of tanh z, exp z, sin z … becomes a fresh real in its range; what is left are polynomials.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import sympy
from sympy import Dummy, Expr, Integer, pi

from theory.language import ONE, Clause, Statement, le, lt
from theory.proof.methods.base import Direct, Scope
from theory.proof.methods.rewriting import prepare
from theory.proof.methods.smt import entail

Range = Callable[[Expr, Expr], tuple[Clause, ...]]


def _open(lo: Expr, hi: Expr) -> Range:
    return lambda value, _: (Clause(lt(lo, value)), Clause(lt(value, hi)))


def _closed(lo: Expr, hi: Expr) -> Range:
    return lambda value, _: (Clause(le(lo, value)), Clause(le(value, hi)))


def _exponential(value: Expr, argument: Expr) -> tuple[Clause, ...]:
    below = Clause(le(value, Integer(1)), (le(argument, Integer(0)),))
    above = Clause(le(Integer(1), value), (le(Integer(0), argument),))
    return Clause(lt(Integer(0), value)), below, above


RANGES: dict[type[Expr], Range] = {
    sympy.tanh: _open(-ONE, ONE),
    sympy.erf: _open(-ONE, ONE),
    sympy.sin: _closed(-ONE, ONE),
    sympy.cos: _closed(-ONE, ONE),
    sympy.atan: _open(-pi / 2, pi / 2),
    sympy.exp: _exponential,
}


class Elementary(Direct):
    """The ranges of the elementary functions entail the statement."""

    name: ClassVar[str] = "ranges and smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses and the ranges."""
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses))
        found = goal.lhs.atoms(*RANGES) | goal.rhs.atoms(*RANGES)
        names = {node: Dummy(f"{node}", real=True) for node in sorted(found, key=str)}
        ranges = [c for node, name in names.items() for c in RANGES[node.func](name, *node.args)]
        named = (fact.replace(names) for fact in facts)
        detail = entail(goal.replace(names), (*named, *ranges), scope)
        return f"{len(names)} functions by their ranges; {detail}" if names else detail
