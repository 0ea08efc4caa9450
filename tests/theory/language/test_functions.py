"""The special functions: rigorous values in three arithmetics, and their textbook notation."""

import re
from fractions import Fraction
from math import inf, nan

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sympy import Expr, Integer, Rational

from rnnbounds.theory.language import le, symbols
from rnnbounds.theory.language.functions import LambertRoot, RealPower, StepProduct
from rnnbounds.theory.language.printing import statement_latex, statement_mathml, statement_text
from rnnbounds.theory.language.terms.variables import y, z
from rnnbounds.theory.numbers.evaluate import ball, enclose, rational
from rnnbounds.theory.numbers.interval import Interval, exact

N, alpha, beta, epsilon = symbols("N alpha beta epsilon")
DIGITS = 60
ROOT = LambertRoot(epsilon)


def truth(level: Fraction) -> mpmath.mpf:
    """−W₋₁(−e^{−L}) by mpmath."""
    with mpmath.workdps(3 * DIGITS):
        value = mpmath.mpf(level.numerator) / level.denominator
        return -mpmath.lambertw(-mpmath.exp(-value), -1).real


def inside(lo: float, value: mpmath.mpf, hi: float) -> bool:
    """lo <= value <= hi, in many digits."""
    with mpmath.workdps(DIGITS):
        return bool(mpmath.mpf(lo) <= value <= mpmath.mpf(hi))


@pytest.mark.slow
@given(st.floats(1, 500, exclude_min=True))
@example(1 + 2.0**-52)
@example(1 + 2.0**-30)
@example(1 + 2.0**-10)
@example(1.5)
@example(700.0)
@settings(deadline=None, derandomize=True, max_examples=40)
def test_roots_are_enclosed(level: float) -> None:
    """Floats and balls of any precision hold mpmath's Lambert function, and are narrow."""
    value = truth(Fraction(level))
    result = enclose(ROOT, {"epsilon": exact(level)})
    lo, hi = float(result.lo), float(result.hi)
    assert inside(lo, value, hi)
    assert hi - lo <= 2e-11 * hi / min(1, (level - 1) ** 0.5) ** 0.5
    for bits in (53, 300):
        with ctx.workprec(bits):
            fine = ball(ROOT, {"epsilon": arb(level)})
        with ctx.workprec(600):
            assert fine.overlaps(arb(mpmath.nstr(value, 150), 1e-140))
        assert fine.rel_accuracy_bits() > bits / 4


def test_roots_at_the_ends() -> None:
    """The root is 1 at L = 1, exactly; below, and at NaN, there is none."""
    level = exact([1.0, 0.5, nan, -inf])
    result = enclose(ROOT, {"epsilon": level})
    assert (result.lo[0], result.hi[0]) == (1, 1)
    assert np.isnan(result.lo[1:]).all()
    assert np.isnan(result.hi[1:]).all()
    across = enclose(ROOT, {"epsilon": Interval(np.array(0.9), np.array(2.0))})
    assert np.isnan(float(across.lo))
    assert ball(ROOT, {"epsilon": arb(1)}) == 1
    for bad in (arb(1, 1e-9), arb(0.5), arb("nan"), arb("inf")):
        assert ball(ROOT, {"epsilon": bad}).is_nan()
    assert rational(ROOT, {"epsilon": fmpq(1)}) == 1
    assert rational(ROOT, {"epsilon": fmpq(2)}) is None


def test_roots_of_wide_and_huge_levels() -> None:
    """It grows, and does not overflow."""
    result = enclose(ROOT, {"epsilon": Interval(np.array(2.0), np.array(10.0))})
    low, high = (truth(Fraction(end)) for end in (2, 10))
    assert float(result.lo) <= low <= high <= float(result.hi)
    with ctx.workprec(100):
        both = ball(ROOT, {"epsilon": arb(6, 4)})
    assert both.contains(arb(float(low)))
    assert both.contains(arb(float(high)))
    for level in (1e10, 1e300):
        large = enclose(ROOT, {"epsilon": exact(level)})
        assert level * (1 - 1e-15) <= float(large.lo) <= float(large.hi) <= level * (1 + 1e-8)
    with ctx.workprec(200):
        fine = ball(ROOT, {"epsilon": arb(10) ** 300})
        assert fine.rel_accuracy_bits() > 150


@given(st.integers(0, 60), st.fractions(0, 5, max_denominator=64))
@example(0, Fraction(0))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_the_product_of_steps(count: int, rate: Fraction) -> None:
    """Rationals multiply out, intervals and balls enclose them, and Γ agrees."""
    expr = StepProduct(N, alpha)
    whole = rational(expr, {"N": fmpq(count), "alpha": fmpq(rate.numerator, rate.denominator)})
    product = Fraction(1)
    for t in range(1, count + 1):
        product *= 1 + rate / t
    assert whole == fmpq(product.numerator, product.denominator)
    floats = float(rate)  # exact: the denominators that are no powers of 2 are tried below
    result = enclose(expr, {"N": exact(count), "alpha": exact(floats)})
    near = rational(expr, {"N": fmpq(count), "alpha": fmpq(*floats.as_integer_ratio())})
    assert fmpq(*float(result.lo).as_integer_ratio()) <= near
    assert near <= fmpq(*float(result.hi).as_integer_ratio())
    assert float(result.hi - result.lo) <= 1e-13 * float(result.hi)
    with ctx.workprec(200):
        c = arb(fmpq(rate.numerator, rate.denominator))
        value = ball(expr, {"N": arb(count), "alpha": c})
        assert value.overlaps(arb(whole))
        assert value.overlaps((count + 1 + c).gamma() / (arb(count + 1).gamma() * (1 + c).gamma()))


