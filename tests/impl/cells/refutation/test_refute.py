import numpy as np
import pytest
import torch
from draws import doubles

from rnnbounds.impl.cells.refutation import refute as module
from rnnbounds.impl.cells.refutation.refute import refute
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.reading.adapters import load_model

NILPOTENT = [[2.0, 4.0], [-1.0, -2.0]]


def model(W, cell, b=None, U=None):
    """A loaded cell of those weights."""
    n = len(W)
    tensors = {
        "weight_hh": torch.tensor(W, dtype=torch.float64),
        "weight_ih": torch.ones(n, 1, dtype=torch.float64)
        if U is None
        else torch.tensor(U, dtype=torch.float64),
    }
    if b is not None:
        tensors["bias_ih"] = torch.tensor(b, dtype=torch.float64)
    return load_model(tensors, cell)


REFUTED = {
    "tanh with two rests": ([[3.0]], "rnn-tanh", None, 0.0, "two-orbits"),
    "tanh that alternates": ([[-3.0]], "rnn-tanh", None, 0.0, "two-orbits"),
    "tanh, far bias, reached by inputs": ([[3.0]], "rnn-tanh", [-10.0], 20.0, "two-orbits"),
    "sigmoid, reached by inputs": ([[5.0]], "rnn-sigmoid", None, 10.0, "two-orbits"),
    "gelu below 1": ([[0.95]], "rnn-gelu", None, 1.0, "two-orbits"),
    "silu": ([[1.5]], "rnn-silu", None, 0.0, "two-orbits"),
    "sin": ([[3.0]], "rnn-sin", None, 0.0, "two-orbits"),
    "relu with two rests": ([[2.0]], "rnn-relu", [-1.0], 0.0, "two-orbits"),
    "relu that grows": ([[2.0]], "rnn-relu", [1.0], 0.0, "growth"),
    "relu at exactly 1": ([[1.0]], "rnn-relu", None, 0.0, "growth"),
    "nilpotent relu": (NILPOTENT, "rnn-relu", None, 0.0, "growth"),
    "nilpotent leaky relu": (NILPOTENT, "rnn-leaky-relu", None, 0.0, "growth"),
    "turning tanh": ([[0.0, -1.02], [1.02, 0.0]], "rnn-tanh", None, 0.0, None),
    "identity": ([[1.0, 0.0], [0.0, 1.0]], "linear", [1.0, 1.0], 1.0, "eigenvalue"),
    "rotation": ([[0.0, -1.0], [1.0, 0.0]], "linear", None, 1.0, "eigenvalue"),
    "integrator": ([[1.0]], "linear", None, 0.0, "eigenvalue"),
}


@pytest.mark.parametrize("name", REFUTED)
def test_refuted(name):
    """Each unstable model has a witness, with a reason in words."""
    W, cell, b, bound, kind = REFUTED[name]
    witness = refute(model(W, cell, b), bound)
    assert witness is not None
    assert kind is None or witness.kind == kind
    assert witness.text
    assert np.linalg.norm(witness.input) <= bound
    assert witness.to_json()["kind"] == witness.kind


@pytest.mark.parametrize("name", [n for n, row in REFUTED.items() if row[4] == "two-orbits"])
def test_orbits_replayed(name):
    """The two points, run in floats under the witness' input, come back and stay apart."""
    W, cell, b, bound, _ = REFUTED[name]
    loaded = model(W, cell, b)
    witness = refute(loaded, bound)
    x, first, second = (
        torch.tensor(vector, dtype=torch.float64)[None, :, None]
        for vector in (witness.input, *witness.points)
    )
    apart = float((first - second).norm())
    assert apart > 2 * witness.radius
    for start in (first, second):
        h = start
        for _ in range(witness.period):
            h = loaded.cell.step(h, x)
        assert float((h - start).norm()) < 1e-9 * max(1.0, float(start.norm()))


NOT_REFUTED = {
    "tanh at exactly 1": ([[1.0]], "rnn-tanh", None, 1.0),
    "tanh, bias out of reach": ([[3.0]], "rnn-tanh", [-10.0], 1.0),
    "sigmoid at 3.9": ([[3.9]], "rnn-sigmoid", None, 10.0),
    "contraction": ([[0.3, 0.2], [0.1, 0.4]], "rnn-tanh", [0.1, 0.2], 1.0),
    "zero": ([[0.0]], "rnn-relu", [1.0], 1.0),
    "nilpotent, linear": (NILPOTENT, "linear", None, 1.0),
    "one below 1, linear": ([[np.nextafter(1, 0)]], "linear", None, 1.0),
    "softplus that diverges": ([[2.0]], "rnn-softplus", None, 0.0),
}


@pytest.mark.parametrize("name", NOT_REFUTED)
def test_not_refuted(name):
    """Stable models, and those without a witness, are never convicted."""
    W, cell, b, bound = NOT_REFUTED[name]
    assert refute(model(W, cell, b), bound) is None


@pytest.mark.parametrize("cell", ["rnn-tanh", "rnn-relu", "rnn-gelu", "linear"])
def test_contractions_are_never_refuted(cell):
    """Random models with L_ρ‖W‖₂ < 1 have no witness, whatever their bias."""
    generator = torch.Generator().manual_seed(5)
    for n in (1, 2, 5, 9):
        W = torch.randn(n, n, generator=generator, dtype=torch.float64)
        W = W * (0.88 / torch.linalg.matrix_norm(W, 2))
        b = 3 * torch.randn(n, generator=generator, dtype=torch.float64)
        assert refute(model(W.tolist(), cell, b.tolist()), 5.0) is None


def test_unstable_random_models():
    """Gaussian tanh models with twice the critical gain are refuted; the pair or orbit is real."""
    generator = torch.Generator().manual_seed(6)
    for n in (4, 16):
        W = 2 * torch.randn(n, n, generator=generator, dtype=torch.float64) / n**0.5
        witness = refute(model(W.tolist(), "rnn-tanh"), 0.0)
        assert witness is not None


def test_dead_inputs():
    """Input weights of zero, and inputs that no float can scale, do no harm."""
    assert refute(model([[0.5]], "rnn-tanh", U=[[0.0]]), 1.0) is None
    assert refute(model([[0.5]], "rnn-tanh", [1e308], U=[[5e-324]]), 1.0) is None


def test_limits(monkeypatch):
    """Large models are not tried, and a float search that fails claims nothing."""
    unstable = model([[3.0]], "rnn-tanh")
    monkeypatch.setattr(module, "SIZE", 0)
    assert refute(unstable, 1.0) is None
    monkeypatch.undo()

    def lost(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(module, "candidates", lost)
    assert refute(unstable, 1.0) is None


@pytest.mark.parametrize("bound", [2.0**-700, 2.0**-1074])
def test_witness_inputs_keep_their_bound_where_squares_underflow(bound: float) -> None:
    """No witness has an input longer than B, however small B is."""
    weights = {
        "weight_ih_l0": doubles([[2.0**560, 0.0]]),
        "weight_hh_l0": doubles([[2.0]]),
        "bias_ih_l0": doubles([1.0]),
    }
    assert refute(load_model(weights, "rnn-tanh"), bound) is None
    witness = refute(load_model(weights, "rnn-tanh"), 2.0**-530)
    assert witness is not None
    assert float(norm_up(doubles(witness.input))) <= 2.0**-530
    assert "zero input" not in witness.text
