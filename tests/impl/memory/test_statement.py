"""What is stated of other windows: exact bounds, and how often they hold."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch
from draws import normal

from rnnbounds.impl.cells.runs import Runner, truncations
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory import statement
from rnnbounds.impl.memory.exact import Decided, within
from rnnbounds.impl.memory.repeats import overlap
from rnnbounds.impl.memory.statement import (
    draws_needed,
    least_window,
    require_enough,
    share_below,
    stated,
)
from rnnbounds.impl.reading.adapters import load_model

ALPHA = Fraction(1, 100)


def tail(n, m, q):
    """P_q(at most m of n outside), exactly."""
    return sum(math.comb(n, i) * (1 - q) ** i * q ** (n - i) for i in range(m + 1))


@pytest.mark.parametrize(("n", "m"), [(1, 0), (7, 0), (7, 3), (7, 6), (40, 1), (40, 39), (120, 5)])
@pytest.mark.parametrize("alpha", [ALPHA, Fraction(1, 3), Fraction(1, 10**9)])
def test_the_share_is_below_clopper_and_pearsons_by_less_than_its_last_bit(n, m, alpha):
    """The bound is the exact one, rounded down to a float."""
    share = share_below(n, m, alpha)
    assert tail(n, m, share) <= alpha < tail(n, m, share + Fraction(1, 2**52))
    assert Fraction(float(share)) == share


def test_ties_are_met_exactly():
    """The tie pⁿ = α exactly."""
    assert share_below(2, 0, Fraction(1, 4)) in (
        Fraction(1, 2),
        Fraction(1, 2) - Fraction(1, 2**53),
    )
    assert draws_needed(Fraction(1, 2), Fraction(1, 4)) == 2


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_draws_needed_are_the_least(share):
    """One draw fewer is not enough."""
    n = draws_needed(share, ALPHA)
    assert tail(n, 0, share) <= ALPHA < tail(n - 1, 0, share)


def test_too_few_windows_say_how_many_it_takes():
    """The number of windows that it takes, of both halves."""
    with pytest.raises(InputError, match="takes 459 with none beyond ε, so 918 windows in all"):
        require_enough(916, 1, 0.99, 0.99)
    assert require_enough(918, 1, 0.99, 0.99)[1] == 459
    assert require_enough(2, 3, 0.99, None) == (Fraction(1, 300), 568)  # none asked, none refused


def test_the_least_window_is_one_from_which_on_all_are_within():
    """Gaps need not fall with k."""
    gaps = torch.tensor([[9.0, 1.0, 3.0, 1.0, 0.5, 0.0], [9.0, 1.0, 1.0, 1.0, 0.1, 0.0]])
    assert least_window((0, 1, 2, 3, 4, 6), gaps, 1.0) == 3
    assert least_window((0, 1, 2, 3, 4, 6), gaps, 10.0) == 0
    assert least_window((0, 1, 2, 3, 4, 6), gaps, 0.2) is None  # none below the length


A = 0.7


def scalar():
    """h⁺ = A h + x, whose gap at k is Aᵏ|h_{T−k}|, of a normal h_{T−k}."""
    state = {"weight_hh_l0": torch.full((1, 1), A), "weight_ih_l0": torch.ones(1, 1)}
    return {name: part.double() for name, part in state.items()}


@pytest.mark.slow
def test_statements_hold_as_often_as_they_say(monkeypatch):
    """1,000 fresh draws of windows: all shares are true in 1 − α of them, within binomial error."""
    monkeypatch.setattr(statement, "share_below", cache(share_below))
    T, windows, draws, confidence, epsilons = 8, 24, 1000, 0.9, (1.0, 0.3)
    runner, ks = Runner.of(load_model(scalar(), "linear")), tuple(range(T + 1))
    x, alpha = normal(draws * windows, T, 1, seed=0), (1 - Fraction("0.9")) / len(epsilons)
    gaps = truncations(runner, x, ks).gaps.reshape(draws, windows, T + 1)
    inside = {
        (k, eps): within(runner, x, k, eps).inside.reshape(draws, windows)
        for k in ks
        for eps in epsilons
    }
    kept = 0
    for draw in range(draws):
        true = []
        for eps in epsilons:
            k = least_window(ks, gaps[draw, : windows // 2], eps)
            held = None if k is None else inside[k, eps][draw, windows // 2 :]
            seen = None if held is None else Decided(held, ~held)
            line = stated(eps, k, seen, alpha)
            if line.share is not None:
                spread = A**k * math.sqrt(sum(A ** (2 * i) for i in range(T - k)))
                true.append(line.share <= math.erf(eps / spread / math.sqrt(2)))
        kept += all(true)
    deviation = math.sqrt(confidence * (1 - confidence) / draws)
    assert kept / draws >= confidence - 3 * deviation


class TestOverlap:
    def test_sliding_windows_are_told_in_any_order(self):
        series = np.random.default_rng(0).normal(size=(300, 2))
        slid = np.stack([series[i : i + 20] for i in range(0, 280, 7)])
        assert overlap(slid) == 13
        assert overlap(np.random.default_rng(1).permutation(slid)) == 13
        assert overlap(slid[::3]) == 0  # 21 apart
