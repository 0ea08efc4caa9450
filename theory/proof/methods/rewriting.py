"""Equations between vectors, and between atoms, are used by rewriting, left to right."""

from sympy import Expr, Symbol

from theory.language import Clause, Statement, eq
from theory.language.printing import statement_text
from theory.language.terms.vectors import Scalar
from theory.proof.methods.base import Gap
from theory.proof.methods.meaning import clause_sides, conditions, partial, require_total, sides

ROUNDS = 100


def is_vector(expression: Expr) -> bool:
    """Whether the expression is a vector or operator (non-commutative)."""
    return not expression.is_commutative


def is_vector_equation(statement: Statement) -> bool:
    """Whether the statement equates vectors (0 may be on the right)."""
    return is_vector(statement.lhs) or is_vector(statement.rhs)


def prepare(
    goal: Statement, clauses: tuple[Clause, ...], every: bool = False
) -> tuple[Statement, tuple[Clause, ...], dict[Expr, Expr]]:
    """The goal and the scalar clauses, rewritten, and the equations that are rules.

    The rules are those between vectors and between atoms or, with `every`, all for one atom.  A
    clause that they change becomes conditional: on what gave it, and the rules, a meaning before.
    The same is asked for the goal, rewritten or not, by equations p = p, to be translated with the
    clauses: what stands in a function must have a value too.
    """
    rules = _rules(clauses)
    if every:
        rules |= equations(_scalars(clauses, rules))
    within = (*clause_sides(clauses), *sides((goal,)))
    for rule in rules.values():
        require_total(rule, within)
    rewritten = rewrite(goal, rules)
    powers = partial((*sides((goal,)), *(rules.values() if rewritten != goal else ())))
    meant = (rewrite(eq(power, power), rules) for power in powers if power.is_commutative)
    return rewritten, (*_scalars(clauses, rules), *map(Clause, meant)), rules


def equations(clauses: tuple[Clause, ...]) -> dict[Expr, Expr]:
    """The unconditional equations for one atom."""
    found = (clause.conclusion for clause in clauses if not clause.given)
    return {s.lhs: s.rhs for s in found if s.relation == "==" and is_atom(s.lhs)}


def _rules(clauses: tuple[Clause, ...]) -> dict[Expr, Expr]:
    rules: dict[Expr, Expr] = {}
    stated = {clause.conclusion for clause in clauses if not clause.given}
    for clause in clauses:
        statement = clause.conclusion
        if is_vector_equation(statement):
            granted = all(premise in stated for premise in clause.given)
            if statement.relation != "==" or not granted or not is_atom(statement.lhs):
                raise Gap(
                    f"{statement_text(statement)} cannot be used: no granted equation for one term"
                )
            rules[statement.lhs] = statement.rhs
        elif _renames(clause):
            rules[statement.lhs] = statement.rhs
    return rules


def _scalars(clauses: tuple[Clause, ...], rules: dict[Expr, Expr]) -> tuple[Clause, ...]:
    return tuple(_rewritten(c, rules) for c in clauses if not is_vector_equation(c.conclusion))


def _rewritten(clause: Clause, rules: dict[Expr, Expr]) -> Clause:
    result = Clause(
        rewrite(clause.conclusion, rules), tuple(rewrite(g, rules) for g in clause.given)
    )
    if result == clause:
        return clause
    meant = conditions(partial((*clause_sides((clause,)), *rules.values())))
    return Clause(result.conclusion, (*result.given, *(rewrite(s, rules) for s in meant)))


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
    if not rules:
        return statement
    for _ in range(ROUNDS):
        rewritten = statement.replace(rules)
        if rewritten == statement:
            return statement
        statement = rewritten
    raise Gap(f"rewriting {statement_text(statement)} does not end")
