import math
from fractions import Fraction

import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.training.window import CAP, amplification, lambert, training_window


def product(alpha: float, beta: float, steps: int) -> Fraction:
    """M_N of the recursion δ ← (1 + αβ/t)δ + α/t, exactly."""
    a, b, total = Fraction(alpha), Fraction(beta), Fraction(0)
    for t in range(1, steps + 1):
        total = (1 + a * b / t) * total + a / t
    return total


@pytest.mark.parametrize("alpha", [2.0**-400, 1e-9, 0.1, 1.0, 50.0, 1e300])
@pytest.mark.parametrize("beta", [0.0, 2.0**-400, 1e-3, 1.0, 1e4, 1e300])
def test_amplification(alpha: float, beta: float) -> None:
    """The Γ product is at least the recursion in rationals, and nearly equal to it."""
    for steps in (0, 1, 2, 7, 60):
        exact, found = product(alpha, beta, steps), amplification(alpha, beta, steps)
        with ctx.workprec(400):
            true = arb(exact.numerator) / arb(exact.denominator)
            assert (true - found).lower() <= 0 <= found
            assert found.upper() <= true * (1 + arb(2) ** -40)


def test_amplification_of_long_runs() -> None:
    """Long runs grow like N^{αβ}, and constants that are not finite give no bound."""
    N = 10**9
    assert float(amplification(0.5, 2.0, N)) == pytest.approx(N / 2, rel=1e-12)
    assert float(amplification(1.0, 2.0, N)) == pytest.approx(N**2 / 4, rel=1e-8)
    assert not amplification(1.0, math.inf, 10).is_finite()
    assert not amplification(1.0, math.nan, 10).is_finite()
    assert amplification(0.0, math.inf, 10).is_zero()


def least(K_0: float, K_1: float, lam: float, epsilon: float) -> int:
    """The least k_0 ≥ 1 from which on all bounds are small, by looking at all k."""
    with ctx.workprec(300):
        top = 1
        while not arb(lam) ** top * (arb(K_0) + top * arb(K_1)) <= arb(epsilon) / 1e6:
            top = top + 1 + top // 4
        while top > 1 and arb(lam) ** (top - 1) * (arb(K_0) + (top - 1) * arb(K_1)) <= epsilon:
            top -= 1
        return top


def test_window_is_the_least() -> None:
    """On random scales the window is the least one, found by looking at all."""
    draw = torch.Generator().manual_seed(0)
    numbers = torch.rand(400, 4, dtype=torch.float64, generator=draw)
    for a, b, c, e in numbers.tolist():
        K_0, K_1, lam, epsilon = 10 ** (6 * a - 3), 10 ** (8 * b - 4), 0.98 * c, 10 ** (6 * e - 4)
        assert training_window(K_0, K_1, lam, epsilon) == least(K_0, K_1, lam, epsilon)


def test_first_window_that_fits_is_not_enough() -> None:
    """If the bound first rises, the window is the one from which on it stays small."""
    assert 0.9 * 1 <= 1.0 < 0.9**2 * 2
    assert training_window(0.0, 1.0, 0.9, 1.0) == least(0.0, 1.0, 0.9, 1.0) > 30
    assert training_window(0.0, 1.0, 0.9, 0.01) == least(0.0, 1.0, 0.9, 0.01) > 44
    assert training_window(0.0, 1.0, 0.5, 0.5) == 1  # the peak, between 1 and 2, does not fit
    assert training_window(1.229, 29.395, 0.5118, 16.222) == 1
    assert training_window(0.0, 1.0, 0.5, 0.531) == 1  # it does


def test_extreme_scales() -> None:
    """No scale under- or overflows: in logarithms, and with as many bits as cancel."""
    assert training_window(1e-300, 1e300, 0.5, 1e-300) == least(0.0, 1e300, 0.5, 1e-300)
    assert training_window(1e300, 1e-300, 0.5, 1e-300) == least(1e300, 0.0, 0.5, 1e-300)
    with ctx.workprec(100):
        huge = arb(10) ** 6000
    assert training_window(huge, huge, 0.5, 1.0) == pytest.approx(6000 * math.log2(10) + 14, abs=1)
    assert training_window(3.0, 0.0, 0.5, 0.75) == 2
    assert training_window(3.0, 0.0, 0.5, 7.0) == 1
    assert training_window(0.0, 0.0, 0.5, 1e-300) == 1
    assert training_window(1.0, 1.0, 0.0, 1e-9) == 1
    slow = 1 - 2.0**-20
    assert training_window(1.0, 1.0, slow, 1e-6) == pytest.approx(2**20 * 30.8, rel=0.05)


def test_nothing_is_known() -> None:
    """No window where λ ≥ 1, a scale is not finite, or the window is above the cap."""
    assert training_window(1.0, 1.0, 1.0, 0.1) is None
    assert training_window(1.0, 1.0, math.nan, 0.1) is None
    assert training_window(math.inf, 1.0, 0.5, 0.1) is None
    assert training_window(1.0, math.nan, 0.5, 0.1) is None
    assert training_window(1.0, 1.0, 1 - 2.0**-53, 0.1) is None
    k = training_window(1.0, 1.0, 0.9, 1e-3)
    assert k is not None
    assert training_window(1.0, 1.0, 0.9, 1e-3, cap=k) == k <= CAP
    assert training_window(1.0, 1.0, 0.9, 1e-3, cap=k - 1) is None
    assert training_window(1.0, 1.0, 0.0, 1e-3, cap=0) is None
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(RangeError, match="ε"):
            training_window(1.0, 1.0, 0.5, epsilon)
    with pytest.raises(RangeError, match="K_0"):
        training_window(-1.0, 1.0, 0.5, 0.1)


@pytest.mark.parametrize("L", [1.0, 1 + 1e-30, 1.5, 10.0, 1e6])
def test_lambert(L: float) -> None:
    """The iterates end at the root of u − ln u = L above 1, which they approach from above."""
    with ctx.workprec(320):
        u = lambert(arb(L))
        assert u >= 1
        assert u - u.log() - L > -(arb(2) ** -250)
        assert abs(u - u.log() - L) < arb(2) ** -100
