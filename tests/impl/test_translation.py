import pytest
import torch
from flint import arb, arb_mat, ctx

from impl.activation import ACTIVATIONS
from impl.errors import NotContractiveError
from impl.rnn import RNN
from impl.rollout import rollout
from impl.translation import fixed_point, translate

B, N, D, T, S = 5, 4, 2, 7, 3


def cell(name="tanh", lam=0.8, seed=0):
    """A batch of random cells with that λ."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)  # noqa: E731
    W = draw(B, N, N)
    rho = ACTIVATIONS[name]
    W = W * (lam / rho.slope / torch.linalg.matrix_norm(W, 2))[:, None, None]
    return RNN(W, draw(B, N, D), draw(B, N), rho)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_ball_holds_the_fixed_point(name):
    """A long rollout in 200 bits ends within the certified radius of the centre."""
    system = cell(name)
    fixed = fixed_point(system)
    assert bool((fixed.radius < 1e-8).all())
    with ctx.workprec(200):
        W, b = arb_mat(system.W[0].tolist()), arb_mat(system.b[0][:, None].tolist())
        h = arb_mat(N, 1)
        for _ in range(700):  # 0.8⁷⁰⁰ < 10⁻⁶⁰
            h = arb_mat([[system.activation.ball(z).mid()] for z in (W * h + b).entries()])
        away = arb(0)
        for entry, centre in zip(h.entries(), fixed.centre[0].tolist(), strict=True):
            away += (entry - centre) * (entry - centre)
        assert away.upper().sqrt() <= arb(float(fixed.radius[0]))


@pytest.mark.parametrize("name", ["identity", "tanh", "relu"])
def test_small_radius_near_one(name):
    """At λ = 0.9999 Newton's steps still centre the ball."""
    assert bool((fixed_point(cell(name, 0.9999)).radius < 1e-8).all())


def test_bound_of_the_sheet():
    """‖h*‖ ≤ ‖φ(0, 0)‖/(1 − λ)."""
    system = cell()
    offset = system.activation(system.b).norm(dim=1)
    assert bool((fixed_point(system).centre.norm(dim=1) <= offset / 0.2 + 1e-12).all())


def test_translated_run():
    """The translated cell, started at −h*, is the cell started at 0; at rest it stays."""
    system = cell("gelu")
    moved = translate(system)
    x = torch.randn(B, T, D, S, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    g = moved.start[:, :, None].expand(B, N, S)
    for t in range(T):
        g = moved.step(g, x[:, t])
    expected = rollout(system, x) - moved.fixed.centre[:, :, None]
    assert torch.allclose(g, expected, rtol=0, atol=1e-12)
    rest = moved.step(torch.zeros(B, N, 1).double(), torch.zeros(B, D, 1).double())
    assert bool((rest[:, :, 0].norm(dim=1) <= 2 * moved.fixed.radius).all())


def test_no_bias_no_translation():
    """Without a bias tanh rests at zero exactly."""
    system = cell()
    system = RNN(system.W, system.U, 0 * system.b, system.activation)
    assert not fixed_point(system).centre.any()


def test_not_contractive():
    """A cell that is not certified has no certified fixed point."""
    with pytest.raises(NotContractiveError, match="project it"):
        fixed_point(cell(lam=1.01))
