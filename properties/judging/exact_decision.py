"""Exact decision: balls of rising precision, then exact rationals, for what float64 cannot
decide.

The first precision resolves λᵏ; the last is where nothing more is told apart, but that a saturated
activation is below its limit: 1 − tanh z is about e^{−2z}, which takes 2z/ln 2 bits; and what is
below a bound b of states of size 1, which takes log₂(1/b) bits more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isfinite, isqrt, log, log2

import sympy
import torch
from flint import arb, ctx, fmpq

from rnnbounds.properties.measures.measure import ball_pair
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.entry_carriers import BALLS, RATIONALS, Carrier
from rnnbounds.properties.read.numbers.sizes import Ends, float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.exact.networks import is_vanilla
from rnnbounds.theory.language.vocabulary import VOCABULARY, symbols
from rnnbounds.theory.numbers.evaluate import ball, rational
from rnnbounds.theory.proof.claim import Statement

LARGEST_PRECISION = 4096
# Of systems that are driven so far that λ, which has 1074 bits, is next to nothing.
LARGEST_LAST_PRECISION = 2**17
SHOWN_BITS = 12  # for three digits
h_gap, y_gap = symbols("h_gap y_gap")


@dataclass(frozen=True)
class Outcome:
    """Outcome of an exact decision: the verdict's name and float64 enclosures of both sides."""

    verdict: str
    lhs: Ends | None = None
    rhs: Ends | None = None


def decide_exactly(statement: Statement, pair: Batch, ks: Sequence[int]) -> list[Outcome]:
    """Decide the checks of one pair at the windows ``ks``.

    Those that are left are looked at again, with more bits: `precisions`. None
    is looked at where a number is beyond all balls, whatever is measured.
    """
    statement = with_single_output(statement, pair)
    outcomes = decide_by_common_factor(statement, pair, ks)
    undecided = Outcome("UNDECIDED")
    outcomes |= {
        k: undecided for k in ks if k not in outcomes and has_unbounded_side(statement, pair, k)
    }

    def bound_bits() -> int:
        return max(smallness_bits(statement, pair, k) for k in ks if k not in outcomes)

    for precision in precisions(pair, max(ks), bound_bits) if len(outcomes) < len(ks) else ():
        left = [k for k in ks if k not in outcomes]
        read_windows(statement, pair, left, BALLS, precision)
        by_balls = {k: decide_by_balls(statement, pair, k, precision) for k in left}
        outcomes |= {k: found for k, found in by_balls.items() if found.verdict != "UNDECIDED"}
        left = [k for k in left if k not in outcomes]
        read_windows(statement, pair, left, RATIONALS, precision)
        for k in left:
            outcome = decide_by_rationals(statement, pair, k, precision)
            if outcome is not None:
                outcomes[k] = Outcome(
                    outcome.verdict,
                    outcome.lhs or by_balls[k].lhs,
                    outcome.rhs or by_balls[k].rhs,
                )
        if len(outcomes) == len(ks):
            break
    return [outcomes.get(k) or Outcome("UNDECIDED") for k in ks]


def precisions(pair: Batch, k: int, bound_bits: Callable[[], int]) -> Iterator[int]:
    """From 53 + k log₂(1/λ) + 20 bits on, doubled; `bound_bits` is asked for log₂(1/b) if that is
    not enough."""
    precision = first_precision(pair, k)
    while precision <= LARGEST_PRECISION:
        yield precision
        precision *= 2 if precision < 512 else 8
    if (last := last_precision(pair, bound_bits())) > LARGEST_PRECISION:
        yield last


def first_precision(pair: Batch, k: int) -> int:
    """The bits that resolve λᵏ, in words of 64; k + 73 where λ is not in (0, 1)."""
    lam = pair.spec.lam
    bits = 73 + (ceil(-k * log2(lam)) if 0 < lam < 1 else k)
    return min(max(128, 64 * ceil(bits / 64)), LARGEST_PRECISION)


