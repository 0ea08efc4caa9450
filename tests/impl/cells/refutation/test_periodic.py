import numpy as np
import pytest
import torch
from draws import doubles
from flint import ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.refutation.periodic import (
    Frozen,
    periodic_candidates,
    periodic_pair,
    periodic_point,
    repelling_point,
)
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.spectra.krawczyk import column


@pytest.fixture(autouse=True)
def _precision():
    with ctx.workprec(128):
        yield


def frozen(W, b, name):
    """h ↦ ρ(Wh + b), as a cell under the input 0."""
    W = np.array(W)
    cell = RNN(doubles(W)[None], torch.zeros(1, len(W), 1).double(), doubles(b)[None],
               ACTIVATIONS[name])  # fmt: skip
    return Frozen(cell.program, cell.parameters, np.zeros(1), len(W), W)


def scalar(w, c=0.0, name="tanh"):
    """h ↦ ρ(wh + c)."""
    return frozen([[w]], [c], name)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus", "gelu", "sin", "relu"])
@pytest.mark.parametrize("period", [1, 2])
def test_contractions_have_one(name, period):
    """A contraction has one point of each period, which attracts."""
    cell = scalar(0.7, 0.3, name)
    found = periodic_candidates(cell, period)
    assert len(found) == 1
    assert periodic_point(cell, found[0], period) is not None
    assert periodic_pair(cell, found, period) is None
    assert repelling_point(cell, found, period) is None


def test_kinks_are_not_trusted():
    """At the kink of ReLU the derivative is a set: no point, no multiplier is certified."""
    cell = scalar(3.0, 0.0, "relu")
    assert periodic_point(cell, np.zeros(1), 1) is None
    assert repelling_point(cell, [np.zeros(1)], 1) is None
    assert not cell.enclose(column(np.zeros(1)), 1)[2]
    assert cell.enclose(column(np.ones(1)), 1)[2]


def test_kinks_of_other_units():
    """A dead unit that sits on its kink is a certified point, but its multiplier is not trusted."""
    cell = frozen([[2.0, 0.0], [0.0, 0.0]], [-1.0, 0.0], "relu")
    rest = np.array([1.0, 0.0])
    assert periodic_point(cell, rest, 1) is not None
    assert repelling_point(cell, [rest], 1) is None


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("room", [1e-9, 1e-12])
def test_what_nearly_repels_is_not_certified(n, room):
    """A point with the radius 1 − 10⁻⁹ is none, in balls and in floats, and 1 + 10⁻⁹ is one."""
    Q = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))[0]
    rates = np.linspace(0.1, 1.0, n)
    for top, certified in ((1 - room, False), (1.0, False), (1 + 1e-9, True)):
        W = (Q * (rates * top)) @ Q.T
        cell = frozen(W, np.zeros(n), "sin")
        found = repelling_point(cell, [np.zeros(n)], 1)
        if top != 1.0:  # rounding may have moved that one to either side
            assert (found is not None) == certified
        assert found is None or 1 < found[1] <= 1 + 2e-9
