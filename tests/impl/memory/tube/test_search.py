"""The least k of windows: what is found holds, k − 1 was tried, and no run is beyond."""

import math
import threading

import pytest
import torch

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube import search
from rnnbounds.impl.memory.tube.near import _from, affordable, near
from rnnbounds.impl.memory.tube.pasts import AfterPasts, end_states, spread
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.memory.tube.search import Search, halves
from rnnbounds.impl.reading.adapters import load_model

T, DELTA = 8, 2.0**-7
EPS = (0.2, 0.05)


def gru(seed: int = 0) -> tuple[Runner, torch.Tensor]:
    """A module as torch makes it, and windows (6, T, 1) of which the last ones are loud."""
    torch.manual_seed(seed)
    runner = Runner.of(load_model(torch.nn.GRU(1, 3)))
    scale = torch.tensor([0.5, 0.5, 1.0, 1.0, 2.0, 2.0], dtype=torch.float64)
    return runner, torch.randn(6, T, 1, dtype=torch.float64) * scale[:, None, None]


def answered(first: int, last: int, inside: set[int]) -> tuple[int | None, list[int]]:
    """What the search finds, and what it asks about."""
    asking, tried = halves(first, last), []
    k = next(asking)
    while True:
        tried.append(k)
        try:
            k = asking.send(k in inside)
        except StopIteration as end:
            return end.value, tried


@pytest.mark.parametrize("last", [1, 2, 9, 30])
def test_halves(last: int) -> None:
    """From wherever the search begins: the least k of a set that goes on from it."""
    for least in range(1, last + 2):
        for first in (1, 2, last, last + 5):
            found, tried = answered(first, last, {*range(least, last + 1)})
            assert found == (least if least <= last else None)
            assert len(tried) <= 2 * math.log2(last + 1) + 3
            assert len(set(tried)) == len(tried)
            assert all(1 <= k <= last for k in tried)
    assert list(halves(1, 0)) == []


@pytest.mark.parametrize("inside", [{3, 5, 6, 9}, {1, 7, 8, 9}, {9}, {2, 4, 6, 8}])
def test_a_set_with_holes(inside: set[int]) -> None:
    """What is found was inside, and the one below was tried and was not."""
    for first in range(1, 10):
        found, tried = answered(first, 9, inside)
        if found is not None:
            assert found in inside
            assert found in tried
            assert found == 1 or (found - 1 in tried and found - 1 not in inside)


def worst_seen(runner: Runner, x: torch.Tensor, k: int, count: int = 48) -> float:
    """The largest gap of runs within δ of a window (T, 1): at corners, and climbed ones."""
    rng = torch.Generator().manual_seed(k)
    moves = (torch.rand(count, T, 1, generator=rng, dtype=torch.float64) * 2 - 1).sign()
    for _ in range(3):
        moves.requires_grad_()
        inputs = x + DELTA * moves
        ends = []
        for start in (0, T - k):
            s = runner.zero(count)
            for t in range(start, T):
                s = runner.step(s, inputs[None, :, t])
            ends.append(s[0])
        gaps = (ends[0] - ends[1]).norm(dim=1)
        (gradient,) = torch.autograd.grad(gaps.sum(), moves)
        worst = float(gaps.detach().max())
        moves = torch.where(gradient < 0, -1.0, 1.0).to(moves.dtype)
    return worst


def test_every_window_keeps_its_k() -> None:
    """No run near it is further apart; one input less is certified by no tube of that window."""
    runner, x = gru()
    found = near(runner, x, DELTA, EPS)
    for (eps, k), each, shared in zip(found.windows_of, found.each, found.shared, strict=True):
        assert k == shared
        assert k is not None
        assert found.gaps[k] <= eps
        for window, own in zip(x, each, strict=True):
            assert own is not None
            alone = Around(runner, window[None], DELTA)
            assert float(alone.gaps(own)) <= eps * (1 + 1e-9)
            assert own == 1 or float(alone.gaps(own - 1)) > eps * (1 - 1e-9)
            assert worst_seen(runner, window, own) <= eps
            assert worst_seen(runner, window, k) <= found.gaps[k] <= eps