def last_precision(pair: Batch, bound_bits: int) -> int:
    """The bits that tell tanh z and σ(z) from 1, and what is below a bound from 0, in words of 64.

    Where states are within [−1, 1], |z| is at most the largest rows of all weights together, times
    the largest input.
    """
    inputs = pair.x.abs().flatten().tolist()
    largest = max(1.0, pair.spec.scale, *inputs)
    drive = largest * sum(map(largest_row, pair.weights.values()))
    bits = 73 + 2 * drive / log(2) + bound_bits
    return 64 * ceil(min(bits, LARGEST_LAST_PRECISION) / 64) if isfinite(drive) else 0


def largest_row(weight: torch.Tensor) -> float:
    """The largest sum of absolute values along the last axis of a matrix, or entry of a vector."""
    sizes = weight.abs()
    rows = sizes.sum(-1) if weight.ndim > 2 else sizes
    return float(rows.max()) if rows.numel() else 0.0


def with_single_output(statement: Statement, pair: Batch) -> Statement:
    """The statement by what one unit with one output makes of the output's gap."""
    single = is_vanilla(pair) and pair.C.shape[1:] == (1, 1) and isfinite(pair.C.item())
    return with_scalar_output(statement, pair.C.item()) if single else statement


def with_scalar_output(statement: Statement, weight: float) -> Statement:
    """The statement about one unit with one output, where y_gap = |c| h_gap."""
    return statement.replace({y_gap: abs(sympy.Rational(weight)) * h_gap})


def decide_by_common_factor(
    statement: Statement, pair: Batch, ks: Sequence[int]
) -> dict[int, Outcome]:
    """Decide the windows that need no value of the measured factors shared by both sides, by k."""
    reduced, common_factors = divide_common_factors(statement)
    if not common_factors or statement.relation not in ("<=", "<"):
        return {}
    # q l <= q r where l <= r and q >= 0, and q l < q r nowhere where l >= r.
    verdict = "HOLDS" if statement.relation == "<=" else "VIOLATED"
    outcomes = zip(ks, decide_exactly(reduced, pair, ks), strict=True)
    return {k: Outcome(verdict) for k, outcome in outcomes if outcome.verdict == verdict}


def divide_common_factors(statement: Statement) -> tuple[Statement, tuple[sympy.Symbol, ...]]:
    """The statement without the measured factors that both sides share, and these; they are ≥ 0."""
    lhs, rhs = sympy.Mul.make_args(statement.lhs), sympy.Mul.make_args(statement.rhs)
    common_factors = tuple(sorted((f for f in set(lhs) & set(rhs) if is_measured(f)), key=str))
    remainders = (sympy.Mul(*(f for f in side if f not in common_factors)) for side in (lhs, rhs))
    left, right = remainders
    return Statement(left, statement.relation, right), common_factors


def is_measured(factor: sympy.Expr) -> bool:
    """True if the factor is a measured quantity with lower bound 0."""
    quantity = VOCABULARY.get(factor.name) if isinstance(factor, sympy.Symbol) else None
    return quantity is not None and quantity.role == "measured" and quantity.lower == 0


@lru_cache(maxsize=1024)
def symbol_names(*sides: sympy.Expr) -> tuple[str, ...]:
    """The names in the expressions, sorted."""
    return tuple(sorted({symbol.name for side in sides for symbol in side.free_symbols}))


def read_windows(
    statement: Statement, pair: Batch, ks: Sequence[int], carrier: Carrier, precision: int
) -> None:
    """Read what a statement measures at these windows at once."""
    for name in symbol_names(statement.lhs, statement.rhs) if ks else ():
        if name in MEASURES:
            MEASURES[name].read_windows(pair, ks, carrier, precision)


def decide_by_balls(statement: Statement, pair: Batch, k: int, precision: int) -> Outcome:
    """Compare both sides in ball arithmetic at one precision."""
    old_precision = ctx.prec
    ctx.prec = precision
    try:
        balls = quantity_balls(pair, k, precision, statement.lhs, statement.rhs)
        known_parts = ball_pair(pair, precision).cache.setdefault(f"parts of statements at {k}", {})
        lhs, rhs = (ball(side, balls, known_parts) for side in (statement.lhs, statement.rhs))
        return Outcome(
            compare_balls(statement.relation, lhs, rhs), float_ends(lhs), float_ends(rhs)
        )
    finally:
        ctx.prec = old_precision


