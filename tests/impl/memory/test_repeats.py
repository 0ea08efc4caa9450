"""Windows that share inputs are told, in any order; those of independent draws are not."""

import numpy as np
import pytest

from rnnbounds.impl.memory import repeats as module
from rnnbounds.impl.reading.data.sequences import read_data

RNG = np.random.default_rng


def repeats(x, first):
    """What is found of windows (N, each, L, d)."""
    N, each, L, d = x.shape
    return module.repeats(read_data(x.reshape(N, each * L, d)).windows(L), first)


def cut(series, length, starts):
    """Windows (M, 1, length, 1)."""
    return np.stack([series[i : i + length] for i in starts])[:, None, :, None]


@pytest.mark.parametrize(("stride", "kept"), [(1, 2**21), (7, 2**21), (12, 2**21), (7, 2**9)])
def test_sliding_windows_in_any_order(monkeypatch, stride, kept):
    """Of thousands, the neighbour of one is hardly among the first few."""
    monkeypatch.setattr(module, "RUNS", kept)
    monkeypatch.setattr(module, "BLOCK", 2**12)
    slid = cut(RNG(0).normal(size=5000 * stride + 16), 16, range(0, 5000 * stride, stride))
    told = repeats(RNG(1).permutation(slid), 2500)
    assert "windows share runs of 4 inputs with others" in told


def test_windows_at_random_offsets_of_a_series():
    """Hardly any is another's neighbour by one number of inputs."""
    starts = RNG(1).integers(3000, size=300)
    assert "share runs" in repeats(cut(RNG(0).normal(size=3064), 64, np.unique(starts)), 150)


def test_windows_that_are_held_out_again():
    """One alone, all in another order, one of many."""
    one = RNG(0).normal(size=(1, 1, 16, 2))
    assert repeats(np.repeat(one, 100, axis=0), 50).startswith("50 of the 50 windows held out")
    some = RNG(0).normal(size=(50, 1, 16, 2))
    assert repeats(np.concatenate([some, some[::-1]]), 50).startswith("50 of the 50")
    other = RNG(1).normal(size=(49, 1, 16, 2))
    assert repeats(np.concatenate([some, other, some[:1]]), 50).startswith("1 of the 50")


@pytest.mark.parametrize("values", [2, 3])
def test_windows_of_few_values_are_told_where_it_is_no_chance(values):
    """64 coins fall alike once in 2⁶⁴ throws."""
    some = RNG(0).integers(values, size=(50, 1, 64, 1)).astype(float)
    assert repeats(np.concatenate([some, some]), 50).startswith("50 of the 50")


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
