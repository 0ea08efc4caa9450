import json
import math
import struct

import pytest
import torch
from gated_draws import layer, model
from safetensors.torch import save, save_file

from impl.cells.table import CELLS
from impl.convert.truncate import load_truncated, save_truncated, truncate
from impl.errors import InputError, NotFiniteError, ShapeError
from impl.reading.adapters import load_model
from impl.reading.files import ModelFileError
from impl.reading.misfit import UnsupportedModelError, WeightsError

GATED = ("lstm", "gru", "gru-cho")


def test_convention_travels(tmp_path):
    """Cho's GRU is read as such from its file alone; without a word, three gates are torch's."""
    path = tmp_path / "t.safetensors"
    save_truncated(*truncate(layer("gru").state_dict(), 1e-2, 1.0, cell="gru-cho"), path)
    assert load_model(path).name == "gru-cho"
    assert load_model(layer("gru").state_dict()).name == "gru"
    digests = {model(cell).digest for cell in ("gru", "gru-cho")}
    assert len(digests) == 2
    with pytest.raises(WeightsError, match="the module is gru, not gru-cho"):
        load_model(layer("gru"), "gru-cho")
    save_file(layer("gru").state_dict(), path, metadata={"cell": "gru-cho"})
    assert load_model(path).name == "gru-cho"
    assert load_model(path, "gru").name == "gru"


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.LSTMCell, torch.nn.GRUCell])
@pytest.mark.parametrize("bias", [True, False])
def test_every_way_of_handing_it_over(kind, bias, tmp_path):
    """A module, a larger one, a state dict, both kinds of file: one model."""
    torch.manual_seed(0)
    net = kind(2, 3, bias=bias)
    name = "lstm" if "LSTM" in kind.__name__ else "gru"
    torch.save(net.state_dict(), tmp_path / "m.pt")
    save_file(net.state_dict(), tmp_path / "m.safetensors")
    ways = [
        net, torch.nn.Sequential(net), net.state_dict(), tmp_path / "m.pt",
        tmp_path / "m.safetensors", {f"net.{k}": v for k, v in net.state_dict().items()},
    ]  # fmt: skip
    found = [load_model(way) for way in ways]
    assert {loaded.name for loaded in found} == {name}
    assert len({loaded.digest for loaded in found}) == 1
    assert (found[0].n, found[0].d, found[0].dtype) == (3, 2, "float32")
    assert len(found[0].bias("bias_hh")) == CELLS[name].gates * 3
    assert load_model(net, name).source == kind.__name__


def refused(kind, source, pattern: str, cell: str | None = None) -> None:
    """One line that says what is wrong."""
    with pytest.raises(kind, match=pattern) as caught:
        load_model(source, cell)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


def test_what_is_not_read():
    """Layers of two directions, as modules and as weights; wrong shapes."""
    for kind in (torch.nn.LSTM, torch.nn.GRU):
        both = kind(2, 3, num_layers=2, bidirectional=True)
        refused(UnsupportedModelError, both, "bidirectional")
        refused(UnsupportedModelError, both.state_dict(), "another direction")
    good = torch.nn.LSTMCell(2, 3).state_dict()
    refused(ShapeError, good | {"weight_ih": torch.ones(3, 2)}, r"\(12, d\)")
    refused(ShapeError, good | {"bias_hh": torch.ones(3)}, r"\(12,\)")
    refused(WeightsError, good, r"that of lstm, but gru has \(3n, n\)", "gru")
    refused(WeightsError, good, r"that of lstm, but rnn-tanh has \(n, n\)", "rnn-tanh")
    refused(ShapeError, good | {"weight_hh": torch.ones(7, 3)}, "weight_hh")


@pytest.mark.parametrize("cell", GATED)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("role", ["weight_hh", "weight_ih", "bias_ih", "bias_hh"])
def test_not_finite(cell, value, role):
    """NaN or infinity anywhere is refused."""
    weights = layer(cell).state_dict()
    weights[f"{role}_l0"].flatten()[-1] = value
    refused(NotFiniteError, weights, role, cell)


def test_null_metadata(tmp_path):
    """A header whose metadata is null is read as one without, and is no truncated model."""
    data = save({k: v.contiguous() for k, v in layer("lstm").state_dict().items()})
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length]) | {"__metadata__": None}
    text = json.dumps(header).encode()
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])
    assert load_model(path).name == "lstm"
    with pytest.raises(ModelFileError, match="is not of the format"):
        load_truncated(path)


def test_lying_metadata(tmp_path):
    """Metadata of another cell are refused, with a remedy that helps."""
    weights = {k: v.contiguous() for k, v in layer("gru").state_dict().items()}
    path = tmp_path / "m.safetensors"
    path.write_bytes(save(weights, {"cell": "lstm"}))
    with pytest.raises(WeightsError, match="read it as gru"):
        load_model(path)
    assert load_model(path, "gru").name == "gru"
