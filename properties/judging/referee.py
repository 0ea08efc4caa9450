"""The referee: balls of rising precision, then exact rationals, for what float64 cannot decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite, isqrt

import sympy
from flint import arb, ctx, fmpq

from rnnbounds.properties.judging.equivalent import divided, scalar_output
from rnnbounds.properties.judging.precisions import LARGEST_PRECISION, precisions
from rnnbounds.properties.measures.readings.balls import ball_pair
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.sizes import Ends, float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.evaluate import ball, rational
from rnnbounds.theory.proof.claim import Statement


@dataclass(frozen=True)
class Outcome:
    """Outcome of an exact decision: the verdict's name and float64 enclosures of both sides."""

    verdict: str
    lhs: Ends | None = None
    rhs: Ends | None = None


def decide_exactly(statement: Statement, pair: Batch, ks: Sequence[int]) -> list[Outcome]:
    """Decide the checks of one pair at the windows ``ks``.

    Those that are left are looked at again, with more bits: `properties.judging.precisions`. None
    is looked at where a number is beyond all balls, whatever is measured.
    """
    statement = of_one_unit(statement, pair)
    outcomes = by_division(statement, pair, ks)
    beyond = Outcome("UNDECIDED")
    outcomes |= {k: beyond for k in ks if k not in outcomes and is_beyond(statement, pair, k)}

    def below() -> int:
        return max(smallness(statement, pair, k) for k in ks if k not in outcomes)

    for precision in precisions(pair, max(ks), below) if len(outcomes) < len(ks) else ():
        for k in [k for k in ks if k not in outcomes]:
            found = by_balls(statement, pair, k, precision)
            if found.verdict != "UNDECIDED":
                outcomes[k] = found
            elif (exact := by_rationals(statement, pair, k, precision)) is not None:
                outcomes[k] = Outcome(exact.verdict, exact.lhs or found.lhs, exact.rhs or found.rhs)
        if len(outcomes) == len(ks):
            break
    return [outcomes.get(k) or Outcome("UNDECIDED") for k in ks]


def of_one_unit(statement: Statement, pair: Batch) -> Statement:
    """The statement by what one unit with one output makes of the output's gap."""
    single = pair.vanilla and pair.C.shape[1:] == (1, 1) and isfinite(pair.C.item())
    return scalar_output(statement, pair.C.item()) if single else statement


def by_division(statement: Statement, pair: Batch, ks: Sequence[int]) -> dict[int, Outcome]:
    """Decide the windows that need no value of the measured factors shared by both sides, by k."""
    rest, common = divided(statement)
    if not common or statement.relation not in ("<=", "<"):
        return {}
    # q l <= q r where l <= r and q >= 0, and q l < q r nowhere where l >= r.
    decided = "HOLDS" if statement.relation == "<=" else "VIOLATED"
    found = zip(ks, decide_exactly(rest, pair, ks), strict=True)
    return {k: Outcome(decided) for k, outcome in found if outcome.verdict == decided}


@lru_cache(maxsize=1024)
def names(*sides: sympy.Expr) -> tuple[str, ...]:
    """The names in the expressions, sorted."""
    return tuple(sorted({symbol.name for side in sides for symbol in side.free_symbols}))


def by_balls(statement: Statement, pair: Batch, k: int, precision: int) -> Outcome:
    """Compare both sides in ball arithmetic at one precision."""
    before = ctx.prec
    ctx.prec = precision
    try:
        env = balls_of(pair, k, precision, statement.lhs, statement.rhs)
        known = ball_pair(pair, precision).cache.setdefault(f"parts of statements at {k}", {})
        lhs, rhs = (ball(side, env, known) for side in (statement.lhs, statement.rhs))
        return Outcome(
            compare_balls(statement.relation, lhs, rhs), float_ends(lhs), float_ends(rhs)
        )
    finally:
        ctx.prec = before


def is_beyond(statement: Statement, pair: Batch, k: int) -> bool:
    """True if a side without measured quantities has no finite ball, such as exp of exp of …"""
    return any(
        side.has(sympy.exp)
        and all(VOCABULARY[name].role != "measured" for name in names(side))
        and not value_of(side, pair, k, LARGEST_PRECISION).is_finite()
        for side in (statement.lhs, statement.rhs)
    )


def value_of(side: sympy.Expr, pair: Batch, k: int, precision: int) -> arb:
    """One side of one pair at one window, as a ball."""
    with ctx.workprec(precision):
        return ball(side, balls_of(pair, k, precision, side), {})


def smallness(statement: Statement, pair: Batch, k: int) -> int:
    """log₂(1/b) of the bound b that the right side is, in bits; 0 where it is 0 or at least 1."""
    with ctx.workprec(LARGEST_PRECISION):
        bound = abs(value_of(statement.rhs, pair, k, LARGEST_PRECISION)).upper()
        if not bound.is_finite() or bound.is_zero():
            return 0
        digits, exponent = bound.man_exp()
        return max(0, -int(exponent) - int(digits).bit_length())


def balls_of(pair: Batch, k: int, precision: int, *sides: sympy.Expr) -> dict[str, arb]:
    """Evaluate the quantities in the sides as balls, by name, for one pair at one window."""
    return {name: ball_of(name, pair, k, precision) for name in names(*sides)}


def ball_of(name: str, pair: Batch, k: int, precision: int) -> arb:
    """A quantity of one pair at one window, as a ball."""
    if VOCABULARY[name].role == "measured":
        return MEASURES[name].ball(pair, k, precision)
    return arb(number(name, pair, k))


