"""Runs in full and truncated: against one by one in another way, and in balls."""

import numpy as np
import pytest
import torch
from cell_systems import weights_of
from draws import normal
from flint import ctx
from program_draws import SAMPLES

from rnnbounds.impl.cells.runs import Runner, truncations
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.memory import exact
from rnnbounds.impl.memory.exact import enclosed, near, within
from rnnbounds.impl.memory.local import local
from rnnbounds.impl.reading.adapters import load_model

TORCH = ("linear", "rnn-tanh", "rnn-relu", "rnn-gelu", "rnn-softplus", "lstm", "gru", "gru-cho")
NAMES = (*TORCH, "lstm-projected", "stacked-gru", *SAMPLES)


def model(name):
    """A cell of each kind, in float64."""
    layers = 2 if name.startswith("stacked-") else 1
    held = weights_of(name, n=3, d=2, layers=layers, scale=1.0)
    return load_model({role: part.double() for role, part in held.items()}, name)


def linear(W, d=1):
    """h⁺ = W h + (x, …), of a matrix of float64."""
    W = torch.tensor(W, dtype=torch.float64)
    return load_model({"weight_hh_l0": W, "weight_ih_l0": torch.ones(len(W), d).double()}, "linear")


def windows(M=3, T=7, d=2, seed=1):
    """Normal inputs."""
    return normal(M, T, d, seed=seed)


