"""What is stated of other windows: exact bounds, how often they hold, windows that share inputs."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch
from draws import normal

from rnnbounds.impl.cells.runs import Runner, truncations
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory import repeats as repeats_module
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
from rnnbounds.impl.reading.data.sequences import read_data

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


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_draws_needed_are_the_least(share):
    """One draw fewer is not enough; and the tie pⁿ = α is met exactly."""
    n = draws_needed(share, ALPHA)
    assert tail(n, 0, share) <= ALPHA < tail(n - 1, 0, share)
    assert draws_needed(Fraction(1, 2), Fraction(1, 4)) == 2
    assert share_below(2, 0, Fraction(1, 4)) in (
        Fraction(1, 2), Fraction(1, 2) - Fraction(1, 2**53)
    )  # fmt: skip


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
        (k, eps): within(runner, x, [(k, eps)])[0].inside.reshape(draws, windows)
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


def test_overlaps_of_sliding_windows_are_told_in_any_order():
    """Steps of 7 of windows of 20 share 13 inputs, those of 21 none."""
    series = np.random.default_rng(0).normal(size=(300, 2))
    slid = np.stack([series[i : i + 20] for i in range(0, 280, 7)])
    assert overlap(slid) == overlap(np.random.default_rng(1).permutation(slid)) == 13
    assert overlap(slid[::3]) == 0


RNG = np.random.default_rng


def repeats(x, first):
    """What is found of windows (N, each, L, d)."""
    N, each, L, d = x.shape
    return repeats_module.repeats(read_data(x.reshape(N, each * L, d)).windows(L), first)


def cut(series, length, starts):
    """Windows (M, 1, length, 1)."""
    return np.stack([series[i : i + length] for i in starts])[:, None, :, None]


@pytest.mark.parametrize(("stride", "kept"), [(1, 2**21), (7, 2**21), (12, 2**21), (7, 2**9)])
def test_sliding_windows_in_any_order(monkeypatch, stride, kept):
    """Of thousands, the neighbour of one is hardly among the first few."""
    monkeypatch.setattr(repeats_module, "RUNS", kept)
    monkeypatch.setattr(repeats_module, "BLOCK", 2**12)
    slid = cut(RNG(0).normal(size=5000 * stride + 16), 16, range(0, 5000 * stride, stride))
    told = repeats(RNG(1).permutation(slid), 2500)
    assert "windows share runs of 4 inputs with others" in told


def coins(values):
    """Fifty windows of 64 numbers of so many values: two fall alike once in 2⁶⁴ throws."""
    return RNG(0).integers(values, size=(50, 1, 64, 1)).astype(float)


SOME, OTHERS = (RNG(seed).normal(size=(50, 1, 16, 2)) for seed in (0, 1))
OFFSETS = np.unique(RNG(1).integers(3000, size=300))
REPEATED = {  # windows, of which those from the number on are held out, and what is told of them
    "random offsets": (cut(RNG(0).normal(size=3064), 64, OFFSETS), 150, "share runs"),
    "one alone": (np.repeat(SOME[:1], 100, axis=0), 50, "50 of the 50 windows held out"),
    "another order": (np.concatenate([SOME, SOME[::-1]]), 50, "50 of the 50"),
    "one of many": (np.concatenate([SOME, OTHERS[1:], SOME[:1]]), 50, "1 of the 50"),
    "coins": (np.concatenate([coins(2)] * 2), 50, "50 of the 50"),
    "three values": (np.concatenate([coins(3)] * 2), 50, "50 of the 50"),
}


@pytest.mark.parametrize("case", REPEATED)
def test_windows_that_come_again(case):
    """At offsets of a series, hardly any of which is another's neighbour by one number of inputs;
    all and one that are held out again; of few values, where it is no chance."""
    windows, first, told = REPEATED[case]
    assert told in repeats(windows, first)


@pytest.mark.parametrize("values", [1, 2, 5, 10**9])
@pytest.mark.parametrize("length", [2, 4, 16, 64])
def test_independent_draws_are_no_repeats(values, length):
    """Of few values many agree by chance; silence is shared by all."""
    x = RNG(0).integers(values, size=(300, 2, length, 1)).astype(float)
    x[:, :, : length // 2] *= RNG(1).integers(2, size=(300, 1, 1, 1))  # padded with zeros
    assert repeats(x, 300) is None


def test_slow_walks_and_silence_are_no_repeats():
    """Inputs that hardly move, and windows of nothing but zeros."""
    x = np.round(RNG(0).normal(size=(400, 1, 32, 1)).cumsum(2) * 3) / 3
    assert repeats(x, 200) is None
    x[RNG(2).random(400) < 0.6] = 0.0
    assert repeats(x, 200) is None
