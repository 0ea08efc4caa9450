"""Intervals against exact rationals: the truth is enclosed, and exact results stay exact."""

from collections.abc import Callable
from fractions import Fraction
from math import inf, isinf, isnan, nan, nextafter
from operator import add, mul, sub, truediv

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rnnbounds.theory.numbers import interval
from rnnbounds.theory.numbers.interval import Interval, exact

SMALLEST, LARGEST = 5e-324, float(np.finfo(float).max)
finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e3, 1e3, allow_subnormal=True)
OPERATIONS = (add, sub, mul, truediv)


def contains(lo: float, hi: float, truth: Fraction) -> bool:
    """lo <= truth <= hi, compared exactly."""
    below = lo == -inf or (not isinf(lo) and Fraction(lo) <= truth)
    return below and (hi == inf or (not isinf(hi) and truth <= Fraction(hi)))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda f: f.__name__)
@given(finite, finite)
@example(LARGEST, LARGEST)
@example(SMALLEST, 0.5)
@example(1e-300, -1e-300)
@example(1e308, 1e-308)
@example(3.0, -0.0)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_operations_enclose_the_truth(
    operation: Callable[..., Interval], x: float, y: float
) -> None:
    """The result of floats encloses that of rationals, at most two floats wide."""
    result = operation(exact(x), exact(y))
    lo, hi = float(result.lo), float(result.hi)
    if operation is truediv and y == 0:
        assert isnan(lo)
        assert isnan(hi)
        return
    assert contains(lo, hi, operation(Fraction(x), Fraction(y)))
    assert nextafter(nextafter(lo, inf), inf) >= hi


@pytest.mark.parametrize("operation", OPERATIONS[:3], ids=lambda f: f.__name__)
@given(st.integers(-(2**26), 2**26), st.integers(-(2**26), 2**26))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_integers_stay_exact(operation: Callable[..., Interval], x: int, y: int) -> None:
    """T - k is one number, so that conditions on lengths are decided."""
    result = operation(exact(x), exact(y))
    assert float(result.lo) == float(result.hi) == operation(x, y)


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda f: f.__name__)
@given(*[moderate] * 4, st.floats(0, 1), st.floats(0, 1))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_operations_on_wide_intervals(
    operation: Callable[..., Interval], a: float, b: float, c: float, d: float, s: float, t: float
) -> None:
    """Any two points of the operands give a point of the result, whatever the signs."""
    (a, b), (c, d) = sorted((a, b)), sorted((c, d))
    x, y = min(max(a + s * (b - a), a), b), min(max(c + t * (d - c), c), d)
    result = operation(Interval(np.array(a), np.array(b)), Interval(np.array(c), np.array(d)))
    if operation is truediv and c <= 0 <= d:
        assert isnan(float(result.lo))
        return
    assert contains(float(result.lo), float(result.hi), operation(Fraction(x), Fraction(y)))


@given(*[st.floats(-2, 2)] * 2, st.floats(0, 1), st.integers(0, 40))
@example(-1.0, 1.0, 0.5, 2)
@example(0.0, 0.0, 0.0, 0)
@example(1e-200, 1e-200, 0.0, 2)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_integer_powers(a: float, b: float, s: float, count: int) -> None:
    """x^n of any point lies in the result, and even powers are not negative."""
    a, b = sorted((a, b))
    x = min(max(a + s * (b - a), a), b)
    base = Interval(np.array(a), np.array(b))
    power = base**count
    assert contains(float(power.lo), float(power.hi), Fraction(x) ** count)
    assert count % 2 == 1 or float(power.lo) >= 0
    inverse = base**-count
    if x != 0 and not isnan(float(inverse.lo)):
        assert contains(float(inverse.lo), float(inverse.hi), Fraction(x) ** -count)


def test_powers_take_an_axis_of_exponents() -> None:
    """One base and many exponents give one row, 0**0 = 1, and each element stands alone."""
    row = exact([[0.0], [0.5], [nan], [-2.0]]) ** exact([0, 1, 2, 3])
    assert row.lo[0].tolist() == row.hi[0].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert row.lo[1].tolist() == row.hi[1].tolist() == [1.0, 0.5, 0.25, 0.125]
    assert np.isnan(row.lo[2]).all()
    assert row.lo[3].tolist() == row.hi[3].tolist() == [1.0, -2.0, 4.0, -8.0]


