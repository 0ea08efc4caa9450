"""Parameters of flax and equinox against the outputs of these libraries."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from cell_runs import outputs_of

from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.layers import layers
from rnnbounds.impl.reading.sources import tensors_of

FILES = Path(__file__).with_name("files")
CELLS = {
    "SimpleCell": "rnn-tanh", "LSTMCell": "lstm", "OptimizedLSTMCell": "lstm", "GRUCell": "gru",
}  # fmt: skip


def check(folder):
    """Every file gives the outputs that its library gave."""
    numbers = {
        name: torch.from_numpy(one) for name, one in np.load(folder / "jax_outputs.npz").items()
    }
    for path in sorted(folder.glob("jax_*_*Cell.*")):
        _, library, name = path.stem.split("_")
        loaded = load_model(path, CELLS[name] if name == "SimpleCell" else None)
        assert loaded.name == CELLS[name]
        assert loaded.source.endswith("activations)") == (library != "equinox")
        close(outputs_of(loaded, numbers["x"]), numbers[f"{library}_{name}"])
    for end in (".msgpack", ".npz"):
        path = folder / f"jax_model{end}"
        held = tensors_of(path)
        gru, lstm = "params.GRUCell_0", "params.OptimizedLSTMCell_0"
        assert [one.name for one in layers(path)] == [gru, lstm]
        x = held["params.Embed_0.weight"][numbers["words"].long()]
        y = outputs_of(load_model(path, layer=gru), x)
        read = load_model(path, layer=lstm, readout="params.Dense_0")
        y = outputs_of(read, y)
        close(y, numbers["model"])
        (C,) = read.readout.tensors.values()
        close(y @ C.double().T + held["params.Dense_0.bias"], numbers["head"])


def close(ours, theirs):
    """Equal to what float32 rounds."""
    assert torch.allclose(ours, theirs.double(), rtol=0, atol=1e-6)


def test_files():
    """Those that the libraries wrote once."""
    assert len(list(FILES.glob("jax_*_*Cell.*"))) == 10
    check(FILES)


@pytest.mark.slow
def test_libraries(tmp_path):
    """Those that they write now."""
    for name in ("jax", "flax", "equinox"):
        pytest.importorskip(name)
    spec = importlib.util.spec_from_file_location("make_jax", FILES.with_name("make_jax.py"))
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.write(tmp_path)
    check(tmp_path)
