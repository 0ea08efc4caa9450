"""Index arithmetic: is this term a natural number, given linear facts about integers?"""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any, TypeAlias

import z3

from rnnbounds.theory.kernel.algebra import parts_of, split
from rnnbounds.theory.kernel.statements import Clause, Statement
from rnnbounds.theory.kernel.terms import NUMBER, PRODUCT, SUM, Gap, Term

Names: TypeAlias = dict[Term, Any]  # z3 ships no types
RELATIONS: dict[str, Any] = {"<": operator.lt, "==": operator.eq, "!=": operator.ne}


def require_natural(number: Term, clauses: tuple[Clause, ...]) -> None:
    """Raise Gap unless the clauses (and the ranges) make `number` a natural number."""
    if not _is_linear(number):
        raise Gap(f"{number} is not shown to be a natural number")
    if all(factor >= 0 and _is_natural(rest) for factor, rest in map(split, parts_of(number))):
        return
    facts = (clause.conclusion for clause in clauses if not clause.given)
    linear = (fact for fact in facts if all(map(_is_linear, fact.sides)))
    objection = _objection(number, tuple(dict.fromkeys(linear)))
    if objection is not None:
        raise Gap(f"{number} is not shown to be a natural number{objection}")


def _is_natural(rest: Term) -> bool:
    return rest.head is NUMBER or (rest.head.least is not None and rest.head.least >= 0)


@lru_cache(maxsize=4096)
def _objection(number: Term, facts: tuple[Statement, ...]) -> str | None:
    """None if the facts and the ranges give number ≥ 0; else the counter-model, if there is one."""
    context = z3.Context()
    solver = z3.SolverFor("QF_LIA", ctx=context)
    solver.set("rlimit", 1_000_000)
    variables = number.variables.union(*(fact.variables for fact in facts))
    # Two variables may share a name.
    names = {
        one: z3.Int(f"{one.key} #{index}" if index else one.key, context)
        for index, one in enumerate(sorted(variables, key=lambda one: one.key))
    }
    solver.add(*(_formula(fact, names, context) for fact in facts))
    for one, name in names.items():
        if one.head.least is not None:
            solver.add(name >= one.head.least)
    solver.add(_linear(number, names, context) < 0)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    return f"; counter-model: {solver.model()}" if answer == z3.sat else ""


def _is_linear(term: Term) -> bool:
    """Integer coefficients, natural variables, degree at most 1."""
    for factor, rest in map(split, parts_of(term)):
        if factor.denominator != 1 or rest.head in (SUM, PRODUCT):
            return False
        if rest.head is not NUMBER and not (rest.head.kind == "variable" and rest.whole):
            return False
    return True


def _linear(term: Term, names: Names, context: Any) -> Any:
    parts = [
        int(factor) * (1 if rest.head is NUMBER else names[rest])
        for factor, rest in map(split, parts_of(term))
    ]
    return z3.Sum([*parts, z3.IntVal(0, context)])


def _formula(statement: Statement, names: Names, context: Any) -> Any:
    lhs, rhs = (_linear(side, names, context) for side in statement.sides)
    return RELATIONS.get(statement.relation, operator.le)(lhs, rhs)
