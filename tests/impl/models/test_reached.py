"""Readouts on a ball of states: their slopes and their Lipschitz constant there."""

import pytest
import torch
from draws import doubles, normal

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.models.normalisation import LAYER, RMS, Normalisation
from rnnbounds.impl.models.reached import Reached, slopes_on
from rnnbounds.impl.models.readout import Linear, Readout


def layer(name, p, n, seed):
    """A layer with a bias."""
    return Linear(
        f"{name}.weight", normal(p, n, seed=seed) / n, (f"{name}.bias", normal(p, seed=seed))
    )


def readout(*between, seed=0):
    """A readout of three numbers, with these stages between two layers."""
    return Readout((layer("a", 4, 3, seed), *between, layer("b", 2, 4, seed + 7)))


def normalisation(kind):
    """One of four numbers."""
    parts = ("g.weight", normal(4, seed=3)), ("g.bias", normal(4, seed=4))
    return Normalisation(kind, 1e-3, 4, "g", *parts)


def outputs(f, h):
    """f of h (M, n), by torch."""
    for stage in f.stages:
        if isinstance(stage, Linear):
            h = torch.nn.functional.linear(h, stage.weight, stage.bias[1])
        elif isinstance(stage, Normalisation):
            gamma, beta = stage.weight[1], stage.bias[1]
            c = h - h.mean(1, keepdim=True) if stage.kind == LAYER else h
            h = gamma * c / (c.square().mean(1, keepdim=True) + stage.eps).sqrt() + beta
        else:
            h = stage(h)
    return h


CHAINS = {name: (rho,) for name, rho in ACTIVATIONS.items()} | {
    LAYER: (normalisation(LAYER),),
    RMS: (normalisation(RMS), ACTIVATIONS["gelu"]),
    "deep": (ACTIVATIONS["tanh"], layer("c", 4, 4, 5), ACTIVATIONS["silu"]),
    "normal": (ACTIVATIONS["sigmoid"], normalisation(LAYER), ACTIVATIONS["elu"]),
}


@pytest.mark.parametrize("radius", [2.0**-4, 1.0])
@pytest.mark.parametrize("name", CHAINS)
def test_no_pair_of_the_ball_and_no_gradient_is_steeper(name, radius):
    """Pairs in it, near ones too, and ascent of the Jacobian that stays in it."""
    for seed in (0, 20):
        f = readout(*CHAINS[name], seed=seed)
        found = Reached.within(f, radius)
        if found is None:
            continue
        most = found.bound.norm
        assert most < f.norm
        h = normal(2, 256, 3, seed=seed)
        h = radius * h / h.norm(dim=2, keepdim=True)
        h[1, ::2] = (h[0, ::2] + 1e-5 * h[1, ::2]) / (1 + 1e-5)
        apart = (outputs(f, h[0]) - outputs(f, h[1])).norm(dim=1)
        assert bool((apart <= most * (h[0] - h[1]).norm(dim=1) * (1 + 1e-6)).all())
        at = (radius * normal(3, seed=seed) / 3).requires_grad_()
        for _ in range(12):
            J = torch.autograd.functional.jacobian(
                lambda v, f=f: outputs(f, v[None])[0], at, create_graph=True
            )
            assert float(torch.linalg.matrix_norm(J.detach(), 2)) <= most * (1 + 1e-9)
            if not J.requires_grad:
                break
            (up,) = torch.autograd.grad(J.square().sum(), at)
            moved = at.detach() + radius / 4 * up / up.norm().clamp(min=1e-300)
            at = (moved * min(1.0, radius / float(moved.norm()))).requires_grad_()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slopes_are_those_of_intervals(name):
    """At many points of each; where ρ′ is monotone the ends are met."""
    rho = ACTIVATIONS[name]
    ends = doubles([[-3.0, -1.0], [-1.0, 0.5], [-0.25, 2.0], [0.25, 0.5], [1.0, 30.0], [0.0, 1.0]])
    low, high = slopes_on(rho, Interval(ends[None, :, 0], ends[None, :, 1]))
    shares = torch.linspace(0, 1, 401, dtype=torch.float64)[:, None]
    slopes = rho.derivative(ends[:, 0] + (ends[:, 1] - ends[:, 0]) * shares)
    assert bool((low <= slopes.amin(0) + 1e-12).all())
    assert bool((high >= slopes.amax(0) - 1e-12).all())
    if name in ("tanh", "sigmoid", "arctan", "elu", "softplus"):
        assert torch.allclose(low, slopes.amin(0), rtol=1e-9)


def test_what_is_not_less_is_none():
    """Of layers alone, and of a ball without bounds or of all that slopes are."""
    f = readout(ACTIVATIONS["tanh"])
    assert Reached.within(f, float("inf")) is None
    assert Reached.within(Readout(f.stages[::2]), 1.0) is None
    assert Reached.within(readout(ACTIVATIONS["relu"]), 1e9) is None


def test_a_normalisation_is_less_steep_away_from_constants():
    """1/s of the least s over the ball, which biases keep away from 0."""
    one = Linear("a.weight", torch.eye(2).double() / 4, ("a.bias", doubles([3.0, -3.0])))
    f = Readout((one, Normalisation(LAYER, 1e-6, 2)))
    assert f.norm == pytest.approx(250.0)
    assert Reached.within(f, 1.0).bound.norm == pytest.approx(0.25 / 2.75, rel=0.1)