def test_products_broadcast_and_fail_closed() -> None:
    """Systems by numbers of steps; NaN for what is no natural number or no rate."""
    steps, rates = exact(np.arange(4)), exact(np.array([[0.0], [1.0], [0.5]]))
    table = enclose(StepProduct(N, alpha), {"N": steps, "alpha": rates})
    assert table.lo.tolist() == table.hi.tolist()
    assert table.lo.tolist() == [[1, 1, 1, 1], [1, 2, 3, 4], [1, 1.5, 1.875, 2.1875]]
    bad = [(2.5, 1), (-1, 1), (nan, 1), (2, nan), (2, -0.5), (inf, 1), (10_000, nan)]
    for count, rate in bad:
        result = enclose(StepProduct(N, alpha), {"N": exact(count), "alpha": exact(rate)})
        assert np.isnan(float(result.lo))
        assert ball(StepProduct(N, alpha), {"N": arb(count), "alpha": arb(rate)}).is_nan()
    between = Interval(np.array(1.0), np.array(2.0))
    assert np.isnan(enclose(StepProduct(N, alpha), {"N": between, "alpha": exact(1.0)}).lo)
    for count, rate in ((fmpq(5, 2), fmpq(1)), (fmpq(-1), fmpq(1)), (fmpq(2), fmpq(-1))):
        assert rational(StepProduct(N, alpha), {"N": count, "alpha": rate}) is None
    assert rational(StepProduct(N, alpha), {"N": fmpq(10**9), "alpha": fmpq(1)}) is None


def test_many_steps() -> None:
    """Beyond some thousand factors the balls' Γ takes over; one element leaves the rest alone."""
    counts = exact([4_096, 4_097, 1_000_000, 3])
    wide = Interval(np.full(4, 0.5), np.full(4, 0.75))
    result = enclose(StepProduct(N, alpha), {"N": counts, "alpha": wide})
    for index, count in enumerate((4_096, 4_097, 1_000_000, 3)):
        with mpmath.workdps(30):
            for rate in (mpmath.mpf("0.5"), mpmath.mpf("0.75")):
                value = mpmath.gammaprod([count + 1 + rate], [count + 1, 1 + rate])
                assert result.lo[index] <= value <= result.hi[index]


@pytest.mark.parametrize(
    ("base", "exponent", "value"),
    [(3, 2, 9), (4, Fraction(1, 2), 2), (1, Fraction(7, 3), 1), (10, Fraction(-1, 2), 10**-0.5)],
)
def test_real_powers(base: int, exponent: Fraction, value: float) -> None:
    """y^z as any power."""
    expr = RealPower(Integer(base), Rational(exponent.numerator, exponent.denominator))
    result = enclose(expr, {})
    assert float(result.lo) <= value <= float(result.hi)
    assert float(result.hi - result.lo) < 1e-13
    assert abs(ball(expr, {}) - value) < 1e-12
    assert (rational(expr, {}) is None) == (exponent.denominator != 1)


@pytest.mark.parametrize(
    ("expression", "text", "latex", "seen"),
    [
        (
            StepProduct(N, alpha * beta),
            "gamma(N + alpha*beta + 1)/(gamma(N + 1)*gamma(alpha*beta + 1))",
            r"\frac{\Gamma\left(N + \alpha \beta + 1\right)}"
            r"{\Gamma\left(N + 1\right) \Gamma\left(\alpha \beta + 1\right)}",
            "Γ(N+αβ+1)Γ(N+1)Γ(αβ+1)",
        ),
        (
            LambertRoot(epsilon) / 2,
            "(-LambertW(-exp(-epsilon), -1))/2",
            r"\frac{\left(- W_{-1}\left(- e^{- \varepsilon}\right)\right)}{2}",
            "(−W−1(−e−ε))2",
        ),
        (beta * RealPower(N, alpha + 1), "beta*N**(alpha + 1)", r"\beta N^{\alpha + 1}", "βNα+1"),
    ],
)
def test_notation(expression: Expr, text: str, latex: str, seen: str) -> None:
    """Γ quotients, the branches of W, and powers, in all three notations."""
    statement = le(epsilon, expression)
    assert statement_text(statement) == f"epsilon <= {text}"
    assert statement_latex(statement) == rf"\varepsilon \le {latex}"
    words = re.sub(r"<[^>]*>", "", statement_mathml(statement))
    assert words == f"ε≤{seen}"


@pytest.mark.parametrize(("base", "exponent"), [(0, 0), (0, 1), (-1, 2), (-1, 3), (-2, 1)])
def test_real_powers_have_positive_bases(base: int, exponent: int) -> None:
    """exp(z ln y) has no value at y ≤ 0, also where a whole power has one."""
    power = RealPower(y, z)
    floats = {"y": exact(float(base)), "z": exact(float(exponent))}
    value = enclose(power, floats)
    assert np.isnan(value.lo)
    assert np.isnan(value.hi)
    assert ball(power, {"y": arb(base), "z": arb(exponent)}).is_nan()
    assert rational(power, {"y": fmpq(base), "z": fmpq(exponent)}) is None
    around = Interval(np.array(-1e-300), np.array(2.0))
    assert np.isnan(enclose(power, floats | {"y": around}).hi)
