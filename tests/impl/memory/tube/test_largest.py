"""The largest balls of starts that are forgotten: attacked, and as large as is certified."""

import pytest
import torch

from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.largest import Balls, largest_balls, parts
from rnnbounds.impl.reading.adapters import load_model

T, N, EPS = 12, 3, 0.05


def model(cell: str) -> tuple[Runner, torch.Tensor]:
    """A random model that forgets on two random windows."""
    torch.manual_seed(1)
    module = getattr(torch.nn, cell)(1, N).double()
    with torch.no_grad():
        module.weight_hh_l0 *= 1.5
    return Runner.of(load_model(module)), torch.randn(2, T, 1, dtype=torch.float64)


@pytest.mark.slow
def test_two_runs_from_a_ball_end_within_epsilon() -> None:
    """Starts at corners and inside, and those that ascent on the gap comes to."""
    for cell, names in (("GRU", ["state"]), ("LSTM", ["state", "c", "h"])):
        runner, x = model(cell)
        found = largest_balls(runner, x, 0.0, (EPS,))
        assert [ball.part for ball in found] == names
        for ball in found:
            assert ball.radius > 0.01
            for window in x:
                assert attacked(runner, window, ball.radius, parts(runner)[ball.part]) <= EPS


def test_halves_of_other_states_are_no_cells() -> None:
    """A stack of two layers of one size has as many entries of both, and none of them is c."""
    torch.manual_seed(1)
    for module, names in (
        (torch.nn.GRU(1, N, num_layers=2), ["state"]),
        (torch.nn.LSTM(1, N, proj_size=2), ["state", "c", "h"]),
    ):
        found = parts(Runner.of(load_model(module)))
        assert [*found] == names
        assert found.get("c", slice(0, N)) == slice(0, N)


def attacked(runner: Runner, window: torch.Tensor, radius: float, units: slice) -> float:
    """The largest gap that is found between two runs from the ball."""
    mask = torch.zeros(runner.states, dtype=torch.float64)
    mask[units] = radius
    rng = torch.Generator().manual_seed(4)
    moves = torch.rand(2, 64, runner.states, generator=rng, dtype=torch.float64) * 2 - 1
    moves[:, ::2] = moves[:, ::2].sign()
    best = 0.0
    for _ in range(4):
        with torch.enable_grad():
            moved = moves.clone().requires_grad_()
            s = moved * mask
            for row in window:
                s = runner.step(s, row.expand(64, -1)[None])
            gaps = (s[0] - s[1])[:, -runner.n :].norm(dim=1)
            (slope,) = torch.autograd.grad(gaps.sum(), moved)
        best = max(best, float(gaps.detach().max()))
        moves = torch.where(slope < 0, -1.0, 1.0).double()
    return best


def test_a_ball_is_largest_among_those_tried() -> None:
    """A larger ε has no smaller ball, and the gap is that of the worst window."""
    runner, x = model("GRU")
    every = slice(0, N)
    ball = Balls(runner, x, 0.0, every)
    low, high = ball.largest(1e-3), ball.largest(EPS)
    assert 0 < low <= high
    assert ball.largest(0.0) == 0.0
    each = [Balls(runner, window[None], 0.0, every).gap(-20) for window in x]
    assert min(each) < max(each) <= ball.gap(-20) * (1 + 1e-9)