def test_windows_that_have_none() -> None:
    """k is then one of the others alone, and of all windows there is none."""
    runner, x = gru()
    exact = [float(Around(runner, one[None], DELTA).gaps(T - 1)) for one in x]
    eps = sorted(exact)[2] * (1 + 1e-6)
    found = near(runner, x, DELTA, (eps,))
    assert found.windows_of == ((eps, None),)
    (row,) = found.rows
    assert row["certified"]["windows"] == sum(k is not None for k in found.each[0]) >= 3
    assert row["certified"]["k"] == found.shared[0] is not None
    assert found.each[0].count(None) >= 1
    assert [k is not None for k in found.each[0]] == [gap <= eps for gap in exact]


def test_a_gap_that_grows_with_k() -> None:
    """The common k is tried on all windows, and passed over where one of them fails."""
    gaps = {3: [0.1, 0.3, 9.0], 4: [0.1, 0.1, 9.0], 5: [0.1, 0.1, 0.1]}
    assert _from(3, 6, gaps, (3, 2, None), 0.2) == 4
    assert _from(3, 6, gaps, (3, 2, 1), 0.2) == 5
    assert _from(3, 6, gaps, (3, 2, 1), 0.01) == 6  # which is tried next
    assert _from(6, 6, {6: [0.3]}, (5,), 0.2) is None


def test_each_past_counts() -> None:
    """The gap of a window is that after its worst past."""
    runner, x = gru()
    pasts = end_states(runner, x[2:])
    block = Search(runner, x[:2], DELTA, 0.01, pasts)
    told = AfterPasts(runner, x[:2], DELTA, 0.01, pasts=pasts).gaps(4).reshape(4, 2)
    assert block.gap(4) == pytest.approx(float(told.max()))
    assert block.known[4].tolist() == pytest.approx(told.amax(0).tolist())
    assert float(told.amin()) < float(told.amax())


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """One window at a time comes to what all together do."""
    runner, x = gru()
    together = near(runner, x[::2], DELTA, EPS)
    monkeypatch.setattr(search, "HELD", 1)
    done: list[int] = []
    apart = near(runner, x[::2], DELTA, EPS, done=done.append)
    assert done == [1] * 3
    assert (apart.each, apart.windows_of) == (together.each, together.windows_of)


@pytest.mark.slow
def test_workers_do_not_matter() -> None:
    """Two processes come to what one does; what cannot be sent to them is refused."""
    runner, x = gru()
    searches = [Search(runner, x[i : i + 1], DELTA, 0.0) for i in range(3)]
    alone = [*search.solved(searches, EPS, (1, T), 0)]
    assert [*search.solved(searches, EPS, (1, T), 2)] == alone
    unsent = Runner(threading.Lock(), runner.parameters, 3, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="leave out --workers"):
        list(search.solved([Search(unsent, x, 0.0, 0.0)] * 2, (0.1,), (), 2))


def test_windows_are_spread() -> None:
    """From the first one on, evenly; a measurement has as many as its work pays for."""
    assert spread(3, 10).tolist() == [0, 3, 6]
    assert spread(4, 4).tolist() == [0, 1, 2, 3]
    torch.manual_seed(0)
    module, x = torch.nn.GRU(1, 3), torch.randn(6, T, 1)
    runner = Runner.of(load_model(module))
    one = 9 * T * runner.products * 9 * 48 * 3 / 1e9
    found = measure(module, x, eps=0.1, near=DELTA, work=2.5 * one).near
    assert found is not None
    assert affordable(runner, 6, T, 0, 2.5 * one) == found.windows == 2
    exact = near(runner, x[[0, 3]].double(), DELTA, (0.1,))
    assert found.to_json() == exact.to_json()
