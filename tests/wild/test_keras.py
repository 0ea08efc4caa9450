"""Keras files against the outputs of Keras: fixtures that it wrote, and models made now."""

import gzip
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from cell_runs import outputs_of

pytest.importorskip("h5py")
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.layers import layers
from rnnbounds.impl.reading.sources import open_source

FILES = Path(__file__).with_name("files")
NAMES = ("stack", "cells", "directions", "nested")
# The cell of each layer of a configured model; None for one in both directions or in reverse.
CELLS = {
    "enc": "stacked-lstm", "gru": "gru", "cho": "gru-cho", "bare": "gru", "tanh": "rnn-tanh",
    "relu": "rnn-relu", "levels": "stacked-gru", "cell": "lstm", "both": None, "two": None,
    "back": None, "inner.rnn": "lstm",
}  # fmt: skip
OUTPUTS = {
    "enc": "upper",
    "both": "top",
    "back": "on",
    "inner.rnn": "inner",
}  # of the last layer of a stack


def torchs(opened, layer, x):
    """The outputs of torch's LSTM or GRU with the weights of a layer in one or two directions."""
    told = opened.told(layer)
    own = {name.removeprefix(f"{layer}."): one for name, one in told.tensors.items()}
    own = {name: one for name, one in own.items() if "_l" in name}
    forward = any(name.endswith("_l0") for name in own)
    own = own if forward else {name.removesuffix("_reverse"): one for name, one in own.items()}
    d = own["weight_ih_l0"].shape[1]
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[told.cell]
    layers = sum(name.startswith("weight_ih") and "_rev" not in name for name in own)
    module = kind(d, own["weight_hh_l0"].shape[1], layers, batch_first=True, bidirectional=forward)
    held = {name: torch.zeros_like(one) for name, one in module.state_dict().items()}
    assert own.keys() <= held.keys()
    module.load_state_dict(held | own)
    with torch.no_grad():
        return module(x if forward else x.flip(1))[0]


def check(path, numbers, cells):
    """All layers of a file are listed, and give the outputs that Keras gave."""
    opened = open_source(path)
    for layer in layers(path):
        if layer.name not in cells:
            continue
        x = torch.from_numpy(numbers["x"])
        if layer.name == "inner.rnn":
            x = opened.told(layer.name).tensors["words.weight"][x.long()]
        expected = numbers[OUTPUTS.get(layer.name, layer.name)]
        if cells[layer.name] is None:
            assert layer.cell is None or layer.cell.startswith("bidirectional ")
            outputs = torchs(opened, layer.name, x)
        else:
            assert layer.cell == cells[layer.name], layer
            outputs = outputs_of(load_model(path, layer=layer.name), x)
        outputs = outputs if expected.ndim == 3 else outputs[:, -1]
        assert np.allclose(outputs, expected, rtol=0, atol=1e-6), layer.name
    assert {layer.name for layer in layers(path)} <= CELLS.keys() | {"upper", "on"}


@pytest.fixture
def unpacked(tmp_path):
    """A function that unpacks a fixture, and opens its numbers."""

    def unpack(name, end):
        path = tmp_path / f"{name}{end}"
        path.write_bytes(gzip.decompress((FILES / f"{path.name}.gz").read_bytes()))
        return path, np.load(FILES / f"{name}.npz")

    return unpack


@pytest.mark.parametrize("prefix", ["keras", "keras2"])
@pytest.mark.parametrize("end", [".keras", ".h5"])
@pytest.mark.parametrize("name", NAMES)
def test_models(unpacked, prefix, name, end):
    """Both formats of both versions."""
    check(*unpacked(f"{prefix}_{name}", end), CELLS)


@pytest.mark.slow
def test_keras(tmp_path, monkeypatch):
    """All formats of the version that is installed, on torch."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    make = runpy.run_path(str(FILES.with_name("make_keras.py")))
    make["write"](keras, "keras", tmp_path)
    for name in NAMES:
        numbers = np.load(tmp_path / f"keras_{name}.npz")
        for end in (".keras", ".h5"):
            check(tmp_path / f"keras_{name}{end}", numbers, CELLS)


@pytest.mark.parametrize(("prefix", "end"), [("keras", ".weights.h5"), ("keras2", "_weights.h5")])
def test_weights_alone(unpacked, prefix, end):
    """Weights without a configuration are those of the whole model, with Keras' activations."""
    whole, weights = (unpacked(f"{prefix}_cells", one)[0] for one in (".keras", end))
    for name in ("gru", "cho", "tanh", "relu", "levels", "cell"):
        asked = CELLS[name] if name in ("tanh", "relu") else None
        loaded = load_model(weights, asked, layer=name)
        assert loaded.digest == load_model(whole, layer=name).digest
        assert loaded.source.endswith("(with Keras' default activations, without masked steps)")
    for name, reason in (("bare", "does not say reset_after"), ("tanh", "say --cell rnn-tanh or")):
        with pytest.raises(InputError, match=reason):
            load_model(weights, layer=name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_torch_to_keras(kind, tmp_path, monkeypatch):
    """The program of the docs gives a Keras layer with torch's outputs, and its weights again."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    page = (FILES.parents[2] / "docs" / "how-to" / "read.md").read_text(encoding="utf-8")
    program = page.partition("```python\ndef keras_weights")[2].partition("```")[0]
    known = {"torch": torch}
    exec(f"def keras_weights{program}", known)
    module, x = kind(2, 3, batch_first=True), torch.randn(2, 7, 2)
    layer = getattr(keras.layers, {"RNN": "SimpleRNN"}.get(kind.__name__, kind.__name__))(
        3, return_sequences=True, name="enc"
    )
    model = keras.Sequential([keras.Input((7, 2)), layer])
    layer.set_weights(known["keras_weights"](module))
    expected = module(x)[0].detach()
    with torch.no_grad():
        assert torch.allclose(model(x).cpu(), expected, rtol=0, atol=1e-6)
    model.save(tmp_path / "m.keras")
    outputs = outputs_of(load_model(tmp_path / "m.keras"), x)
    assert torch.allclose(outputs, expected.double(), rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_masked_steps(kind, tmp_path, monkeypatch):
    """A masked step leaves the state: outputs are those of the inputs that are not masked."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    layer = getattr(keras.layers, kind)(3, return_sequences=True, name="enc")
    model = keras.Sequential([keras.Input((7, 2)), keras.layers.Masking(), layer])
    x = torch.randn(1, 7, 2)
    kept = torch.tensor([True, False, True, True, False, False, True])
    x[:, ~kept] = 0
    model.save(tmp_path / "m.keras")
    loaded = load_model(tmp_path / "m.keras")
    assert loaded.source.endswith("(without masked steps)")
    with torch.no_grad():
        expected = model(x).cpu().double()[:, kept]
    assert torch.allclose(outputs_of(loaded, x[:, kept]), expected, rtol=0, atol=1e-6)
