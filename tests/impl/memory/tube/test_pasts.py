"""Recorded pasts: whichever came before, the truncated run is as near as is certified."""

import numpy as np
import pytest
import torch

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube import pasts as of_pasts
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.near import near
from rnnbounds.impl.memory.tube.pasts import AfterPasts, end_states, hull, past_inputs
from rnnbounds.impl.memory.tube.runs import Stage
from rnnbounds.impl.memory.tube.zonotopes import Zonotope
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.data.recordings import Data

Size = float | torch.Tensor

SLACK = 1e-11  # of float64 runs
T, DELTA, START = 8, 2.0**-6, 2.0**-4


def model(cell: str) -> tuple[torch.nn.Module, Runner, torch.Tensor]:
    """A module as torch makes it, and windows (6, T, 1)."""
    torch.manual_seed(0)
    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[cell](1, 3)
    return module, Runner.of(load_model(module)), torch.randn(6, T, 1, dtype=torch.float64)


def tried(runner: Runner, x: torch.Tensor, pasts: torch.Tensor, radius: Size) -> torch.Tensor:
    """Gaps (64 + P, T + 1) of states near the pasts and inputs near one window x (1, T, d): corners
    and the inside, and of pasts and inputs as they are."""
    rng, P = torch.Generator().manual_seed(1), len(pasts)

    def share(*shape: int) -> torch.Tensor:
        draws = torch.rand(64, *shape, generator=rng, dtype=torch.float64) * 2 - 1
        draws[::2] = draws[::2].sign()
        return torch.cat([draws, torch.zeros(P, *shape, dtype=torch.float64)])

    inputs = x + DELTA * share(*x.shape[1:])
    chosen = torch.cat([torch.arange(64) % P, torch.arange(P)])
    return apart(runner, pasts[chosen] + radius * share(runner.states), inputs)


