"""Chains of linear layers, activations and normalisations: their L, and differences of their
outputs."""

from fractions import Fraction

import pytest
import torch
from draws import doubles, normal
from flint import arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.models.normalisation import LAYER, RMS, Normalisation
from rnnbounds.impl.models.readout import Linear, Readout

NAMES = st.lists(st.sampled_from(["linear", LAYER, RMS, *ACTIVATIONS]), min_size=1, max_size=4)
EPS = 2.0**-4


def chain(names, n=3, seed=0):
    """A readout of n numbers with these stages, and one linear layer at least."""
    stages = []
    for i, name in enumerate(names if "linear" in names else ["linear", *names]):
        if name == "linear":
            p = 1 + (seed + i) % 3
            weight, bias = normal(p, n, seed=seed + i), normal(p, seed=seed + i + 9)
            stages.append(Linear(f"layers.{i}.weight", weight, (f"layers.{i}.bias", bias)))
            n = p
        elif name in (LAYER, RMS):
            parts = ((f"g{i}.weight", normal(n, seed=i)), (f"g{i}.bias", normal(n, seed=i + 5)))
            stages.append(Normalisation(name, EPS, n, f"g{i}", *parts))
        else:
            stages.append(ACTIVATIONS[name])
    return Readout(tuple(stages))


def normalised(stage, h):
    """What torch makes of h (M, n)."""
    gamma, beta = (None if part is None else part[1] for part in (stage.weight, stage.bias))
    if stage.kind == LAYER:
        return torch.nn.functional.layer_norm(h, (stage.n,), gamma, beta, stage.eps)
    y = torch.nn.functional.rms_norm(h, (stage.n,), gamma, stage.eps)
    return y if beta is None else y + beta


def run(readout, h):
    """y of outputs h (M, n), as a module computes it."""
    for stage in readout.stages:
        if isinstance(stage, Linear):
            h = torch.nn.functional.linear(h, stage.weight, stage.bias[1])
        else:
            h = normalised(stage, h) if isinstance(stage, Normalisation) else stage(h)
    return h


@given(NAMES, st.integers(0, 9))
def test_differences_are_those_of_outputs(names, seed):
    """In floats and in balls; none is more than L times as long as that of h."""
    readout, (h, other) = chain(names, seed=seed), normal(2, 5, 3, seed=seed)
    m = Floats(readout.parameters)
    apart = readout.apart(m, Rows(h), Rows(other)).value
    assert torch.allclose(apart, run(readout, h) - run(readout, other), rtol=1e-9, atol=1e-12)
    assert apart.shape == (5, readout.outputs)
    assert (apart.norm(dim=1) <= readout.norm * (h - other).norm(dim=1) * (1 + 1e-12)).all()
    with ctx.workprec(128):
        columns = (Columns.of(arb_mat(v.T.tolist())) for v in (h, other))
        found = readout.apart(Balls(readout.parameters), *columns)
        middles = torch.tensor([[float(a.mid()) for a in unit] for unit in found.units])
    assert torch.allclose(middles.double().T, apart, rtol=1e-5, atol=1e-6)


@given(NAMES, st.integers(0, 9))
def test_the_product_is_rounded_up(names, seed):
    """It is at least the exact product of the bounds of its stages, and L is no more."""
    readout = chain(names, seed=seed)
    product = Fraction(1)
    for stage in readout.stages:
        product *= Fraction(stage.slope)
    assert Fraction(readout.product) >= product
    assert readout.norm <= readout.product


@settings(max_examples=25)
@given(NAMES, st.integers(0, 9))
def test_no_gradient_finds_a_longer_derivative(names, seed):
    """Ascent of ‖∂f/∂h‖₂ from points near 0 and far from it stays below L."""
    readout, worst = chain(names, n=2, seed=seed), 0.0
    for size in (1e-3, 0.5, 3.0):
        h = (size * normal(2, seed=seed)).requires_grad_()
        ascent = torch.optim.Adam([h], lr=0.05, maximize=True)
        for _ in range(15):
            J = torch.autograd.functional.jacobian(
                lambda v: run(readout, v[None])[0], h, create_graph=True
            )
            steep = J.square().sum()
            worst = max(worst, float(torch.linalg.matrix_norm(J.detach(), 2)))
            if not steep.requires_grad:
                break
            ascent.zero_grad()
            steep.backward()
            ascent.step()
    assert worst <= readout.norm * (1 + 1e-9)


@pytest.mark.parametrize("kind", [LAYER, RMS])
def test_a_normalisation_is_as_steep_as_it_is_said_near_a_constant(kind):
    """max|γ_i|/√e is reached for the pair (0, δ e_i), but for the mean that `layer-norm`
    takes off, and hardly seen far from 0."""
    gamma = doubles([0.5, -2.0, 1.0])
    stage = Normalisation(kind, 1e-6, 3, "g", ("g.weight", gamma))
    assert stage.slope == pytest.approx(2e3)
    assert Fraction(stage.slope) ** 2 * Fraction(1e-6) >= 4
    a = doubles([[0.0, 0.0, 0.0], [0.0, 1e3, 0.0]])
    b = a + doubles([0.0, 1e-9, 0.0])
    apart = (normalised(stage, a) - normalised(stage, b)).norm(dim=1) / 1e-9
    assert 0.6 * stage.slope < float(apart[0]) <= stage.slope
    assert float(apart[1]) < 1e-2 * stage.slope
    if kind == RMS:
        assert float(apart[0]) == pytest.approx(stage.slope)


def test_averages_are_less_than_the_product():
    """Of a layer and one that does not see it slopes let half of the product pass."""
    tall, wide = Linear("a", doubles([[1.0], [0.0]])), Linear("b", doubles([[0.0, 1.0]]))
    relu = Readout((tall, ACTIVATIONS["relu"], wide))
    assert relu.norm == pytest.approx(0.5)
    assert relu.to_json()["averaged"]["ranges"] == [[[0.0], [1.0]]]
    half = pytest.approx(0.5**0.5)
    assert relu.to_json()["averaged"]["segments"] == [[half, pytest.approx(0.0)], [half]]
    assert Readout((tall, wide)).norm == pytest.approx(0.0)
    same = Readout((tall, ACTIVATIONS["relu"], Linear("c", doubles([[1.0, 0.0]]))))
    assert same.norm == 1.0
    assert "averaged" not in same.to_json()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_checker_knows_every_activation(name):
    """Its own bound on the slope is no larger than the one that is stated."""
    own = BALL_ACTIVATIONS["linear" if name == "identity" else f"rnn-{name}"]
    assert own.slope <= ACTIVATIONS[name].slope
