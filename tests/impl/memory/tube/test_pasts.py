"""Recorded pasts: whichever came before, the truncated run is as near as is certified."""

import pytest
import torch

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.near import near
from rnnbounds.impl.memory.tube.pasts import AfterPasts, end_states, past_rows
from rnnbounds.impl.reading.adapters import load_model

SLACK = 1e-11  # of float64 runs
T, DELTA, START = 8, 2.0**-6, 2.0**-4


def model(cell: str) -> tuple[torch.nn.Module, Runner, torch.Tensor]:
    """A module as torch makes it, and windows (6, T, 1)."""
    torch.manual_seed(0)
    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[cell](1, 3)
    return module, Runner.of(load_model(module)), torch.randn(6, T, 1, dtype=torch.float64)


def after(runner: Runner, s: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """h after x (M, k, d) from s (M, N)."""
    for t in range(x.shape[1]):
        s = runner.step(s[None], x[None, :, t])[0]
    return s[:, -runner.n :]


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
def test_no_past_is_further_than_certified(cell: str) -> None:
    """Of any states near the pasts and any inputs near a window, at every k."""
    _, runner, x = model(cell)
    pasts = end_states(runner, x[2:])
    around = AfterPasts(runner, x[:1], DELTA, START, pasts=pasts)
    rng = torch.Generator().manual_seed(1)
    for k in (1, 3, T):
        moves = torch.rand(64, T, 1, generator=rng, dtype=torch.float64) * 2 - 1
        inputs = (x[:1] + DELTA * moves.sign())[:, T - k :]
        starts = torch.rand(64, runner.states, generator=rng, dtype=torch.float64) * 2 - 1
        full = after(runner, pasts.repeat(16, 1) + START * starts.sign(), inputs)
        gaps = (full - after(runner, 0 * starts, inputs)).norm(dim=1)
        assert (gaps <= float(around.gaps(k).amax()) + SLACK).all()
        exact = AfterPasts(runner, x[:1], 0.0, 0.0, pasts=pasts).gaps(k).flatten()
        ends = x[:1, T - k :].expand(4, -1, -1)
        seen = (after(runner, pasts, ends) - after(runner, 0 * pasts, ends)).norm(dim=1)
        assert exact.tolist() == pytest.approx(seen.tolist(), abs=1e-12)


def test_windows_together_are_windows_alone() -> None:
    """Each past meets each window, whatever else is stepped along."""
    _, runner, x = model("gru")
    pasts = end_states(runner, x[3:])
    both = AfterPasts(runner, x[:2], DELTA, START, pasts=pasts).gaps(2, 5)
    for i in range(2):
        one = AfterPasts(runner, x[i : i + 1], DELTA, START, pasts=pasts).gaps(2, 5)
        assert torch.allclose(both.reshape(2, 3, 2)[:, :, i], one, rtol=1e-9)


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
    """Windows spread over the data; more than there are is refused."""
    module, _, x = model("gru")
    found = measure(module, x.float(), eps=0.1, near=0.0, pasts=3)
    assert found.near is not None
    assert (found.near.pasts, found.near.windows) == (3, 6)
    assert past_rows(3, 6).tolist() == [0, 2, 4]
    for count in (7, -1, 1.5, True):
        with pytest.raises(RangeError, match="that of the windows"):
            measure(module, x.float(), eps=0.1, near=0.0, pasts=count)  # type: ignore[arg-type]
