"""One walk, three arithmetics: intervals enclose balls, balls enclose rationals."""

import numpy as np
import pytest
import sympy
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Expr, Integer, Max, Min, Rational, Symbol, ceiling, exp, floor, log, sqrt

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Statement, symbols
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.statement import Relation
from rnnbounds.theory.numbers.evaluate import (
    UnboundQuantityError,
    UnsupportedExpressionError,
    ball,
    enclose,
    is_certain,
    rational,
)
from rnnbounds.theory.numbers.interval import Interval, exact

lam, S_0, B_x, T, k = symbols("lam S_0 B_x T k")
GAP = S_0 * (lam**k - lam**T) / (1 - lam)

numbers = st.fractions(-3, 3, max_denominator=40)
leaves = st.sampled_from([lam, S_0, B_x, k, T, T - k]) | numbers.map(
    lambda q: Rational(q.numerator, q.denominator)
)


def _grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] / p[1]),
        st.tuples(inner, st.sampled_from([k, T - k, Integer(2), Integer(-1), Rational(1, 2)])).map(
            lambda p: p[0] ** p[1]
        ),
        pairs.map(lambda p: Max(*p, evaluate=False)),
        pairs.map(lambda p: Min(*p, evaluate=False)),
        inner.map(lambda e: sqrt(abs(e))),
        inner.map(lambda e: log(abs(e) + 1)),
        inner.map(lambda e: exp(-abs(e))),
        inner.map(floor),
        inner.map(ceiling),
    )


expressions = st.recursive(leaves, _grow, max_leaves=8)
UNREAL = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I, sympy.re, sympy.im, sympy.arg)


@pytest.mark.slow
@given(
    expressions,
    *[st.floats(0, 2, allow_subnormal=False)] * 2,
    st.floats(0, 0.9990234375),
    st.integers(0, 30),
    st.integers(0, 30),
)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_the_three_arithmetics_agree(
    expr: Expr, s: float, b: float, rate: float, window: int, more: int
) -> None:
    """On random expressions the interval encloses the ball, and the ball the rational."""
    if expr.has(*UNREAL):
        return
    values = {"lam": rate, "S_0": s, "B_x": b, "k": window, "T": window + more}
    interval = enclose(expr, {name: exact(value) for name, value in values.items()})
    lo, hi = float(interval.lo), float(interval.hi)
    with ctx.workprec(300):
        fine = ball(expr, {name: arb(value) for name, value in values.items()})
        if np.isnan(lo) or not fine.is_finite():
            return
        assert lo == -np.inf or arb(lo) <= fine.upper()
        assert hi == np.inf or fine.lower() <= arb(hi)
        whole = rational(
            expr, {name: fmpq(*value.as_integer_ratio()) for name, value in values.items()}
        )
        if whole is not None:
            assert fine.overlaps(arb(whole))
            assert fmpq(*lo.as_integer_ratio()) <= whole if np.isfinite(lo) else True
            assert whole <= fmpq(*hi.as_integer_ratio()) if np.isfinite(hi) else True


def test_powers_are_exact_where_they_can_be() -> None:
    """0**0 = 1, and dyadic numbers give one float."""
    env = {"lam": exact(0.0), "k": exact(np.arange(3))}
    assert enclose(lam**k, env).hi.tolist() == [1, 0, 0]
    gap = enclose(GAP, {"lam": exact(0.5), "S_0": exact(1.0), "k": exact(2), "T": exact(5)})
    assert float(gap.lo) == float(gap.hi) == 0.4375
    assert ball(lam**k, {"lam": arb(0), "k": arb(0)}) == 1


@pytest.mark.parametrize("value", [Rational(1, 3), Integer(10) ** 400, -(Integer(10) ** 400)])
def test_rational_constants_are_enclosed(value: Expr) -> None:
    """The nearest floats on both sides, up to infinity."""
    result = enclose(value, {})
    assert float(result.lo) < float(result.hi)
    assert sympy.Rational(float(result.lo)) < value if np.isfinite(result.lo) else value < 0
    assert value < sympy.Rational(float(result.hi)) if np.isfinite(result.hi) else value > 0


