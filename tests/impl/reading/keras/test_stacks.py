"""Which layers of a Keras model are one stack, and the tables beside them."""

import pytest
import torch

pytest.importorskip("h5py")
import numpy as np
from keras_files import keras_file, layer, other

from rnnbounds.impl.certificate.inputs import input_tensor
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.sources import open_source


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def stacks(*layers, **options):
    """The names of the stacks of a file, with the number of layers of each."""
    opened = open_source(keras_file(*layers, **options))
    return {name: len(one) for name, one in opened.stacks.items()}


def lstm(name, **settings):
    """An LSTM of three units."""
    return layer("LSTM", name, **settings)


def test_what_relays():
    """Dropout is the identity at inference, whatever its rate; any other layer ends a stack."""
    for kind in ("Dropout", "SpatialDropout1D", "GaussianNoise", "Identity"):
        assert stacks(lstm("a"), other(kind, rate=0.5), lstm("b"), lstm("c")) == {"a": 3}
    for kind in ("LayerNormalization", "Lambda", "Permute", "Masking", "Mine"):
        assert stacks(lstm("a"), other(kind), lstm("b"), lstm("c")) == {"a": 1, "b": 2}
    own = other("Dropout") | {"module": "mine"}
    assert stacks(lstm("a"), own, lstm("b")) == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"return_sequences": False}, {}),
        ({}, {"go_backwards": True}),
        ({}, {"time_major": True}),
    ],
)
def test_what_ends_a_stack(first, second):
    """Layers that read something else than the outputs of the one below, in their order."""
    assert stacks(lstm("a", **first), lstm("b", **second)) == {"a": 1, "b": 1}


def test_unlike_cells():
    """Cells of another class or activation begin a stack of their own; widths may differ."""
    assert stacks(lstm("a"), layer("GRU", "b")) == {"a": 1, "b": 1}
    tanh, relu = layer("SimpleRNN", "a"), layer("SimpleRNN", "b", activation="relu")
    assert stacks(tanh, relu) == {"a": 1, "b": 1}
    assert stacks(lstm("a"), lstm("b", n=5)) == {"a": 2}
    assert load_model("m.keras").name == "stacked-lstm"


def test_reverse():
    """What reads the outputs of a layer that goes backwards goes on in its direction."""
    back = lstm("a", go_backwards=True)
    assert stacks(back, lstm("b")) == {"a": 2}
    names = open_source("m.keras").told("a").tensors
    assert all(name.endswith(("_l0_reverse", "_l1_reverse")) for name in names)
    with pytest.raises(InputError, match=r"a\.weight_hh_l0_reverse"):
        load_model("m.keras")


def test_forks():
    """A layer that others read too, or that is an output of the model, ends its stack."""
    layers = other("InputLayer", "x"), lstm("a"), lstm("b"), lstm("c")
    feeds = {"a": ["x"], "b": ["a"], "c": ["b"]}
    assert stacks(*layers, feeds=feeds, outputs=["c"]) == {"a": 3}
    assert stacks(*layers, feeds=feeds, outputs=["a", "c"]) == {"a": 1, "b": 2}
    assert stacks(*layers, feeds=feeds | {"c": ["a"]}) == {"a": 1, "b": 1, "c": 1}


def test_masks():
    """That steps may be masked stands in the name of the source."""
    embedding = other("Embedding", "words", mask_zero=True)

    def edit(file):
        file["layers/embedding/vars/0"] = np.ones((4, 2), "f4")

    assert load_model(keras_file(lstm("a"))).source == "m.keras"
    for path in (
        keras_file(other("Masking"), lstm("a")),
        keras_file(other("Lambda"), lstm("a")),
        keras_file(other("Mine") | {"module": "mine"}, lstm("a")),
        keras_file(embedding, lstm("a"), edit=edit),
    ):
        assert load_model(path).source == "m.keras (without masked steps)"


def test_tables():
    """Dense layers are readouts, the linear part alone before an activation; embeddings inputs."""

    def edit(file):
        file["layers/embedding/vars/0"] = np.full((4, 2), 0.25, "f4")
        for name in ("dense", "dense_1"):
            file[f"layers/{name}/vars/0"] = np.arange(6.0, dtype="f4").reshape(3, 2)
            file[f"layers/{name}/vars/1"] = np.zeros(2, "f4")

    listed = (
        other("Embedding", "words"), lstm("a"), other("Dense", "head", activation="linear"),
        other("Dense", "bent", activation="softmax"),
    )  # fmt: skip
    path = keras_file(*listed, edit=edit)
    (read,) = load_model(path, readout="head").readout.tensors.values()
    assert read.tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(InputError, match=r"bent\.linear\.weight"):
        load_model(path, readout="bent")
    (bent,) = load_model(path, readout="bent.linear").readout.tensors.values()
    assert torch.equal(bent, read)
    assert input_tensor(path, "words.weight").d == 2
    with pytest.raises(InputError, match=r"has no tensor other; name one of bent\.linear\.weight"):
        input_tensor(path, "other")
