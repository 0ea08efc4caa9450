"""Satisfiability modulo the theory of the reals, by z3; `unknown` is a gap.

The limit is z3's resource count, never wall time, and each query has its own context, so that the
answer is the same on every machine.
"""

from contextlib import suppress
from itertools import product
from typing import ClassVar

import z3
from sympy import Expr, Integer

from theory.language import Clause, Statement, eq, ne
from theory.proof.methods.base import Direct, Gap, Scope
from theory.proof.methods.rewriting import prepare
from theory.proof.methods.translate import Formula, Translation

RLIMIT = 20_000_000
LENGTHS = (3, 2, 1, 0, 8, 16)  # where counter-models are looked for
MOST = 3


class Smt(Direct):
    """The hypotheses are satisfiable, and together with the negated goal they are not."""

    name: ClassVar[str] = "smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses."""
        clauses = scope.clauses(self.hypotheses)
        goal, facts, _ = prepare(goal, clauses)
        return entail(goal, facts, scope)


def entail(goal: Statement, facts: tuple[Clause, ...], scope: Scope) -> str:
    """Show that the (scalar) facts are satisfiable and entail the goal; raises Gap."""
    query = Translation([goal, *_statements(facts)])
    for exponent in query.powers.exponents:
        scope.require_natural(exponent, facts)
    satisfiable, answer, model = _refute(query, goal, facts)
    if satisfiable != z3.sat:
        raise Gap(f"the hypotheses are not shown satisfiable: {satisfiable}")
    if answer == z3.sat:
        better = _at_small_lengths(goal, facts, scope) if scope.explains else ""
        raise Gap(f"counter-model: {better or model}")
    if answer != z3.unsat:
        raise Gap("z3 gives up: unknown")
    return "hypotheses satisfiable; with the negated conclusion, unsatisfiable"


def _statements(facts: tuple[Clause, ...]) -> list[Statement]:
    return [statement for fact in facts for statement in (fact.conclusion, *fact.given)]


def _refute(
    query: Translation, goal: Statement, facts: tuple[Clause, ...]
) -> tuple[Formula, Formula, str]:
    """Are the hypotheses satisfiable, are they with the negated goal, and by which model?"""
    known = [query.clause(fact) for fact in facts]
    negation = z3.Not(query.formula(goal))
    known += query.ranges
    known += _meanings(query, known)
    satisfiable, _ = _solve(query, known)
    answer, model = _solve(query, [*known, negation])
    return satisfiable, answer, _print(query, model) if answer == z3.sat else ""


def _at_small_lengths(goal: Statement, facts: tuple[Clause, ...], scope: Scope) -> str:
    """A counter-model in which lengths are integers and so powers are powers; empty if none.

    It meets all conditions of the claim, those that no step uses included.
    """
    facts = (*facts, *scope.conditions)
    symbols = goal.symbols.union(*(statement.symbols for statement in _statements(facts)))
    lengths = sorted((symbol for symbol in symbols if symbol.is_integer), key=str)
    for numbers in product(LENGTHS, repeat=len(lengths)) if len(lengths) <= MOST else ():
        values = {symbol: Integer(n) for symbol, n in zip(lengths, numbers, strict=True)}
        instance = goal.replace(values)
        known = tuple(
            Clause(fact.conclusion.replace(values), tuple(g.replace(values) for g in fact.given))
            for fact in facts
        )
        with suppress(Gap):
            query = Translation([instance, *_statements(known)])
            _, answer, model = _refute(query, instance, known)
            if answer == z3.sat:
                return ", ".join([*(f"{symbol} = {n}" for symbol, n in values.items()), model])
    return ""


def require_meaning(facts: tuple[Clause, ...], scope: Scope) -> None:
    """Raise Gap unless the facts are satisfiable and give a meaning to all that they speak of."""
    if facts:
        entail(eq(Integer(0), Integer(0)), facts, scope)


def require_nonzero(expression: Expr, facts: tuple[Clause, ...], scope: Scope) -> None:
    """Raise Gap unless the facts make the expression differ from 0."""
    if not expression.is_number or expression == 0:
        entail(ne(expression, Integer(0)), facts, scope)


def _meanings(query: Translation, known: list[Formula]) -> list[Formula]:
    """Discharge the obligations, each from the facts and those discharged before it."""
    meanings: list[Formula] = []
    left = query.obligations
    while left:
        again, models = [], []
        for obligation in left:
            condition, _, meaning = obligation
            answer, model = _solve(query, [*known, *meanings, z3.Not(condition)])
            if answer == z3.unsat:
                meanings += meaning
            else:
                again.append(obligation)
                models.append(_print(query, model) if answer == z3.sat else "unknown")
        if len(again) == len(left):
            raise Gap(f"the hypotheses do not give {again[0][1]}; counter-model: {models[0]}")
        left = again
    return meanings


def _solve(query: Translation, formulas: list[Formula]) -> tuple[Formula, Formula]:
    solver = z3.SolverFor("QF_NRA", ctx=query.context)
    solver.set("rlimit", RLIMIT)
    solver.set("random_seed", 0)
    solver.add(*formulas)
    answer = solver.check()
    return answer, solver.model() if answer == z3.sat else None


def _print(query: Translation, model: Formula) -> str:
    def value(atom: Formula) -> str:
        number = model.eval(atom, model_completion=True)
        return number.as_decimal(6) if z3.is_algebraic_value(number) else str(number)

    plain = sorted((term for term in query.atoms if not _is_derived(term)), key=str)
    return ", ".join(f"{term} = {value(query.atoms[term])}" for term in plain)


def _is_derived(term: Expr) -> bool:
    """A quotient or a root, whose value follows from the others."""
    return bool(term.is_Pow and term.exp.is_number)