@pytest.mark.parametrize("constant", [sympy.pi, sympy.E, SILU_PEAK])
def test_constants_are_enclosed(constant: Expr) -> None:
    """Two neighbouring floats or three hold the constant."""
    with ctx.workprec(200):
        value = ball(constant, {})
        result = enclose(constant, {})
        assert arb(float(result.lo)) < value < arb(float(result.hi))
    assert float(result.hi) - float(result.lo) <= 3 * np.spacing(float(result.hi))
    assert rational(constant, {}) is None


def test_a_huge_exponent_is_not_written_out() -> None:
    """2**(2**100) is an infinite interval, a ball with a huge exponent, and no rational."""
    tower = Integer(2) ** (Integer(2) ** k)
    assert float(enclose(tower, {"k": exact(100)}).hi) == np.inf
    assert not ball(tower, {"k": arb(100)}).is_nan()
    assert rational(tower, {"k": fmpq(100)}) is None
    assert rational(Integer(1) ** k * lam, {"k": fmpq(100), "lam": fmpq(1, 2)}) == fmpq(1, 2)


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (GAP, fmpq(333, 256)),
        (lam ** (k - T), fmpq(64, 27)),
        (Max(lam, Rational(1, 2)), fmpq(3, 4)),
        (Min(lam, Rational(1, 2)), fmpq(1, 2)),
        (abs(lam - 1), fmpq(1, 4)),
        (floor(lam) + ceiling(lam), fmpq(1)),
        (1 / (lam - Rational(3, 4)), None),
        (sqrt(lam), None),
        (log(lam), None),
        (lam**lam, None),
        (lam**0.5, None),
    ],
)
def test_rationals(expr: Expr, value: fmpq | None) -> None:
    """Exact values, or None where the expression is undefined or leaves the rationals."""
    env = {"lam": fmpq(3, 4), "S_0": fmpq(1), "k": fmpq(2), "T": fmpq(5)}
    assert rational(expr, env) == value


def test_errors_name_what_is_missing() -> None:
    """A quantity without a value and a function without an arithmetic are named."""
    with pytest.raises(UnboundQuantityError, match="no value for 'S_0'"):
        enclose(S_0, {"lam": exact(0.5)})
    with pytest.raises(UnsupportedExpressionError, match="gamma"):
        enclose(sympy.gamma(lam), {"lam": exact(0.5)})
    with pytest.raises(UnsupportedExpressionError, match="tanh"):
        enclose(sympy.tanh(lam), {"lam": exact(0.5)})
    with pytest.raises(UnsupportedExpressionError):
        ball(Symbol("lam") + sympy.zoo, {"lam": arb(1)})
    assert issubclass(UnboundQuantityError, InputError)
    assert issubclass(UnsupportedExpressionError, InputError)


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("<=", [True, True, False, False]),
        ("<", [True, False, False, False]),
        ("==", [False, True, False, False]),
        ("!=", [True, False, True, False]),
    ],
)
def test_certainty(relation: Relation, expected: list[bool]) -> None:
    """Below, equal, above and NaN: only what rounding cannot change is certain."""
    env = {"lam": exact([0.5, 1.0, 2.0, np.nan])}
    assert is_certain(Statement(lam, relation, Integer(1)), env).tolist() == expected


def test_overlap_is_never_certain() -> None:
    """Intervals that touch in more than a point decide nothing, and a witness is no comparison."""
    env = {"lam": Interval(np.array(0.5), np.array(1.5))}
    for relation in ("<=", "<", "==", "!="):
        assert not is_certain(Statement(lam, relation, Integer(1)), env)
    with pytest.raises(InputError, match="no numbers decide"):
        is_certain(Statement(lam, "exists", Integer(1)), env)
