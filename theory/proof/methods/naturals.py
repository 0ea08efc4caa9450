"""Index arithmetic: is this expression a natural number, given linear facts about integers?"""

from functools import lru_cache
from typing import Any, TypeAlias

import z3
from sympy import Expr, Poly, PolynomialError, Symbol, default_sort_key

from theory.language import Clause, Statement
from theory.proof.methods.base import Gap
from theory.proof.methods.meaning import is_index
from theory.proof.methods.translate import least_value

Names: TypeAlias = dict[Symbol, Any]  # z3 ships no types


def require_natural(number: Expr, clauses: tuple[Clause, ...]) -> None:
    """Raise Gap unless the clauses (and the ranges) make `number` a natural number."""
    if not _is_linear(number):
        raise Gap(f"{number} is not shown to be a natural number")
    if _is_sum_of_naturals(number):
        return
    facts = (clause.conclusion for clause in clauses if not clause.given)
    linear = (fact for fact in facts if _is_linear(fact.lhs) and _is_linear(fact.rhs))
    objection = _objection(number, tuple(dict.fromkeys(linear)))
    if objection is not None:
        raise Gap(f"{number} is not shown to be a natural number{objection}")


def _is_sum_of_naturals(number: Expr) -> bool:
    """Whether its ranges alone tell, as of k, T + 1 or 7: most that is asked is such."""
    found = number.as_coefficients_dict().items()
    return all(coefficient >= 0 and (term == 1 or _is_natural(term)) for term, coefficient in found)


def _is_natural(symbol: Expr) -> bool:
    least = least_value(symbol) if symbol.is_Symbol else None
    return least is not None and least >= 0


@lru_cache(maxsize=4096)
def _objection(number: Expr, facts: tuple[Statement, ...]) -> str | None:
    """None if the facts and the ranges give number ≥ 0; else the counter-model, if there is one."""
    context = z3.Context()
    solver = z3.SolverFor("QF_LIA", ctx=context)
    solver.set("rlimit", 1_000_000)
    symbols = number.free_symbols.union(*(fact.symbols for fact in facts))
    # Two symbols may share a name.
    names = {
        symbol: z3.Int(f"{symbol} #{index}" if index else str(symbol), context)
        for index, symbol in enumerate(sorted(symbols, key=default_sort_key))
    }
    solver.add(*(_formula(fact, names, context) for fact in facts))
    for symbol in symbols:
        lower = least_value(symbol)
        if lower is not None:
            solver.add(names[symbol] >= lower)
    solver.add(_linear(number, names, context) < 0)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    return f"; counter-model: {solver.model()}" if answer == z3.sat else ""


@lru_cache(maxsize=4096)
def _is_linear(expression: Expr) -> bool:
    """Integer coefficients, integer symbols, degree at most 1."""
    if not is_index(expression):
        return False
    if not expression.free_symbols:
        return bool(expression.is_Integer)
    try:
        polynomial = Poly(expression, *expression.free_symbols)
    except PolynomialError:
        return False
    return polynomial.total_degree() <= 1 and all(c.is_Integer for c in polynomial.coeffs())


def _linear(expression: Expr, names: Names, context: Any) -> Any:
    terms = expression.expand().as_coefficients_dict()
    return z3.Sum(
        [
            int(coefficient) * (names[symbol] if symbol.is_Symbol else 1)
            for symbol, coefficient in terms.items()
        ]
        + [z3.IntVal(0, context)]
    )


def _formula(statement: Statement, names: Names, context: Any) -> Any:
    lhs, rhs = (_linear(side, names, context) for side in (statement.lhs, statement.rhs))
    match statement.relation:
        case "<":
            return lhs < rhs
        case "==":
            return lhs == rhs
        case "!=":
            return lhs != rhs
        case _:
            return lhs <= rhs