@pytest.mark.parametrize("name", NAMES)
def test_truncated_runs_are_those_that_ship(name):
    """Gaps are those of the feed-forward form, in float64."""
    loaded, x = model(name), windows()
    runner, ks = Runner.of(loaded), (0, 1, 4, 7)
    told = truncations(runner, x, ks)
    full, *cut = (
        FeedForward(loaded.weights, cell=loaded.name, k=k).double()(x)[:, -1] for k in (7, *ks)
    )
    expected = torch.stack([(one - full).norm(dim=1) for one in cut], dim=1)
    assert torch.allclose(told.gaps, expected, rtol=1e-9, atol=1e-12)
    assert (told.gaps[:, 3] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_bounds_on_rounding_enclose_the_run_in_balls(name):
    """Running error bounds, entry by entry."""
    runner, x = Runner.of(model(name)), windows()
    told = near(runner, x)
    assert told.error.max() < 1e-9
    with ctx.workprec(200):
        for window, outputs in enumerate(zip(*enclosed(runner, x).units, strict=True)):
            for unit, ball in enumerate(outputs):
                value, error = (float(part[0, window, unit]) for part in (told.value, told.error))
                assert abs(ball - value) <= error


def test_what_overflows_is_within_nothing():
    """Infinite and NaN are below no ε; 10³⁰⁸ + 10³⁰⁸ − 10³⁰⁸ − 10³⁰⁸ = 0, in whatever order: tanh
    of it is not 1."""
    x = torch.ones(2, 4, 1, dtype=torch.float64)
    assert not within(Runner.of(linear([[1e300]])), x, [(1, 1e300)])[0].inside.any()
    U = torch.tensor([[1e308, 1e308, -1e308, -1e308]], dtype=torch.float64)
    state = {"weight_hh_l0": torch.zeros(1, 1).double(), "weight_ih_l0": U}
    told = near(Runner.of(load_model(state, "rnn-tanh")), torch.ones(1, 1, 4).double())
    assert not bool((told.value.abs() > told.error).any())


@pytest.mark.parametrize("size", [2.0**-700, 2.0**-540, 1.0, 2.0**700])
def test_gaps_whose_squares_are_no_floats_are_seen_and_decided(size):
    """h = (x, x): the gap √2 x is seen as large as it is, and told from its neighbours."""
    runner, x = Runner.of(linear([[0.0, 0.0]] * 2)), torch.tensor([[[size]]], dtype=torch.float64)
    above, gap = 1.4142135623730952 * size, truncations(runner, x, (0,)).gaps.item()
    assert above * (1 - 2.0**-50) < gap < above * (1 + 2.0**-50)
    inside, beyond = within(runner, x, [(0, above), (0, above * (1 - 2.0**-51))])
    assert inside.inside.item()
    assert not beyond.inside.item()
    assert not beyond.undecided.item()


def test_errors_far_below_epsilon_need_no_bits():
    """h⁺ = 10¹⁰⁰ h + x: one window's first error is below every float of ε, the other's above."""
    x = torch.zeros(2, 5, 1).double()
    x[:, 0, 0] = torch.tensor([1.23e-310, 1.23e-290], dtype=torch.float64)
    runner = Runner.of(linear([[1e100]]))
    gap = 1.23e-310 * 1e100 * 1e100 * 1e100 * 1e100
    for factor in (1 - 1e-13, 1.0, 1 + 1e-13):
        (told,) = within(runner, x, [(0, gap * factor)])
        inside, other = told.inside.tolist()
        assert not told.undecided.any()
        assert not other
        assert factor == 1 or inside is (factor > 1)


@pytest.mark.parametrize("precisions", [(), exact.PRECISIONS])
def test_what_float64_leaves_open_is_decided_in_balls_or_not_within(monkeypatch, precisions):
    """|W| doubles what rounding may be, W nearly forgets: entries' bounds say nothing."""
    found = linear([[1.9, 1.8], [-1.9, -1.8]])  # of eigenvalues 0.1 and 0, |W| of 3.7
    monkeypatch.setattr(exact, "PRECISIONS", precisions)
    x = windows(4, 80, 1)
    (told,) = within(Runner.of(found), x, [(20, 1e-6)])
    assert told.inside.tolist() == [bool(precisions)] * 4
    assert told.undecided.tolist() == [not precisions] * 4
    assert not within(Runner.of(found), x, [(1, 1e-6)])[0].inside.any()


@pytest.mark.parametrize("name", NAMES)
def test_last_steps_in_floats_enclose_the_same_outputs(name):
    """Balls from a run whose end was taken in float64 hold those of the run in balls."""
    runner, x = Runner.of(model(name)), windows()
    with ctx.workprec(200):
        whole, mixed = (enclosed(runner, x, steps).units for steps in (0, 3))
        assert all(
            wide.contains(ball) for rows in zip(mixed, whole, strict=True)
            for wide, ball in zip(*rows, strict=True)
        )  # fmt: skip
        assert max(float(ball.rad()) for unit in mixed for ball in unit) < 1e-9


def test_both_biases_are_taken_as_stored():
    """1 + 2⁻⁶⁰ is no float64: the sum of the biases is rounded, the balls see both."""
    state = {
        "weight_hh_l0": torch.zeros(1, 1).double(), "weight_ih_l0": torch.zeros(1, 1).double(),
        "bias_ih_l0": torch.ones(1).double(), "bias_hh_l0": torch.full((1,), 2.0**-60).double(),
    }  # fmt: skip
    runner = Runner.of(load_model(state, "linear"))
    with ctx.workprec(200):
        assert enclosed(runner, windows(1, 2, 1)).units[0][0] > 1


def test_steps_products_and_exponents_of_a_linear_system():
    """Norms of W and of its powers, and its spectral radius."""
    W = torch.tensor([[0.5, 3.0], [0.0, 0.25]], dtype=torch.float64)
    told = local(Runner.of(linear(W.tolist(), 2)), windows(2, 60), range(61))
    powers = [torch.linalg.matrix_power(W, k) for k in range(1, 61)]
    norms = torch.linalg.matrix_norm(torch.stack(powers), ord=2)
    assert torch.allclose(told.norms, norms[0])
    assert torch.allclose(told.products[0, 1:], norms)
    assert torch.allclose(told.exponents, torch.tensor(np.log(0.5)), atol=0.05)
