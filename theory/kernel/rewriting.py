"""Equations between vectors, and between atoms, are used by rewriting, left to right."""

from __future__ import annotations

from collections.abc import Mapping

from rnnbounds.theory.kernel.statements import Clause, Statement, domains, eq
from rnnbounds.theory.kernel.terms import NUMBER, POWER, PRODUCT, SUM, Gap, Term, within

ROUNDS = 100

Rules = Mapping[Term, Term]


def is_vector_equation(statement: Statement) -> bool:
    """True if the statement equates vectors or operators (0 may be on the right)."""
    return not all(side.commutes for side in statement.sides)


def prepare(goal: Statement, clauses: tuple[Clause, ...]) -> tuple[Statement, tuple[Clause, ...]]:
    """The goal and the clauses between numbers, rewritten by the equations that are rules.

    The rules are those between vectors and between atoms. A clause that they change becomes
    conditional on what gave it, and the rules, a meaning before. The same is asked for the goal,
    rewritten or not, by equations p = p, to be translated with the clauses: what stands in a
    function must have a value too.
    """
    rules = _rules(clauses)
    rewritten = rewrite(goal, rules)
    partial = partial_powers((*goal.sides, *(rules.values() if rewritten != goal else ())))
    meant = (Clause(rewrite(eq(one, one), rules)) for one in partial if one.commutes)
    return rewritten, (*_scalars(clauses, rules), *meant)


def partial_powers(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The quotients, roots and symbolic powers, at any depth."""
    found = {
        one
        for term in terms
        for one in within(term)
        if one.head is POWER and not (one.args[1].whole and one.args[1].value > 0)
    }
    return tuple(sorted(found, key=lambda one: one.key))


def _rules(clauses: tuple[Clause, ...]) -> dict[Term, Term]:
    rules: dict[Term, Term] = {}
    stated = {clause.conclusion for clause in clauses if not clause.given}
    for clause in clauses:
        statement = clause.conclusion
        if is_vector_equation(statement):
            granted = all(premise in stated for premise in clause.given)
            if statement.relation != "==" or not granted or not is_atom(statement.lhs):
                raise Gap(f"{statement} cannot be used: no granted equation for one term")
            rules[statement.lhs] = statement.rhs
        elif _renames(clause):
            rules[statement.lhs] = statement.rhs
    return rules


def _scalars(clauses: tuple[Clause, ...], rules: Rules) -> tuple[Clause, ...]:
    return tuple(_rewritten(c, rules) for c in clauses if not is_vector_equation(c.conclusion))


def _rewritten(clause: Clause, rules: Rules) -> Clause:
    result = Clause(
        rewrite(clause.conclusion, rules), tuple(rewrite(given, rules) for given in clause.given)
    )
    if result == clause:
        return clause
    meant = domains((*clause.sides, *rules.values()))
    return Clause(result.conclusion, (*result.given, *(rewrite(s, rules) for s in meant)))


def _renames(clause: Clause) -> bool:
    """True if the clause equates a function term to an atom or a number: needed inside powers."""
    statement = clause.conclusion
    equation = statement.relation == "==" and not clause.given
    simple = statement.rhs.head is NUMBER or is_atom(statement.rhs)
    return equation and simple and statement.lhs.head.is_formal and bool(statement.lhs.args)


def is_atom(term: Term) -> bool:
    """True if the term is one variable or one function term, which a rule can replace."""
    return term.head not in (NUMBER, SUM, PRODUCT, POWER)


def rewrite(statement: Statement, rules: Rules) -> Statement:
    """Apply the rules to a fixed point; raises Gap if there is none."""
    for _ in range(ROUNDS if rules else 0):
        rewritten = statement.replace(rules)
        if rewritten == statement:
            return statement
        statement = rewritten
    if rules:
        raise Gap(f"rewriting {statement} does not end")
    return statement
