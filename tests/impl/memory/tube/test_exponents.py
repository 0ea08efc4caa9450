"""Certified exponents: no run of a tube stretches more, nor do two come together more slowly."""

import math

import pytest
import torch

from rnnbounds.impl.memory.local import jacobians
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube import exponents
from rnnbounds.impl.memory.tube.exponents import interval_jacobians, largest_exponents
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.reading.adapters import load_model

T, N, COUNT = 12, 5, 24


def tube(cell: str, delta: float, start: float) -> Around:
    """Around two windows of a random model that contracts in no fixed norm."""
    torch.manual_seed(2)
    module = getattr(torch.nn, cell)(2, N).double()
    with torch.no_grad():
        module.weight_hh_l0 *= 2.0
    x = torch.randn(2, T, 2, dtype=torch.float64)
    return Around(Runner.of(load_model(module)), x, delta, start)


def run(around: Around, at: int, starts: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """‖∂s_T/∂s_0‖₂ of runs near the window `at`, in float64."""
    s, product = starts, torch.eye(around.runner.states, dtype=torch.float64)
    for t in range(T):
        product = jacobians(around.runner, s[None], x[None, :, t]) @ product
        s = around.runner.step(s[None], x[None, :, t])[0]
    return torch.linalg.matrix_norm(product, 2)


@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-3, 0.03])
def test_no_run_stretches_more(cell: str, size: float) -> None:
    """Corners of starts and inputs, points inside, and ascent on the norm itself."""
    around = tube(cell, size, size)
    bounds = largest_exponents(around)
    rng = torch.Generator().manual_seed(5)
    for at, bound in enumerate(bounds.tolist()):
        shape = COUNT, around.runner.states + 2 * T
        moves = torch.rand(*shape, generator=rng, dtype=torch.float64) * 2 - 1
        moves[::2] = moves[::2].sign()
        best = -math.inf
        for _ in range(2):
            with torch.enable_grad():
                moved = moves.clone().requires_grad_()
                starts, inputs = moved.split([around.runner.states, 2 * T], 1)
                x = around.x[at] + size * inputs.reshape(-1, T, 2)
                norms = run(around, at, size * starts, x)
                (slope,) = torch.autograd.grad(norms.sum(), moved)
            best = max(best, float(norms.detach().max()))
            moves = torch.where(slope < 0, -1.0, 1.0).double()
        assert math.log(best) / T <= bound + 1e-12
        if size <= 1e-6:
            assert bound <= math.log(best) / T + 1e-3


def test_two_runs_come_together_as_fast() -> None:
    """The sets are convex: differences stretch no more than Jacobians do."""
    around = tube("GRU", 0.0, 1e-3)
    bounds = largest_exponents(around)
    rng = torch.Generator().manual_seed(6)
    a, b = 1e-3 * (torch.rand(2, 2, N, generator=rng, dtype=torch.float64) * 2 - 1)
    before = (a - b).norm(dim=1)
    for t in range(T):
        a, b = (around.runner.step(s[None], around.x[None, :, t])[0] for s in (a, b))
    assert ((a - b).norm(dim=1) <= before * (T * bounds).exp() * (1 + 1e-9)).all()


@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
def test_jacobians_are_in_their_intervals(cell: str) -> None:
    """Of states and inputs at corners of balls and inside."""
    runner, size = tube(cell, 0.0, 0.0).runner, 0.25
    rng = torch.Generator().manual_seed(7)
    moves = torch.rand(COUNT, runner.states + 2, generator=rng, dtype=torch.float64) * 2 - 1
    moves[::2] = moves[::2].sign()
    s, x = (size * moves).split([runner.states, 2], 1)
    balls = [(torch.zeros(1, part.shape[1]).double(), torch.full((1, part.shape[1]), size).double())
             for part in (s, x)]  # fmt: skip
    middle, radius = interval_jacobians(runner, *balls)
    assert ((jacobians(runner, s[None], x[None]) - middle).abs() <= radius + 1e-12).all()


def test_nothing_is_said_where_it_takes_too_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinite is no bound, and no number is made up."""
    monkeypatch.setattr(exponents, "WORK", 0)
    assert torch.isinf(largest_exponents(tube("GRU", 0.0, 0.0))).all()
