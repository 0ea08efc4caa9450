"""Gated cells and stacks of layers: one model however it is handed over, and what is none."""

import json
import struct

import pytest
import torch
from gated_draws import layer, model
from refusals import refused
from safetensors.torch import save, save_file
from stack_draws import net

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.reading.adapters import load_model

WAYS = [
    *((kind, {"bias": bias}) for kind in (torch.nn.LSTM, torch.nn.GRU) for bias in (True, False)),
    *((kind, {}) for kind in (torch.nn.LSTMCell, torch.nn.GRUCell)),
    (torch.nn.LSTM, {"num_layers": 2, "proj_size": 3}),
]


@pytest.mark.parametrize(("kind", "options"), WAYS)
def test_every_way_of_handing_it_over(kind, options, tmp_path):
    """A module, a larger one, a state dict, both kinds of file: one model."""
    torch.manual_seed(0)
    module = kind(2, 5 if "proj_size" in options else 3, **options)
    torch.save(module.state_dict(), tmp_path / "m.pt")
    save_file(module.state_dict(), tmp_path / "m.safetensors")
    ways = [
        module, torch.nn.Sequential(module), module.state_dict(), tmp_path / "m.pt",
        tmp_path / "m.safetensors", {f"net.{k}": v for k, v in module.state_dict().items()},
    ]  # fmt: skip
    name = "lstm" if "LSTM" in kind.__name__ else "gru"
    asked = (None, name, "stack") if "num_layers" in options else (None, name)
    layer = {id(ways[1]): "0"}
    found = [load_model(way, cell, layer=layer.get(id(way))) for way in ways for cell in asked]
    full = "stacked-lstm-projected" if "num_layers" in options else name
    assert {loaded.name for loaded in found} == {full}
    assert len({loaded.digest for loaded in found}) == 1
    assert (found[0].n, found[0].d, found[0].dtype) == (3, 2, "float32")
    assert load_model(module, name).source == kind.__name__
    assert load_model(found[0], name).digest == found[0].digest
    if full == name:
        assert len(found[0].bias("bias_hh")) == CELLS[name].gates * 3


def test_names_of_stacks():
    """All layers that are named are counted; a cell's name is that of its stack, too."""
    assert load_model(net("gru", 2), "gru").name == "stacked-gru"
    assert load_model(net("gru", 2).state_dict(), "gru-cho").name == "stacked-gru-cho"
    assert load_model(net("gru", 1), "stack").name == "stacked-gru"
    assert load_model(net("rnn-tanh", 2).state_dict(), "linear").name == "stacked-linear"


def test_convention_travels(tmp_path):
    """Cho's GRU is read as such from its file alone; without a word, three gates are torch's."""
    path = tmp_path / "t.safetensors"
    save_truncated(*truncate(layer("gru").state_dict(), eps=1e-2, inputs=1.0, cell="gru-cho"), path)
    assert load_model(path).name == "gru-cho"
    assert load_model(layer("gru").state_dict()).name == "gru"
    assert len({model(cell).digest for cell in ("gru", "gru-cho")}) == 2
    refused(layer("gru"), InputError, "the module is gru, not gru-cho", "gru-cho")
    save_file(layer("gru").state_dict(), path, metadata={"cell": "gru-cho"})
    assert load_model(path).name == "gru-cho"
    assert load_model(path, "gru").name == "gru"


def test_metadata_that_says_nothing_or_lies(tmp_path):
    """null is read as none at all, and is no truncated model; of another cell it is refused."""
    path = tmp_path / "m.safetensors"
    data = save({k: v.contiguous() for k, v in layer("lstm").state_dict().items()})
    length = struct.unpack("<Q", data[:8])[0]
    text = json.dumps(json.loads(data[8 : 8 + length]) | {"__metadata__": None}).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])
    assert load_model(path).name == "lstm"
    with pytest.raises(FileError, match="is not of the format"):
        load_truncated(path)
    weights = {k: v.contiguous() for k, v in layer("gru").state_dict().items()}
    path.write_bytes(save(weights, {"cell": "lstm"}))
    refused(path, InputError, "read it as gru")
    assert load_model(path, "gru").name == "gru"
