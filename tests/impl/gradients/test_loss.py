import math

import pytest
import torch
from draws import normal
from flint import arb, ctx, fmpq
from torch import Tensor

from rnnbounds.impl.gradients.loss import LOSSES, CrossEntropy, LinearLoss, Loss, Squared, loss
from rnnbounds.impl.norms.readout_norms import WeightedMaximumDual

B, P, N, M = 4, 3, 5, 200
HAIR = 1 + 1e-12


def example(name: str) -> Loss:
    """Random readouts and targets."""
    return loss(name, normal(B, P, N), normal(B, P, seed=1))


def states(radius: float) -> Tensor:
    """States on a sphere, (B, n, M)."""
    return radius * torch.nn.functional.normalize(normal(B, N, M, seed=2), dim=1)


@pytest.mark.parametrize("name", LOSSES)
def test_gradient(name: str) -> None:
    """The gradient is the derivative of the value, and the sequel of both is differentiable."""
    p, h = example(name), states(2.0).requires_grad_()
    (expected,) = torch.autograd.grad(p.value(h).sum(), h)
    torch.testing.assert_close(p.gradient(h), expected, rtol=1e-12, atol=1e-13)
    assert p.value(h).shape == (B, M)
    assert p.name == name


@pytest.mark.parametrize("name", LOSSES)
def test_constants_hold_in_other_norms(name: str) -> None:
    """The same for max |h_i|/v_i, with the dual norm of the gradients."""
    p, v = example(name), normal(B, N, seed=3).abs() + 0.1
    h, maximum = v[:, :, None] * states(1.0).sign(), WeightedMaximumDual(v)
    step = p.gradient(h) - p.gradient(-h)
    first, second = ((g.abs() * v[:, :, None]).sum(1) for g in (p.gradient(h), step / 2))
    assert (first.amax(1) <= p.slope(torch.ones(B, dtype=torch.float64), maximum) * HAIR).all()
    assert (second.amax(1) <= p.curvature_in(maximum) * HAIR).all()


def test_dyadic_constants_are_exact() -> None:
    """Dyadic readouts have exact constants in all norms of one unit."""
    C, y = (torch.tensor(values, dtype=torch.float64) for values in ([[[-1.5]]], [[0.5]]))
    radius, two = (torch.tensor([value], dtype=torch.float64) for value in (4.0, 2.0))
    squared = Squared(C, y)
    assert squared.slope(radius).item() == 1.5 * (1.5 * 4 + 0.5)
    assert squared.curvature.item() == 2.25
    maximum = WeightedMaximumDual(two[:, None])
    assert squared.slope(radius, maximum).item() == 3 * (3 * 4 + 0.5)
    assert LinearLoss(C).slope(radius, maximum).item() == 3.0
    assert (LinearLoss(C).slope(radius).item(), LinearLoss(C).curvature.item()) == (1.5, 0.0)


def test_cross_entropy_constants() -> None:
    """Two opposite rows: L_p = 2‖e‖, above ‖C‖₂ = √2‖e‖, and β_p = ‖e‖², above ‖C‖₂²/4."""
    p = CrossEntropy(torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64))
    one = torch.ones(1, dtype=torch.float64)
    assert (p.slope(one).item(), p.spread().item(), p.curvature.item()) == (2.0, 2.0, 1.0)
    h = torch.tensor([[[-30.0, 1e-4]]], dtype=torch.float64)
    far, near = p.gradient(h)[0, 0].tolist()
    assert far == pytest.approx(-2.0)
    assert abs(near - p.gradient(0 * h)[0, 0, 1].item()) / 1e-4 == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e3])
def test_gradient_error(name: str, scale: float) -> None:
    """A float64 gradient at a perturbed state is as close to the exact one as is said."""
    p, h = example(name), states(scale)
    inner = 1e-14 * scale * torch.arange(M, dtype=torch.float64).expand(B, M)
    moved = h + inner[:, None] * states(0.999)
    bounds = p.gradient_error(torch.full_like(inner, scale * HAIR), inner)
    computed = p.gradient(moved)
    with ctx.workprec(200):
        for b in range(B):
            for m in range(0, M, 20):
                exact = p.member(b).ball_gradient([arb(value) for value in h[b, :, m].tolist()])
                gaps = [arb(g) - e for g, e in zip(computed[b, :, m].tolist(), exact, strict=True)]
                error = sum((gap * gap for gap in gaps), arb(0)).upper().sqrt()
                assert error <= bounds[b, m].item()


@pytest.mark.parametrize("name", LOSSES)
def test_rational_gradient(name: str) -> None:
    """Rational gradients lie in the balls; the cross-entropy has none."""
    p = example(name).member(1)
    values = [fmpq(1, 3), fmpq(-2), fmpq(0), fmpq(5, 7), fmpq(1)]
    exact = p.rational_gradient(values)
    assert (exact is None) == (name == "cross-entropy")
    for q, ball in zip(exact or [], p.ball_gradient([arb(v) for v in values]), strict=False):
        assert ball.contains(arb(q))


@pytest.mark.parametrize("name", LOSSES)
def test_broken_losses_fail_closed(name: str) -> None:
    """NaN in the readout or the target makes the constants infinite, never NaN."""
    C = normal(1, P, N)
    C[0, 0, 0] = math.nan
    size = torch.ones(1, dtype=torch.float64)
    p = loss(name, C)
    assert p.slope(size).item() == math.inf
    assert p.curvature.item() == (0.0 if name == "linear" else math.inf)
    assert p.slope(size, WeightedMaximumDual(normal(1, N).abs())).item() == math.inf
    target = torch.full((1, P), math.nan, dtype=torch.float64)
    assert Squared(normal(1, P, N), target).slope(size).item() == math.inf