def difference_text(statement: Statement, pair: Batch, k: int) -> str:
    """lhs − rhs of one pair at one window in three digits; empty where balls do not tell it from 0,
    as where both sides are equal."""
    statement = with_single_output(statement, pair)
    for precision in precisions(pair, k, lambda: 0):
        lhs, rhs = (side_ball(side, pair, k, precision) for side in (statement.lhs, statement.rhs))
        with ctx.workprec(precision):
            difference = lhs - rhs
        if difference.rel_accuracy_bits() >= SHOWN_BITS:
            return str(difference.str(3, radius=False))
    return ""


def has_unbounded_side(statement: Statement, pair: Batch, k: int) -> bool:
    """True if a side without measured quantities has no finite ball, such as exp of exp of …"""
    return any(
        side.has(sympy.exp)
        and all(VOCABULARY[name].role != "measured" for name in symbol_names(side))
        and not side_ball(side, pair, k, LARGEST_PRECISION).is_finite()
        for side in (statement.lhs, statement.rhs)
    )


def side_ball(side: sympy.Expr, pair: Batch, k: int, precision: int) -> arb:
    """One side of one pair at one window, as a ball."""
    with ctx.workprec(precision):
        return ball(side, quantity_balls(pair, k, precision, side), {})


def smallness_bits(statement: Statement, pair: Batch, k: int) -> int:
    """log₂(1/b) of the bound b that the right side is, in bits; 0 where it is 0 or at least 1."""
    with ctx.workprec(LARGEST_PRECISION):
        bound = abs(side_ball(statement.rhs, pair, k, LARGEST_PRECISION)).upper()
        if not bound.is_finite() or bound.is_zero():
            return 0
        mantissa, exponent = bound.man_exp()
        return max(0, -int(exponent) - int(mantissa).bit_length())


def quantity_balls(pair: Batch, k: int, precision: int, *sides: sympy.Expr) -> dict[str, arb]:
    """Evaluate the quantities in the sides as balls, by name, for one pair at one window."""
    return {name: quantity_ball(name, pair, k, precision) for name in symbol_names(*sides)}


def quantity_ball(name: str, pair: Batch, k: int, precision: int) -> arb:
    """A quantity of one pair at one window, as a ball."""
    if VOCABULARY[name].role == "measured":
        return MEASURES[name].ball(pair, k, precision)
    return arb(quantity_float(name, pair, k))


def quantity_float(name: str, pair: Batch, k: int) -> float:
    """A parameter or a certified constant: a float64 that stands for itself."""
    key = f"numbers of {name}"
    if key not in pair.cache:
        is_certified = VOCABULARY[name].role == "certified"
        pair.cache[key] = pair.constant(name).hi if is_certified else pair.parameters[name]
    values = pair.cache[key]
    return float(values[0, 0, k] if values.shape[-1] > 1 else values.item())


def compare_balls(relation: str, lhs: arb, rhs: arb) -> str:
    """The verdict that the balls prove, else UNDECIDED; a NaN proves nothing."""
    if not (lhs.is_finite() and rhs.is_finite()):
        return "UNDECIDED"
    if relation in ("<=", "exists"):
        holds, fails = bool(lhs <= rhs), bool(lhs > rhs)
    elif relation == "<":
        holds, fails = bool(lhs < rhs), bool(lhs >= rhs)
    else:
        differ, equal = bool(lhs != rhs), bool(lhs == rhs)
        holds, fails = (equal, differ) if relation == "==" else (differ, equal)
    return "HOLDS" if holds else "VIOLATED" if fails else "UNDECIDED"


def decide_by_rationals(
    statement: Statement, pair: Batch, k: int, precision: int
) -> Outcome | None:
    """Decide the check exactly, or None where a side has no known rational square."""
    lhs, rhs = statement.lhs, statement.rhs
    if isinstance(lhs, sympy.Symbol) and lhs.name in MEASURES and statement.relation == "<=":
        measure, values = MEASURES[lhs.name], rational_values(rhs, pair, k)
        bound = None if values is None else rational(rhs, values)
        is_met = None if bound is None else measure.is_at_most(pair, bound, k)
        if is_met is not None:
            return Outcome("HOLDS" if is_met else "VIOLATED")
        cap = measure.bound_square(pair, k)
        allowed_square = None if cap is None else signed_square(rhs, pair, k, precision)
        if cap is not None and allowed_square is not None and cap <= allowed_square:
            return Outcome("HOLDS")
    both_squares = signed_squares(statement, pair, k, precision)
    if both_squares is None:
        return None
    left, right = both_squares
    holds = {
        "<=": left <= right,
        "exists": left <= right,
        "<": left < right,
        "==": left == right,
        "!=": left != right,
    }[statement.relation]
    return Outcome("HOLDS" if holds else "VIOLATED", signed_root(left), signed_root(right))