def test_powers_that_are_not_integers() -> None:
    """exp(e log b) for positive bases, NaN for negative ones, beside integer powers."""
    mixed = exact([2.0, -2.0, 0.0, 2.0]) ** exact([0.5, 0.5, 0.5, 3.0])
    assert mixed.lo[0] < 2**0.5 < mixed.hi[0]
    assert isnan(mixed.lo[1])
    assert 0 <= mixed.hi[2] < 1e-300
    assert mixed.lo[3] == mixed.hi[3] == 8
    wide = exact(2.0) ** Interval(np.array(1.0), np.array(2.0))
    assert float(wide.lo) <= 2.0
    assert float(wide.hi) >= 4.0


@pytest.mark.parametrize(("function", "reference"), [("exp", arb.exp), ("log", arb.log)])
@given(st.floats(-745, 710))
@example(0.0)
@example(1.0)
@example(-744.5)
@example(709.9)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_library_functions(function: str, reference: Callable[[arb], arb], x: float) -> None:
    """exp and log are inside the margin given for the library, against balls of 200 bits."""
    x = abs(x) if function == "log" else x
    with ctx.workprec(200):
        result = getattr(interval, function)(exact(x))
        truth = reference(arb(x))
        if x == 0 and function == "log":
            assert float(result.lo) == -inf
            return
        assert float(result.lo) == -inf or arb(float(result.lo)) <= truth
        assert float(result.hi) == inf or truth <= arb(float(result.hi))


@given(st.floats(0, LARGEST))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_square_roots(x: float) -> None:
    """lo² <= x <= hi², exactly; a perfect square has an exact root."""
    root = interval.sqrt(exact(x))
    assert Fraction(float(root.lo)) ** 2 <= Fraction(x) <= Fraction(float(root.hi)) ** 2
    assert float(interval.sqrt(exact(9.0)).lo) == float(interval.sqrt(exact(9.0)).hi) == 3


@pytest.mark.parametrize(
    "result",
    [
        exact(nan) + 1,
        exact(nan) * 0,
        exact(nan) ** 0,
        exact(inf) - exact(inf),
        exact(inf) * exact(0.0),
        exact(1.0) / exact(0.0),
        1 / Interval(np.array(-1.0), np.array(1.0)),
        interval.sqrt(exact(-1.0)),
        interval.log(exact(-1.0)),
        Interval(np.array(2.0), np.array(1.0)),
        Interval(np.array(0.0), np.array(nan)),
        interval.maximum(exact(nan), exact(1.0)),
        interval.minimum(exact(1.0), exact(nan)),
        interval.floor(exact(nan)),
        exact(2.0) ** exact(nan),
    ],
    ids=range(15),
)
def test_what_is_undefined_fails_closed(result: Interval) -> None:
    """Both ends are NaN, so that no comparison with them succeeds."""
    assert np.isnan(result.lo).all()
    assert np.isnan(result.hi).all()


def test_pointwise_functions() -> None:
    """Absolute value, extremes, floor and ceiling of intervals."""
    x = Interval(np.array([-3.0, -2.5, 1.5]), np.array([2.0, -1.5, 1.5]))
    assert abs(x).lo.tolist() == [0, 1.5, 1.5]
    assert abs(x).hi.tolist() == [3, 2.5, 1.5]
    assert interval.floor(x).lo.tolist() == [-3, -3, 1]
    assert interval.ceiling(x).hi.tolist() == [2, -1, 2]
    assert interval.maximum(x, exact(0.0)).hi.tolist() == [2, 0, 1.5]
    assert interval.minimum(x, exact(0.0)).lo.tolist() == [-3, -2.5, 0]
    assert (-x).lo.tolist() == [-2, 1.5, -1.5]


def test_a_result_does_not_depend_on_its_batch() -> None:
    """The element is the same alone and beside elements of other signs, infinite or undefined."""
    lo, hi = np.array([0.0, -1.0, nan, inf]), np.array([1.0, 2.0, nan, inf])
    batch, other = Interval(lo, hi), Interval(np.zeros(4), np.full(4, 3.0))
    together = batch * other
    for index in range(4):
        alone = Interval(lo[index], hi[index]) * Interval(np.array(0.0), np.array(3.0))
        assert np.array_equal(together.lo[index], alone.lo, equal_nan=True)
        assert np.array_equal(together.hi[index], alone.hi, equal_nan=True)
