"""Gradients of pairs: float64 against balls against rationals, at any depth."""

import itertools

import numpy as np
import pytest
import torch
from any_kind import as_kind
from flint import ctx, fmpq
from msgspec.structs import replace

from rnnbounds.properties.measures.gradients import ball_arithmetic, full_run
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read import quantity
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import INPUTS, LOSSES, REGIMES, TRAINED, SystemSpec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.vanilla.learning import scalar_loss_spec
from rnnbounds.theory.claims.table import CLAIMS


def spec_of(i: int, kind: str, activation: str, loss: str) -> SystemSpec:
    """Another regime, input, size, scale and trained part for every i."""
    return make_spec(
        kind=kind, activation=activation, loss=loss, trained=TRAINED[i % len(TRAINED)],
        regime=REGIMES[i % len(REGIMES)], inputs=INPUTS[i % len(INPUTS)], n=1 + i % 4, d=1 + i % 2,
        T=4 + i % 3, K=4, lam=(0.9, 0.5, 1.5, 0.0)[i % 4], scale=(1.0, 2.0**-40, 30.0)[i % 3],
        bias=0.5, target=float(i % 3), distance=(0.25, 2.0**-20)[i % 2], seed=i, batch=2,
        sequences=2,
    )  # fmt: skip


def test_balls_agree_with_autograd() -> None:
    """The adjoint in balls is the gradient that torch finds, for every loss and part."""
    for i, (loss, trained) in enumerate(itertools.product(LOSSES, TRAINED)):
        pair = build_batch(
            replace(spec_of(i, "gradient", "tanh", loss), lam=0.5, trained=trained).select_pair(
                0, 0
            )
        )
        leaves = {
            name: getattr(pair.cell, name).clone().requires_grad_() for name in ("W", "U", "b")
        }
        h = torch.zeros(1, pair.cell.n, 1, dtype=torch.float64)
        for t in range(pair.spec.T):
            drive = leaves["W"] @ h + leaves["U"] @ pair.x[:, t] + leaves["b"][:, :, None]
            h = torch.tanh(drive)
        pair.loss.value(h).sum().backward()
        expected = torch.cat([leaves[name].grad.reshape(pair.cell.n, -1) for name in trained], 1)
        with ctx.workprec(128):
            found = full_run(ball_arithmetic(pair), pair).cumulative_gradients[-1].tolist()
        computed = [[float(v) for v in row] for row in found]
        np.testing.assert_allclose(computed, expected.numpy(), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "linear"])
@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_windows_share_what_came_before_them(activation: str, loss: str) -> None:
    """Adjoints that all windows share give the squares that the definitions give."""
    assert list(CLAIMS)  # what they define is read
    spec = spec_of(6, "gradient", activation, loss)
    for trained, name in itertools.product(TRAINED, ("grad_gap", "tbptt_gap", "tb_gap")):
        pair = build_batch(replace(spec, trained=trained).select_pair(0, 0))
        for k in range(pair.K + 1):
            square = MEASURES[name].exact_square(pair, k, 128)
            assert square == quantity.rational_square(name, pair, k) is not None


def test_what_vanishes_is_exactly_zero() -> None:
    """Without memory the truncated gradient is the full one from k = 2 on, in every ball."""
    spec = scalar_loss_spec(activation="tanh", lam=0.0, T=6, K=6, trained="WUb", loss="squared")
    pair = build_batch(spec)
    with ctx.workprec(128):
        for k in range(2, 7):
            assert MEASURES["grad_gap"].ball(pair, k, 128).is_zero()
            assert MEASURES["grad_gap"].exact_square(pair, k, 128) == fmpq(0)
        assert not MEASURES["grad_gap"].ball(pair, 1, 128).is_zero()
    same = build_batch(as_kind(spec, "smooth", trained="W", regime="zero", n=2))
    with ctx.workprec(128):
        assert MEASURES["grad_gap_weights"].ball(same, 0, 128).is_zero()
        assert MEASURES["weight_distance"].ball(same, 0, 128).is_zero()


def test_constants_of_pairs_and_windows() -> None:
    """H is a pair's own, ε_k a window's."""
    spec = spec_of(1, "gradient", "tanh", "squared")
    batch = build_batch(replace(spec, lam=0.5))
    assert batch.constant("H").hi.shape == (2, 2, 1)
    assert batch.constant("eps_k").hi.shape == (2, 1, 5)
    assert np.isinf(batch.constant("eps_k").hi[..., 0]).all()
    assert np.isinf(batch.constant("K_0").hi).all()


NAMES = ("grad_gap", "tbptt_gap", "tb_gap")
K = 8


def equal(spec: SystemSpec, name: str) -> list[bool]:
    """At which windows the enclosure is the point 0; where it is, so is the ball, and no other."""
    batch = build_batch(spec)
    found, pair = MEASURES[name].enclose(batch), batch.pair(0, 0)
    zero = [found.lo[0, 0, k] == found.hi[0, 0, k] == 0 for k in range(K + 1)]
    assert zero == [bool(MEASURES[name].ball(pair, k, 128).is_zero()) for k in range(K + 1)]
    return zero


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("trained", ["WUb", "Ub"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_nilpotent_pattern(n: int, trained: str, name: str) -> None:
    """With Wⁿ = 0, windows of n are enough, of 2n where W is trained; shorter ones are not."""
    spec = make_spec(
        kind="gradient", activation="tanh", regime="nilpotent", n=n, T=10, K=K, lam=0.9, seed=5,
        trained=trained, bias=0.5,
    )  # fmt: skip
    first = n if name == "tbptt_gap" or "W" not in trained else 2 * n
    empty = name == "tb_gap"  # of no inputs
    assert equal(spec, name) == [k >= first or (k == 0 and empty) for k in range(K + 1)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("trained", "still"), [("WU", True), ("WUb", False)])
def test_a_run_that_rests(trained: str, still: bool, name: str) -> None:
    """Nothing moves, so that nothing is forgotten; b is moved all the same."""
    spec = make_spec(
        kind="gradient", activation="elu", regime="symmetric", inputs="zero", n=2, d=2, T=10, K=K,
        lam=0.999, scale=2.0**-10, seed=168058302224171, trained=trained, loss="cross-entropy",
    )  # fmt: skip
    assert all(equal(spec, name)[:-1]) is (still or name == "tb_gap")
