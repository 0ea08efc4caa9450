"""Statements that say the same as a typed one and are easier to decide.

Of a typed statement about outputs y = C h no system need be run: y_gap = ‖C(h_T − h_Tᵏ)‖₂ ≤ ‖C‖₂
h_gap, with equality for some gap. So y_gap p ≤ h_gap b holds for all states if ‖C‖₂ p ≤ b; that is
decided exactly, from the weights C and the rationals p and b, whatever the certified norm of C is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import sympy
from sympy import Add, Expr, Integer, Mul, Rational, Symbol, exp, log

from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.properties.judging.exact_decision import h_gap, is_measured, rational_values, y_gap
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.exact.networks import is_vanilla
from rnnbounds.theory.language.statement import lt
from rnnbounds.theory.language.vocabulary import VOCABULARY, symbols
from rnnbounds.theory.numbers.evaluate import rational
from rnnbounds.theory.proof.claim import Assumption, Statement

# Beyond these float64 loses the numbers that a statement is written with.
LARGEST_FACTOR_BITS = 900  # bits
h_norm, h_start, k, T = symbols("h_norm h_start k T")


def simplify_statement(statement: Statement) -> Statement:
    """The statement without an exp or log of both sides, without roots of what is measured, and
    without a huge or tiny factor.

    exp is increasing, and so are log where `positivity_assumptions` holds, a square of what is not
    negative, and a product with a positive number.
    """
    lhs, rhs = statement.lhs, statement.rhs
    while isinstance(lhs, exp) and isinstance(rhs, exp):
        lhs, rhs = lhs.args[0], rhs.args[0]
    if lhs.has(log) or rhs.has(log):
        products = exponential_product(lhs), exponential_product(rhs)
        if products[0] is not None and products[1] is not None:
            lhs, rhs = products
    lhs, rhs = square_sides(lhs, rhs)
    size = largest_coefficient(lhs, rhs)
    if size is not None and abs(log2(size.p) - log2(size.q)) > LARGEST_FACTOR_BITS:
        lhs, rhs = (sympy.expand_mul(side / size) for side in (lhs, rhs))
    return Statement(lhs, statement.relation, rhs)


def square_sides(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr]:
    """Both sides squared, if there is a root of a measured quantity, no square has one, and neither
    side can be negative, wherever it has a value; else as they are."""
    if not any(map(measured_roots, (lhs, rhs))) or not (
        is_nonnegative(lhs) and is_nonnegative(rhs)
    ):
        return lhs, rhs
    squares = lhs**2, rhs**2
    return (lhs, rhs) if any(map(measured_roots, squares)) else squares


def measured_roots(side: Expr) -> list[Expr]:
    """The square roots of something measured in it."""
    return [
        power
        for power in side.atoms(sympy.Pow)
        if power.exp.is_Rational
        and power.exp.q == 2
        and any(is_measured(symbol) for symbol in power.free_symbols)
    ]


def is_nonnegative(side: Expr) -> bool:
    """True if the form of the side alone shows it to be ≥ 0 wherever it has a value."""
    match side:
        case Symbol():
            lower = VOCABULARY[side.name].lower if side.name in VOCABULARY else None
            return lower is not None and lower >= 0
        case Rational():
            return bool(side >= 0)
        case Add() | Mul() | sympy.Max() | sympy.Min():
            return all(map(is_nonnegative, side.args))
        case sympy.Pow():
            return is_nonnegative(side.base)
        case _:
            return isinstance(side, sympy.Abs | exp)


def exponential_product(side: Expr) -> Expr | None:
    """Π a^c of a sum Σ c log(a), where c are numbers or exponents; None for other sides."""
    product = Integer(1)
    for term in Add.make_args(side):
        logs = [factor for factor in Mul.make_args(term) if isinstance(factor, log)]
        rest = Mul(*(factor for factor in Mul.make_args(term) if not isinstance(factor, log)))
        if term != 0 and (len(logs) != 1 or rest.has(log) or not rest.is_integer):
            return None
        product = product if term == 0 else product * logs[0].args[0] ** rest
    return product


def largest_coefficient(lhs: Expr, rhs: Expr) -> Rational | None:
    """The largest coefficient of a term of either side; None if all vanish."""
    terms = (term for side in (lhs, rhs) for term in Add.make_args(side))
    coefficients = [abs(term.as_coeff_Mul()[0]) for term in terms]
    positive_coefficients = [number for number in coefficients if number.is_Rational and number > 0]
    return max(positive_coefficients, default=None)


def positivity_assumptions(statement: Statement) -> tuple[Assumption, ...]:
    """Assume that each argument of a logarithm is positive; the statement has no value
    elsewhere."""
    logarithms = {node for side in (statement.lhs, statement.rhs) for node in side.atoms(log)}
    arguments = sorted({node.args[0] for node in logarithms if node.free_symbols}, key=str)
    return tuple(
        Assumption(
            f"logarithm of {argument}", f"log({argument}) has a value", lt(Integer(0), argument)
        )
        for argument in arguments
    )


def statement_at_end(statement: Statement, window: str) -> Statement:
    """The statement at the window 0, where nothing is remembered, or T, where nothing is cut:
    h_T⁰ = 0 and h_T^T = h_T, and h_0 = 0; as it is where that divides by zero."""
    if window == "first":
        replaced = statement.replace({h_gap: h_norm, h_start: h_norm, k: Integer(0)})
    else:
        replaced = statement.replace(dict.fromkeys((h_gap, h_start, y_gap), Integer(0)) | {k: T})
    has_values = not any(
        side.has(sympy.zoo, sympy.nan, sympy.oo) for side in (replaced.lhs, replaced.rhs)
    )
    return replaced if has_values else statement


def windows_held_by_outputs(statement: Statement, pair: Batch, ks: Sequence[int]) -> list[int]:
    """The windows among `ks` at which the statement holds for every state; others are open."""
    coefficients = gap_coefficients(statement)
    if coefficients is None or not is_vanilla(pair):
        return []
    return [k for k in ks if is_bounded(*coefficients, pair, k)]


def gap_coefficients(statement: Statement) -> tuple[Expr, Expr] | None:
    """The p and b of y_gap p ≤ h_gap b; None for other statements."""
    left, right = ([*Mul.make_args(side)] for side in (statement.lhs, statement.rhs))
    if statement.relation != "<=" or y_gap not in left or h_gap not in right:
        return None
    left.remove(y_gap)
    right.remove(h_gap)
    return Mul(*left), Mul(*right)


def is_bounded(p: Expr, b: Expr, pair: Batch, k: int) -> bool:
    """True if p ≥ 0 and ‖C‖₂ p ≤ b, exactly; False if p or b has no known rational value."""
    numbers = [rational_values(side, pair, k) for side in (p, b)]
    if numbers[0] is None or numbers[1] is None:
        return False
    scale, bound = rational(p, numbers[0]), rational(b, numbers[1])
    if scale is None or bound is None or scale < 0 or bound < 0:
        return False
    return scale == 0 or rational_norm_at_most(pair.C[0], bound / scale)
