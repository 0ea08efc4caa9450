"""Chains of linear layers and activations: their L, and differences of their outputs."""

from fractions import Fraction

import pytest
import torch
from draws import normal
from flint import arb_mat, ctx
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.models.readout import Linear, Readout

NAMES = st.lists(st.sampled_from(["linear", *ACTIVATIONS]), min_size=1, max_size=4)


def chain(names, n=3, seed=0):
    """A readout of n numbers with these stages, and one linear layer at least."""
    stages = []
    for i, name in enumerate(names if "linear" in names else ["linear", *names]):
        if name == "linear":
            p = 1 + (seed + i) % 3
            weight, bias = normal(p, n, seed=seed + i), normal(p, seed=seed + i + 9)
            stages.append(Linear(f"layers.{i}.weight", weight, (f"layers.{i}.bias", bias)))
            n = p
        else:
            stages.append(ACTIVATIONS[name])
    return Readout(tuple(stages))


def run(readout, h):
    """y of outputs h (M, n), as a module computes it."""
    for stage in readout.stages:
        if isinstance(stage, Linear):
            h = torch.nn.functional.linear(h, stage.weight, stage.bias[1])
        else:
            h = stage(h)
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
    """L is at least the exact product of the bounds of its stages."""
    readout = chain(names, seed=seed)
    product = Fraction(1)
    for stage in readout.stages:
        product *= Fraction(stage.slope)
    assert Fraction(readout.norm) >= product


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_checker_knows_every_activation(name):
    """Its own bound on the slope is no larger than the one that is stated."""
    own = BALL_ACTIVATIONS["linear" if name == "identity" else f"rnn-{name}"]
    assert own.slope <= ACTIVATIONS[name].slope
