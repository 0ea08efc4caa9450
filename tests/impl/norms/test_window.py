"""The least window is that of the definition, in rationals, at ties and at extremes."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.norms.norm_data import least_window

SIZES = st.sampled_from([0.0, 5e-324, 1e-3, 0.25, 1.0, 7.3, 1e9, 1e300]) | st.floats(0.0, 100.0)


@given(
    scale=SIZES | st.just(math.inf),
    radius=SIZES | st.just(math.inf),
    lam=st.sampled_from([0.0, 5e-324, 0.25, 0.5, 0.75]) | st.floats(0.0, 0.95),
    epsilon=st.sampled_from([1e-6, 0.25, 4.0, 1e9]) | st.floats(1e-9, 10.0),
)
def test_is_the_least(scale: float, radius: float, lam: float, epsilon: float) -> None:
    """min(scale/(1 − λ), radius) λᵏ ≤ ε for this k, and for none before it."""
    found = least_window(scale, lam, epsilon, radius)
    if min(scale, radius) == math.inf:
        assert found is None
        return
    starts = [] if scale == math.inf else [Fraction(scale) / (1 - Fraction(lam))]
    start = min([*starts, *([] if radius == math.inf else [Fraction(radius)])])
    assert found is not None
    if scale == math.inf and lam == 0:
        assert found in (0, 1)
    elif found < 200:  # powers of longer windows are long, too
        assert start * Fraction(lam) ** found <= Fraction(epsilon)
        assert found == 0 or start * Fraction(lam) ** (found - 1) > Fraction(epsilon)


@pytest.mark.parametrize("k", [1, 5, 40, 300])
def test_ties(k: int) -> None:
    """An ε that is reached exactly counts; one unit in the last place below, it does not."""
    epsilon = float(2 * Fraction(1, 2) ** k)
    assert least_window(1.0, 0.5, epsilon) == k
    assert least_window(1.0, 0.5, math.nextafter(epsilon, 0)) == k + 1
    lam = 1 - 2.0**-52  # (1 − λ)ε and λ·scale tie with all their bits
    scale, epsilon = 2.0**-40, math.ldexp(lam, 12)
    assert least_window(scale, lam, epsilon) == 1
    assert least_window(scale, lam, math.nextafter(epsilon, 0)) == 2


@pytest.mark.parametrize("lam", [0.5, 1.0, 2.0, -0.5, math.nan, math.inf])
@pytest.mark.parametrize("scale", [1.0, math.inf, math.nan, -1.0])
def test_what_is_no_bound(scale: float, lam: float) -> None:
    """A scale or a radius that is no number ≥ 0, and λ outside of [0, 1), give no window."""
    known = (scale, lam) == (1.0, 0.5)
    assert (least_window(scale, lam, 1e-3) is not None) == known
    assert least_window(1.0, lam, 1e-3, math.nan) is None
    assert least_window(math.nan, lam, 1e-3, 1.0) is None
    assert least_window(1.0, lam, 1e-3, -1.0) is None
