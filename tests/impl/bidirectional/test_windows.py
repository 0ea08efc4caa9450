"""The window of a model in both directions: its bound, and the search for a short one."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.bidirectional.windows import (
    LONGEST,
    Around,
    Fading,
    decaying_sum,
    gap,
    least_window,
)

FACTORS = st.sampled_from((0.0, 0.25, 0.5, 0.75, 0.875))
SIZES = st.sampled_from((0.0, 0.5, 1.0, 3.0))
FADINGS = st.builds(Fading, FACTORS, SIZES, SIZES, FACTORS)
LAYERS = st.lists(st.tuples(FADINGS, FADINGS), min_size=1, max_size=3)


def by_loops(layers, window):
    """The recursion of the module's docstring, one number after another."""
    W, e = sum(window) + 1, None
    for forward, reverse in layers:
        sides = []
        for one, back in ((forward, False), (reverse, True)):
            errors = e if e is None or not back else e[::-1]
            gathered, side = 0.0, []
            for m in range(W):
                side.append(one.start * one.lam ** (m + 1))
                if errors is not None:
                    gathered = one.push_lam * gathered + one.push * errors[m]
                    side[-1] += gathered
            sides.append(side[::-1] if back else side)
        e = [math.hypot(*pair) for pair in zip(*sides, strict=True)]
    return e[window.past]


@given(LAYERS, st.integers(0, 6), st.integers(0, 6))
def test_gap_is_the_recursion(layers, past, future):
    """At least the number that plain loops give, and no more than rounding above it."""
    window = Around(past, future)
    expected = by_loops(layers, window)
    found = gap(layers, window)
    assert expected * (1 - 1e-12) <= found <= expected * (1 + 1e-12) + 1e-290


@given(LAYERS, st.sampled_from((0.5, 0.1, 1e-3)))
def test_least_window_is_within_epsilon(layers, epsilon):
    """What is found is within ε, and symmetric windows half as long are not."""
    window = least_window(layers, epsilon)
    if window is None:
        return
    assert gap(layers, window) <= epsilon
    shorter = max(window) // 2 - 1
    assert shorter < 0 or gap(layers, Around(shorter, shorter)) > epsilon


def test_one_layer_is_exact():
    """Scalar dyadic cells: √((½^{k₁+1})² + 0) ≤ 2⁻⁴ from k₁ = 3 on, whatever the future."""
    halves, none = Fading(0.5, 1.0, 0.0, 0.0), Fading(0.0, 0.0, 0.0, 0.0)
    assert least_window([(halves, none)], 2.0**-4) == Around(3, 0)
    assert least_window([(none, halves)], 2.0**-4) == Around(0, 3)
    assert gap([(halves, none)], Around(3, 0)) == 2.0**-4


def test_no_window():
    """A cell that keeps everything, and one of which nothing is known, have none."""
    for kept in (Fading(1.0, 1.0, 1.0, 1.0), Fading(0.5, math.inf, 1.0, 0.5)):
        assert least_window([(kept, kept)], 0.1) is None
    assert LONGEST == 2**17


@given(st.lists(SIZES, min_size=1, max_size=20), FACTORS)
def test_decaying_sum(values, lam):
    """Σ λ^{s−j} x_j, which is exact for dyadic numbers."""
    total, expected = 0.0, []
    for value in values:
        total = lam * total + value
        expected.append(total)
    found = decaying_sum(torch.tensor(values, dtype=torch.float64), lam)
    assert all(a <= b <= a * (1 + 1e-14) for a, b in zip(expected, found.tolist(), strict=True))