def number(name: str, pair: Batch, k: int) -> float:
    """A parameter or a certified constant: a float64 that stands for itself."""
    key = f"numbers of {name}"
    if key not in pair.cache:
        certified = VOCABULARY[name].role == "certified"
        pair.cache[key] = pair.constant(name).hi if certified else pair.parameters[name]
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
        apart, same = bool(lhs != rhs), bool(lhs == rhs)
        holds, fails = (same, apart) if relation == "==" else (apart, same)
    return "HOLDS" if holds else "VIOLATED" if fails else "UNDECIDED"


def by_rationals(statement: Statement, pair: Batch, k: int, precision: int) -> Outcome | None:
    """Decide the check exactly, or None where a side has no known rational square."""
    lhs, rhs = statement.lhs, statement.rhs
    if isinstance(lhs, sympy.Symbol) and lhs.name in MEASURES and statement.relation == "<=":
        measure, env = MEASURES[lhs.name], rational_numbers(rhs, pair, k)
        bound = None if env is None else rational(rhs, env)
        met = None if bound is None else measure.at_most(pair, bound, k)
        if met is not None:
            return Outcome("HOLDS" if met else "VIOLATED")
        most = measure.cap(pair, k)
        allowed = None if most is None else signed_square(rhs, pair, k, precision)
        if most is not None and allowed is not None and most <= allowed:
            return Outcome("HOLDS")
    both = squares(statement, pair, k, precision)
    if both is None:
        return None
    left, right = both
    decided = {
        "<=": left <= right,
        "exists": left <= right,
        "<": left < right,
        "==": left == right,
        "!=": left != right,
    }[statement.relation]
    return Outcome("HOLDS" if decided else "VIOLATED", signed_root(left), signed_root(right))


def squares(statement: Statement, pair: Batch, k: int, precision: int) -> tuple[fmpq, fmpq] | None:
    """sign(side)·side² of both sides, exactly; None where one of them is not known."""
    for square in (signed_square, whole_square):
        left = square(statement.lhs, pair, k, precision)
        right = None if left is None else square(statement.rhs, pair, k, precision)
        if left is not None and right is not None:
            return left, right
    return None


def signed_root(square: fmpq) -> Ends:
    """A float64 interval around sign(s) √|s|."""
    root = arb(abs(square)).sqrt()
    return float_ends(root if square >= 0 else -root)


def rational_numbers(side: sympy.Expr, pair: Batch, k: int) -> dict[str, fmpq] | None:
    """Exact values of a side's parameters and constants; None if a measured quantity occurs."""
    env = {}
    for name in names(side):
        if VOCABULARY[name].role == "measured":
            return None
        value = as_fmpq(number(name, pair, k))
        if value is None:
            return None
        env[name] = value
    return env


def as_fmpq(value: float) -> fmpq | None:
    """The rational number that a finite float is; None for others, which decide nothing."""
    if not isfinite(value):
        return None
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def whole_square(side: sympy.Expr, pair: Batch, k: int, precision: int) -> fmpq | None:
    """Evaluate the signed square s|s| of a side s if all its quantities are rational, or None."""
    env = {}
    for name in names(side):
        if VOCABULARY[name].role == "measured":
            square = MEASURES[name].exact_square(pair, k, precision)
            value = None if square is None else root_of(square)
        else:
            value = as_fmpq(number(name, pair, k))
        if value is None:
            return None
        env[name] = value
    found = rational(side, env)
    return None if found is None else found * abs(found)


def root_of(square: fmpq) -> fmpq | None:
    """√s where that is rational."""
    p, q = isqrt(int(square.p)), isqrt(int(square.q))
    return fmpq(p, q) if fmpq(p * p, q * q) == square else None


def without_zeros(side: sympy.Expr, env: dict[str, fmpq]) -> sympy.Expr:
    """The side with vanishing factors left out, so that nothing irrational meets them."""
    zeros = frozenset(name for name, value in env.items() if value == 0)
    return vanishing(side, zeros) if zeros else side


@lru_cache(maxsize=1024)
def vanishing(side: sympy.Expr, zeros: frozenset[str]) -> sympy.Expr:
    """The side where what these names stand for is 0; as it is where that has no value."""
    gone = (symbol for symbol in side.free_symbols if symbol.name in zeros)
    found = side.xreplace(dict.fromkeys(gone, sympy.Integer(0)))
    return side if found.has(sympy.zoo, sympy.nan, sympy.oo) else found


def signed_square(side: sympy.Expr, pair: Batch, k: int, precision: int) -> fmpq | None:
    """sign(side)·side², exactly: x ↦ sign(x)·x² is increasing, so comparisons carry over.

    A side is a product of measured quantities (non-negative, with rational squares), of square
    roots and of an expression in parameters and constants.
    """
    plain, square = sympy.Integer(1), fmpq(1)
    for factor in sympy.Mul.make_args(side):
        value: fmpq | None = None
        if isinstance(factor, sympy.Symbol) and factor.name in MEASURES:
            value = MEASURES[factor.name].exact_square(pair, k, precision)
        elif isinstance(factor, sympy.Pow) and factor.exp == sympy.Rational(1, 2):
            inner = rational_numbers(factor.base, pair, k)
            value = None if inner is None else rational(factor.base, inner)
        else:
            plain *= factor
            continue
        if value is None or value < 0:
            return None
        square *= value
    env = rational_numbers(plain, pair, k)
    value = rational(without_zeros(plain, env), env) if env is not None else None
    return None if value is None else square * value * abs(value)
