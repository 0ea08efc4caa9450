import math
from fractions import Fraction

import pytest

from rnnbounds.impl.norms.window import least_window


def by_hand(scale: float, lam: float, epsilon: float) -> int:
    """The definition, in rationals."""
    k, gap = 0, Fraction(scale) / (1 - Fraction(lam))
    while gap > Fraction(epsilon):
        k, gap = k + 1, gap * Fraction(lam)
    return k


@pytest.mark.parametrize("lam", [5e-324, 1e-3, 0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 7.3])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 0.3, 4.0, 1e9])
def test_is_the_least(scale, lam, epsilon):
    """The closed form, corrected in balls, is the least k of the definition."""
    assert least_window(scale, lam, epsilon) == by_hand(scale, lam, epsilon)


@pytest.mark.parametrize("k", [1, 5, 40, 300])
def test_ties(k):
    """An ε that is reached exactly counts; one unit in the last place below, it does not."""
    epsilon = float(2 * Fraction(1, 2) ** k)
    assert least_window(1.0, 0.5, epsilon) == k
    assert least_window(1.0, 0.5, math.nextafter(epsilon, 0)) == k + 1


def test_exact_long_tie():
    """λ = 1 − 2⁻⁵²: (1 − λ)ε and λ·scale tie with all their bits."""
    lam = 1 - 2.0**-52
    scale, epsilon = 2.0**-40, math.ldexp(lam, 12)
    assert least_window(scale, lam, epsilon) == 1
    assert least_window(scale, lam, math.nextafter(epsilon, 0)) == 2


def test_no_memory():
    """Without drive nothing is remembered; with λ = 0 one input at most."""
    assert least_window(0.0, 0.9, 1e-9) == 0
    assert least_window(1.0, 0.0, 0.5) == 1
    assert least_window(1.0, 0.0, 1.0) == 0


def test_extremes():
    """λ next to 1, huge scales, subnormal ε: the window is long but right."""
    lam = math.nextafter(1, 0)
    k = least_window(1.0, lam, 1e-6)
    assert k is not None
    assert math.isclose(k, (math.log(1e6) + math.log(2.0**53)) * 2.0**53, rel_tol=1e-9)
    assert least_window(1e300, 1 - 1e-9, 5e-324) is not None


@pytest.mark.parametrize("scale", [math.inf, math.nan, -1.0])
@pytest.mark.parametrize("lam", [0.5])
def test_unknown_scale(scale, lam):
    """A scale that is no number ≥ 0 gives no window."""
    assert least_window(scale, lam, 1e-3) is None


@pytest.mark.parametrize("lam", [1.0, 2.0, -0.5, math.nan, math.inf])
def test_unknown_factor(lam):
    """λ outside [0, 1) gives no window."""
    assert least_window(1.0, lam, 1e-3) is None


@pytest.mark.parametrize("lam", [1e-3, 0.5, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("radius", [0.0, 1e-3, 1.0, 7.3, 1e300, math.inf])
@pytest.mark.parametrize("scale", [0.0, 0.3, 1e9, math.inf])
def test_radius(lam, radius, scale):
    """A bound on the state that needs no contraction takes the place of a larger scale/(1 − λ)."""
    found = least_window(scale, lam, 0.25, radius)
    if math.isinf(min(scale, radius)):
        assert found is None
        return
    start = Fraction(scale) / (1 - Fraction(lam)) if scale < math.inf else Fraction(radius)
    start = start if math.isinf(radius) else min(start, Fraction(radius))
    if lam < 0.99:
        assert start * Fraction(lam) ** found <= Fraction(1, 4)
        assert found == 0 or start * Fraction(lam) ** (found - 1) > Fraction(1, 4)
    assert found <= (least_window(scale, lam, 0.25) if scale < math.inf else found)


def test_radius_at_zero():
    """λ = 0 forgets in one step; NaN tells nothing."""
    assert least_window(1.0, 0.0, 0.5, 0.4) == 0
    assert least_window(1.0, 0.0, 0.5, 0.6) == 1
    for pair in ((math.nan, 1.0), (1.0, math.nan), (1.0, -1.0)):
        assert least_window(pair[0], 0.5, 0.1, pair[1]) is None
