"""Cells of Keras against its formulas, x K + h R + b, and as torch's."""

import json
import zipfile

import numpy as np
import pytest
import torch
from cell_runs import outputs_of
from hypothesis import given, settings
from hypothesis import strategies as st
from keras_files import keras_file, layer
from refusals import refused

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.keras.cells import GATES, Cell

SETTINGS = {
    "SimpleRNN": {},
    "LSTM": {"recurrent_activation": "sigmoid"},
    "GRU": {"recurrent_activation": "sigmoid", "reset_after": True},
    "Cho": {"recurrent_activation": "sigmoid", "reset_after": False},
}


def sigmoid(z):
    """The logistic function."""
    return 1 / (1 + np.exp(-z))


ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "softplus": lambda z: np.log1p(np.exp(z)),
}
GATES_OF = {
    ("sigmoid", "3.15.1"): sigmoid,
    ("hard_sigmoid", "3.15.1"): lambda z: np.clip(z / 6 + 0.5, 0, 1),
    ("hard_sigmoid", "2.15.0"): lambda z: np.clip(float(np.float32(0.2)) * z + 0.5, 0, 1),
}


def step(kind, stored, state, x, rho, sigmoid):
    """One step as keras.src.layers.rnn has it: state (h,) or (h, c)."""
    K, R = stored["kernel"], stored["recurrent_kernel"]
    b = stored.get("bias", np.zeros(K.shape[1]))
    h = state[0]
    if kind == "SimpleRNN":
        return (rho(x @ K + b + h @ R),)
    if kind == "LSTM":
        i, f, c, o = np.split(x @ K + h @ R + b, 4)
        cell = sigmoid(f) * state[1] + sigmoid(i) * rho(c)
        return sigmoid(o) * rho(cell), cell
    n = len(h)
    inner, b = b if b.ndim == 2 else (b, np.zeros(3 * n))
    xz, xr, xh = np.split(x @ K + inner, 3)
    hz, hr, hh = np.split(h @ R + b, 3)
    z, r = sigmoid(xz + hz), sigmoid(xr + hr)
    candidate = rho(xh + (r * hh if kind == "GRU" else (r * h) @ R[:, 2 * n :]))
    return (z * h + (1 - z) * candidate,)


@pytest.mark.parametrize("kind", SETTINGS)
@settings(max_examples=25)
@given(
    n=st.integers(1, 4), d=st.integers(1, 3), bias=st.booleans(), seed=st.integers(0, 2**32 - 1),
    rho=st.sampled_from(sorted(ACTIVATIONS)), gates=st.sampled_from(sorted(GATES_OF)),
)  # fmt: skip
def test_formula(kind, n, d, bias, seed, rho, gates):
    """The cell here has the outputs of Keras' formula, whatever the weights."""
    random, name = np.random.default_rng(seed), "GRU" if kind == "Cho" else kind
    g = len(GATES[name])
    shapes = {"kernel": (d, g * n), "recurrent_kernel": (n, g * n)}
    if bias:
        shapes["bias"] = (2, g * n) if kind == "GRU" else (g * n,)
    stored = {role: random.normal(size=shape) for role, shape in shapes.items()}
    held = {role: torch.from_numpy(one) for role, one in stored.items()}
    stated = {"units": n, "activation": rho}
    if kind != "SimpleRNN":
        stated["recurrent_activation"] = gates[0]
    cell = Cell("layer", name, SETTINGS[kind] | stated, held, gates[1])
    loaded = load_model(cell.weights(), cell.name)
    x = random.normal(size=(5, d))
    state, expected = (np.zeros(n), np.zeros(n)), []
    for one in x:
        state = step(kind, stored, state, one, ACTIVATIONS[rho], GATES_OF[gates])
        expected.append(state[0])
    outputs = outputs_of(loaded, torch.from_numpy(x)[None])[0]
    assert np.allclose(outputs, expected, rtol=1e-9, atol=1e-12)


def test_weights_are_exact():
    """No number of a file is changed, in any float dtype."""
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        stored = {
            "kernel": torch.randn(2, 12).to(dtype),
            "recurrent_kernel": torch.randn(3, 12).to(dtype),
            "bias": torch.randn(12).to(dtype),
        }
        weights = Cell("layer", "LSTM", {"units": 3}, stored).weights()
        assert torch.equal(weights["weight_ih"].T, stored["kernel"])
        assert torch.equal(weights["weight_hh"].T, stored["recurrent_kernel"])
        assert torch.equal(weights["bias_ih"], stored["bias"])
        assert all(one.is_contiguous() and one.dtype == dtype for one in weights.values())


@pytest.mark.parametrize(
    ("version", "form"), [("2.15.0", "hard-sigmoid-0.2-0.5"), ("3.1", "hard-sigmoid")]
)
def test_hard_sigmoids(tmp_path, monkeypatch, version, form):
    """Their slope is that of the version that the file states; without one it is refused."""
    monkeypatch.chdir(tmp_path)
    path = keras_file(layer("LSTM", "enc", recurrent_activation="hard_sigmoid"))
    refused(path, InputError, "whose slope depends on the version of Keras")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": version}))
    assert load_model(path).name == f"lstm+{form}+tanh+tanh"