def signed_squares(
    statement: Statement, pair: Batch, k: int, precision: int
) -> tuple[fmpq, fmpq] | None:
    """sign(side)·side² of both sides, exactly; None where one of them is not known."""
    for square in (signed_square, squared_value):
        left = square(statement.lhs, pair, k, precision)
        right = None if left is None else square(statement.rhs, pair, k, precision)
        if left is not None and right is not None:
            return left, right
    return None


def signed_root(square: fmpq) -> Ends:
    """A float64 interval around sign(s) √|s|."""
    root = arb(abs(square)).sqrt()
    return float_ends(root if square >= 0 else -root)


def rational_values(side: sympy.Expr, pair: Batch, k: int) -> dict[str, fmpq] | None:
    """Exact values of a side's parameters and constants; None if a measured quantity occurs."""
    values = {}
    for name in symbol_names(side):
        if VOCABULARY[name].role == "measured":
            return None
        value = as_fmpq(quantity_float(name, pair, k))
        if value is None:
            return None
        values[name] = value
    return values


def as_fmpq(value: float) -> fmpq | None:
    """The rational number that a finite float is; None for others, which decide nothing."""
    if not isfinite(value):
        return None
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def squared_value(side: sympy.Expr, pair: Batch, k: int, precision: int) -> fmpq | None:
    """Evaluate the signed square s|s| of a side s if all its quantities are rational, or None."""
    values = {}
    for name in symbol_names(side):
        if VOCABULARY[name].role == "measured":
            square = MEASURES[name].exact_square(pair, k, precision)
            value = None if square is None else rational_root(square)
        else:
            value = as_fmpq(quantity_float(name, pair, k))
        if value is None:
            return None
        values[name] = value
    side_value = rational(side, values)
    return None if side_value is None else side_value * abs(side_value)


def rational_root(square: fmpq) -> fmpq | None:
    """√s where that is rational."""
    p, q = isqrt(int(square.p)), isqrt(int(square.q))
    return fmpq(p, q) if fmpq(p * p, q * q) == square else None


@lru_cache(maxsize=1024)
def substitute_zeros(side: sympy.Expr, zeros: frozenset[str]) -> sympy.Expr:
    """The side where what these names stand for is 0, so that nothing irrational meets them; as it
    is where that has no value."""
    zero_symbols = (symbol for symbol in side.free_symbols if symbol.name in zeros)
    substituted = side.xreplace(dict.fromkeys(zero_symbols, sympy.Integer(0)))
    return side if substituted.has(sympy.zoo, sympy.nan, sympy.oo) else substituted


def signed_square(side: sympy.Expr, pair: Batch, k: int, precision: int) -> fmpq | None:
    """sign(side)·side², exactly: x ↦ sign(x)·x² is increasing, so comparisons carry over.

    A side is a product of measured quantities (non-negative, with rational squares), of square
    roots and of an expression in parameters and constants.
    """
    other_factors, square = sympy.Integer(1), fmpq(1)
    for factor in sympy.Mul.make_args(side):
        value: fmpq | None = None
        if isinstance(factor, sympy.Symbol) and factor.name in MEASURES:
            value = MEASURES[factor.name].exact_square(pair, k, precision)
        elif isinstance(factor, sympy.Pow) and factor.exp == sympy.Rational(1, 2):
            radicand_values = rational_values(factor.base, pair, k)
            value = None if radicand_values is None else rational(factor.base, radicand_values)
        else:
            other_factors *= factor
            continue
        if value is None or value < 0:
            return None
        square *= value
    values = rational_values(other_factors, pair, k)
    if values is None:
        return None
    zeros = frozenset(name for name, value in values.items() if value == 0)
    value = rational(substitute_zeros(other_factors, zeros), values)
    return None if value is None else square * value * abs(value)
