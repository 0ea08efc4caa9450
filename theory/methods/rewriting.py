"""Equations between vectors, and between atoms, are used by rewriting, left to right."""

from sympy import Expr, Symbol

from theory.law import Clause
from theory.methods.base import Gap
from theory.statement import Statement
from theory.terms import Scalar

ROUNDS = 100


def is_vector(expression: Expr) -> bool:
    """Whether the expression is a vector or operator (non-commutative)."""
    return not expression.is_commutative


def is_vector_equation(statement: Statement) -> bool:
    """Whether the statement equates vectors (0 may be on the right)."""
    return is_vector(statement.lhs) or is_vector(statement.rhs)


def split(clauses: tuple[Clause, ...]) -> tuple[dict[Expr, Expr], tuple[Clause, ...]]:
    """The equations that are rules, and the scalar clauses rewritten by them."""
    rules: dict[Expr, Expr] = {}
    stated = {clause.conclusion for clause in clauses if not clause.given}
    for clause in clauses:
        statement = clause.conclusion
        if is_vector_equation(statement):
            granted = all(premise in stated for premise in clause.given)
            if statement.relation != "==" or not granted or not is_atom(statement.lhs):
                raise Gap(f"{statement.text} cannot be used: no granted equation for one term")
            rules[statement.lhs] = statement.rhs
        elif _renames(clause):
            rules[statement.lhs] = statement.rhs
    others = tuple(
        Clause(rewrite(c.conclusion, rules), tuple(rewrite(g, rules) for g in c.given))
        for c in clauses
        if not is_vector_equation(c.conclusion)
    )
    return rules, others


def _renames(clause: Clause) -> bool:
    """Whether the clause equates a scalar function term to an atom: needed inside powers."""
    statement = clause.conclusion
    equation = statement.relation == "==" and not clause.given
    simple = statement.rhs.is_Rational or is_atom(statement.rhs)
    return bool(equation and simple and isinstance(statement.lhs, Scalar))


def is_atom(expression: Expr) -> bool:
    """Whether a rule can replace the expression: one symbol or one function term."""
    return isinstance(expression, Symbol) or bool(expression.is_Function)


def rewrite(statement: Statement, rules: dict[Expr, Expr]) -> Statement:
    """Apply the rules to a fixed point; raises Gap if there is none."""
    for _ in range(ROUNDS):
        rewritten = statement.replace(rules)
        if rewritten == statement:
            return statement
        statement = rewritten
    raise Gap(f"rewriting {statement.text} does not end")