def apart(runner: Runner, s: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    """‖h_t − h_t^0‖₂ of runs from s (M, N) and from 0, (M, T + 1)."""
    s, zero, n = s[None], runner.zero(len(s)), runner.n
    found = [(s - zero)[0, :, -n:].norm(dim=1)]
    for t in range(inputs.shape[1]):
        s, zero = runner.step(s, inputs[None, :, t]), runner.step(zero, inputs[None, :, t])
        found.append((s - zero)[0, :, -n:].norm(dim=1))
    return torch.stack(found, dim=1)


def climbed(runner: Runner, x: torch.Tensor, past: torch.Tensor, k: int) -> torch.Tensor:
    """The gap at k of the corner of starts and inputs that ascent on it comes to."""
    start, moves = torch.ones(1, len(past)).double(), torch.ones_like(x)
    best = torch.tensor(0.0)
    for _ in range(4):
        start.requires_grad_(), moves.requires_grad_()
        gap = apart(runner, past + START * start, x + DELTA * moves)[0, k]
        best = torch.maximum(best, gap.detach())
        of_start, of_moves = torch.autograd.grad(gap, (start, moves))
        start, moves = of_start.sign(), of_moves.sign()
    return best


@pytest.mark.parametrize(("share", "kept"), [(0.0, 24), (0.125, 1), (4.0, 2), (1e3, 24)])
@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
def test_no_past_is_further_than_certified(
    cell: str, share: float, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any states near the pasts and any inputs near a window, at every time from k on, however
    early the enclosures are merged and however few generators are kept."""
    monkeypatch.setattr(of_pasts, "SHARE", share)
    monkeypatch.setattr(of_pasts, "EVERY", 1)
    monkeypatch.setattr(AfterPasts, "own", kept)
    _, runner, x = model(cell)
    pasts = end_states(runner, x[2:])
    certified = AfterPasts(runner, x[:1], DELTA, START, pasts=pasts).gaps(*range(T + 1))[:, 0]
    seen = tried(runner, x[:1], pasts, START).amax(0)
    assert (seen <= certified + SLACK).all()
    for k in (1, 3, T):
        for past in pasts:
            assert climbed(runner, x[:1], past, k) <= certified[k] + SLACK
    assert (certified[1:] <= certified[:-1]).all()


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
def test_the_run_from_zero_is_as_near_as_stated(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every entry, also where it is known no more which input moved it."""
    monkeypatch.setattr(AfterPasts, "own", 1)
    _, runner, x = model(cell)
    found = AfterPasts(runner, x[:1], DELTA, START, pasts=end_states(runner, x[2:])).widths[0]
    signs = torch.tensor([[1.0], [-1.0]]).double().expand(2, T)[..., None]
    seen, there = runner.zero(2), runner.zero(1)
    for t in range(T):
        seen, there = (
            runner.step(seen, (x[:1, t] + DELTA * signs[:, t])[None]),
            runner.step(there, x[None, :1, t]),
        )
        moved = (seen - there)[0].abs().amax(0)
        assert (moved <= found[t + 1] + SLACK).all()
        assert float(moved.amax()) >= 0.5 * float(found[t + 1].amax())


def test_around_points_they_are_what_is_seen() -> None:
    """Of the pasts and the window alone, each of its own entries."""
    _, runner, x = model("gru")
    pasts = end_states(runner, x[2:])
    exact = AfterPasts(runner, x[:1], 0.0, 0.0, pasts=pasts).gaps(*range(T + 1))[:, 0]
    seen = apart(runner, pasts, x[:1].expand(4, -1, -1)).amax(0)
    later = seen.flip(0).cummax(0).values.flip(0)
    assert exact.tolist() == pytest.approx(later.tolist(), abs=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_one_set_holds_all_that_are_merged(turned: bool) -> None:
    """Points of sets that lie near one another, in any direction."""
    rng = torch.Generator().manual_seed(2)

    def draw(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=rng, dtype=torch.float64) * 2 - 1

    s = draw(5, 1) * (draw(3) if turned else torch.ones(3)) + 0.01 * draw(5, 3)
    sets = Zonotope(0.1 + 0.01 * draw(5, 3, 4), 0.01 * draw(5, 3).abs())
    centre, one = hull(s, sets)
    a, b = draw(5, 200, 4).sign(), draw(5, 200, 3)
    points = s[:, None] + a @ sets.generators.mT + b * sets.box[:, None]
    # What is left of a point after the generators that are shared is in the box of the others.
    left = points - centre - a @ one.generators[..., :4].mT
    own = left @ torch.linalg.inv(one.generators[0, :, 4:]).mT
    assert float(own.abs().amax()) <= 1 + 1e-9
    assert float(own.abs().amax()) >= 0.5


@pytest.mark.parametrize(("shared", "apart"), [(1, 0.0), (0, 2 * 3**0.5)])
def test_only_inputs_are_common_to_both_runs(shared: int, apart: float) -> None:
    """What else moves a run moves no other, where both have as many generators."""
    _, runner, x = model("rnn")
    s, wide = torch.zeros(1, 2, 3).double(), torch.full((1, 2, 3), 9.0).double()
    sets = Zonotope(torch.ones(2, 3, 1).double(), s[0])
    bundle = of_pasts.Bundle(Stage(s, sets, Ends(-wide, wide)), torch.tensor([0, 0]), shared)
    found = AfterPasts(runner, x[:1], DELTA, START, pasts=s[0, :1])._apart(bundle)
    assert found.tolist() == pytest.approx([apart], abs=1e-9)


def test_windows_together_are_windows_alone() -> None:
    """Each past meets each window, whatever else is stepped along."""
    _, runner, x = model("gru")
    pasts = end_states(runner, x[3:])
    both = AfterPasts(runner, x[:2], DELTA, START, pasts=pasts).gaps(2, 5)
    for i in range(2):
        one = AfterPasts(runner, x[i : i + 1], DELTA, START, pasts=pasts).gaps(2, 5)
        assert torch.allclose(both[:, i : i + 1], one, rtol=1e-9)


def test_a_run_may_be_as_long_as_its_window() -> None:
    """k = T is no truncation of a window, but is one of a stream."""
    _, runner, x = model("gru")
    pasts = end_states(runner, x[1:])
    worst = float(AfterPasts(runner, x[:1], 0.0, 0.0, pasts=pasts).gaps(T).amax())
    found = near(runner, x[:1], 0.0, (worst * (1 + 1e-6), worst / 2), pasts=pasts)
    assert found.windows_of[0][1] == T
    assert found.windows_of[1][1] is None
    assert found.to_json()["pasts"] == 5


def test_pasts_of_a_measurement() -> None:
    """Stretches spread over the data; more than there are is refused."""
    module, _, x = model("gru")
    found = measure(module, x.float(), eps=0.1, near=0.0, pasts=3)
    assert found.near is not None
    assert (found.near.pasts, found.near.windows, found.near.relative) == (3, 6, False)
    recorded = measure(module, x.float().reshape(-1, 1), eps=0.1, near=0.0, states="recorded")
    assert recorded.near is not None
    assert (recorded.near.pasts, recorded.near.states, recorded.near.relative) == (20, 1e-3, True)
    data = Data(np.arange(8.0).reshape(2, 4, 1), False, "x")
    assert past_inputs(data, 3, 3)[:, 0, 0].tolist() == [0, 1, 4]
    assert past_inputs(data, 4, 3)[:, 0, 0].tolist() == [0, 1, 4, 5]
    for count in (7, -1, 1.5, True):
        with pytest.raises(RangeError, match="a whole number from 0 to 6"):
            measure(module, x.float(), eps=0.1, near=0.0, pasts=count)  # type: ignore[arg-type]
    with pytest.raises(RangeError, match="or `recorded`"):
        measure(module, x.float(), eps=0.1, near=0.0, states="zero")


def test_states_are_in_the_range_of_their_entry() -> None:
    """Each entry has the radius that is stated of it, and no less is certified."""
    _, runner, x = model("lstm")
    pasts = end_states(runner, x[2:])
    found = near(runner, x[:1], DELTA, (1.0,), states=0.5, pasts=pasts, relative=True, ks=range(T))
    size = (pasts.amax(0) - pasts.amin(0)) / 2
    seen = tried(runner, x[:1], pasts, size).amax(0)
    assert all(float(seen[k]) <= gap + SLACK for k, gap in found.gaps.items() if k < T)
