"""What holds of LSTM cells and of both kinds of GRU: the step, the box, and the factors in it."""

import math

import pytest
import torch
from flint import arb, arb_mat, ctx
from gated_draws import (
    MAKES,
    corners,
    directions,
    draw,
    generator,
    lstm,
    scalar,
)

from rnnbounds.impl.reading.adapters import load_model

MODULES = (torch.nn.LSTM, torch.nn.LSTMCell, torch.nn.GRU, torch.nn.GRUCell)


def alone(make, cell, i: int):
    """The i-th system of a batch."""
    return make(*(part[i : i + 1] for part in (cell.W, cell.U, cell.b_ih, cell.b_hh)))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", MODULES)
def test_against_torch(kind, bias):
    """Step by step the states of torch's modules, to rounding."""
    torch.manual_seed(0)
    module = kind(3, 5, bias=bias, dtype=torch.float64)
    cell = load_model(module).cell
    x = torch.randn(20, 3, dtype=torch.float64)
    memory, state = "LSTM" in kind.__name__, None
    s = torch.zeros(1, 10 if memory else 5, 1).double()
    for t in range(20):
        s = cell.step(s, x[t][None, :, None])
        state = (
            module(x[t][None], state) if "Cell" in kind.__name__ else module(x[: t + 1, None])[1]
        )
        told = torch.cat([state[1], state[0]], dim=-1) if memory else state
        assert float((s[0, :, 0] - told.flatten()).abs().max().detach()) <= 4e-16


@MAKES
def test_step_in_balls(make):
    """The exact referee agrees with the float step to rounding, over a run."""
    cell = draw(make, 3)
    x, N = directions(cell, 1, generator(3)), cell.box(1.0).shape[1]
    s = torch.zeros(1, N, 1).double()
    with ctx.workprec(200):
        exact, drive = arb_mat(N, 1), arb_mat(x[0].tolist())
        for _ in range(12):
            s, (exact, _) = cell.step(s, x), cell.ball_step(exact, drive)
        assert all(a.rad() < 1e-40 for a in exact.entries())
        away = [abs(a - arb(b)) for a, b in zip(exact.entries(), s[0, :, 0].tolist(), strict=True)]
        assert all(gap < 1e-14 for gap in away)


@MAKES
def test_systems_do_not_depend_on_their_batch(make):
    """Neither the box after a given number of iterates, nor the step of any column."""
    cell = draw(make, 3, systems=8)
    together = cell.box(1.0)
    s, x = corners(together, 5, generator(1)), directions(cell, 5, generator(2))
    moved = cell.step(s, x)
    for i in range(cell.batch):
        one = alone(make, cell, i)
        assert torch.equal(one.box(1.0)[0], together[i])
        told = one.step(s[i : i + 1, :, :1], x[i : i + 1, :, :1])
        assert torch.allclose(told, moved[i : i + 1, :, :1], rtol=0, atol=1e-15)


@MAKES
def test_zero_weights(make):
    """Without weights the state rests at zero, and half of it is kept at each step."""
    found = scalar(make).comparison(1.0)
    assert not found.box.any()
    assert not found.drive.any()
    assert found.norm("infinity").lam == 0.5


@MAKES
@pytest.mark.parametrize("b", [1e300, -1e300, 700.0, -700.0])
def test_saturated_gates(make, b):
    """A gate that copies for ever never certifies; one that is shut, or overwrites, does."""
    parts = {"W_f": 0.1, "W_z": 0.1, "U_z": 1.0, "b_f": b} if make is lstm else (
        {"W_n": 0.3, "U_n": 1.0, "b_z": b}
    )  # fmt: skip
    cell = scalar(make, **parts)
    norm = cell.comparison(1.0).norm("perron")
    assert (norm.lam < 1) == (b < 0)
    assert (norm.window(1e-3) is None) == (b > 0)
    one = torch.ones(1, 2 if make is lstm else 1, 1).double()
    assert math.isfinite(float(cell.step(0 * one, one[:, :1]).sum()))


@MAKES
@pytest.mark.parametrize("size", [1e10, 1e300])
def test_huge_weights(make, size):
    """Weights beyond all measure are not certified, and nothing becomes NaN."""
    found = draw(make, 3, scale=size).comparison(1.0)
    for name in ("spectral", "infinity", "perron", *(["comparison"] if make is lstm else [])):
        norm = found.norm(name)
        assert norm.lam >= 1
        assert norm.window(1.0) is None
        assert not math.isnan(norm.lam + norm.drive + norm.equivalence)
