"""Layers of Keras and parameters of flax: their own outputs, by our cells."""

import os

import numpy as np
import pytest
import torch
from window_runs import outputs

import rnnbounds
from rnnbounds.impl.errors import InputError

T, N, d, n = 6, 2, 3, 4
X = np.linspace(-1, 1, T * N * d, dtype="float32").reshape(N, T, d)


def last(model):
    """The last output h (N, n) of a model from the zero state."""
    weights = {role: part.double() for role, part in model.weights.items()}
    return outputs(model.name, weights, torch.tensor(X).double())[:, -1].numpy()


@pytest.fixture(scope="module")
def keras():
    """Keras, on torch."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    return pytest.importorskip("keras")


LAYERS = [
    ("SimpleRNN", "rnn-tanh", {}), ("SimpleRNN", "rnn-relu", {"activation": "relu"}),
    ("LSTM", "lstm", {}), ("LSTM", "lstm", {"use_bias": False}), ("GRU", "gru", {}),
    ("GRU", "gru-cho", {"reset_after": False}), ("GRU", "gru", {"use_bias": False}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "cell", "options"), LAYERS)
def test_keras(keras, kind, cell, options):
    """The outputs of each layer with biases that are not zero."""
    layer = getattr(keras.layers, kind)(n, **options)
    layer.build((N, T, d))
    rng = np.random.default_rng(0)
    layer.set_weights([rng.normal(0, 0.4, part.shape) for part in layer.get_weights()])
    model = rnnbounds.from_keras(layer)
    assert model.name == cell
    own = keras.ops.convert_to_numpy(layer(X))
    np.testing.assert_allclose(last(model), own, atol=1e-6)
    assert rnnbounds.certify(model, inputs=1.0, norm="spectral").cell == cell


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("GRU", {"go_backwards": True}), ("LSTM", {"stateful": True}),
        ("LSTM", {"activation": "relu"}), ("GRU", {"recurrent_activation": "hard_sigmoid"}),
        ("SimpleRNN", {"activation": "selu"}), ("LSTM", {"dtype": "mixed_float16"}), ("Dense", {}),
        ("GRU", {}),
    ],
)  # fmt: skip
def test_keras_layers_that_are_refused(keras, kind, options):
    """One line that names what is not read; the last one has no weights yet."""
    layer = getattr(keras.layers, kind)(n, **options)
    with pytest.raises(InputError, match=r"^[^\n]*; hand over its weights by torch's names"):
        rnnbounds.from_keras(layer)


CELLS = [
    ("SimpleCell", "rnn-tanh"), ("LSTMCell", "lstm"), ("OptimizedLSTMCell", "lstm"),
    ("GRUCell", "gru"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), CELLS)
@pytest.mark.parametrize("library", ["linen", "nnx"])
def test_flax(library, kind, name):
    """The last output of each cell, of both libraries, by its parameters alone."""
    flax = pytest.importorskip(f"flax.{library}")
    jax = pytest.importorskip("jax")

    def drawn(part):
        values = np.random.default_rng(part.size).normal(0, 0.4, part.shape)
        return jax.numpy.asarray(values, part.dtype)

    if library == "linen":
        net = flax.RNN(getattr(flax, kind)(n), return_carry=False)
        held = jax.tree.map(drawn, net.init(jax.random.key(0), X))
        own, tree = net.apply(held, X)[:, -1], held["params"]["cell"]
    else:
        cell = getattr(flax, kind)(d, n, rngs=flax.Rngs(0))
        held = jax.tree.map(drawn, flax.state(cell, flax.Param))
        flax.update(cell, held)
        own, tree = flax.RNN(cell)(X)[:, -1], flax.to_pure_dict(held)
    asked = name if kind == "SimpleCell" else None
    model = rnnbounds.from_flax(tree, asked)
    assert model.name == name
    np.testing.assert_allclose(last(model), np.asarray(own), atol=1e-6)


def test_trees_that_are_refused():
    """Without its activation, with a layer less, and of another library."""
    whole = {"i": {"kernel": np.ones((d, n)), "bias": np.ones(n)}, "h": {"kernel": np.ones((n, n))}}
    assert rnnbounds.from_flax(whole, "rnn-relu").name == "rnn-relu"
    half = {"i": whole["i"]}
    for tree in (whole, half, {}, {"hf": whole["i"]}, whole | {"h": whole["i"]}):
        with pytest.raises(InputError, match="; hand over its weights"):
            rnnbounds.from_flax(tree)
