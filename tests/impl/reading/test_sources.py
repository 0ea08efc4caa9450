"""Sources of models: one model however it is handed over, parts of bigger ones, factories."""

import json
import struct
import sys

import pytest
import torch
from draws import state
from gated_draws import layer
from refusals import refused
from safetensors.torch import save, save_file

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.models.loaded import digest
from rnnbounds.impl.reading.adapters import Layer, layers, load_model

WAYS = [
    *((kind, {"bias": bias}) for kind in (torch.nn.LSTM, torch.nn.GRU) for bias in (True, False)),
    *((kind, {}) for kind in (torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNN)),
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
    name = {"LSTM": "lstm", "GRU": "gru", "RNN": "rnn-tanh"}[kind.__name__.removesuffix("Cell")]
    asked = (None, name, "stack") if "num_layers" in options else (None, name)
    asked = (name,) if kind is torch.nn.RNN else asked
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


@pytest.mark.parametrize("lost", [(), ("bias_hh",), ("bias_ih", "bias_hh")], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_are_converted_exactly(dtype, lost):
    """RNN's and RNNCell's names below a prefix, in every float dtype, with its biases or without;
    both of these stay at hand, as their sum may round."""
    for suffix in ("_l0", ""):
        weights = {role: w for role, w in state(dtype=dtype, suffix="").items() if role not in lost}
        held = {f"model.rnn.{role}{suffix}": part for role, part in weights.items()}
        loaded = load_model(held | {"readout.weight": torch.ones(1, 3)}, "rnn-tanh")
        zero = torch.zeros(3, dtype=torch.float64)
        both = [weights.get(role, zero).double() for role in ("bias_ih", "bias_hh")]
        assert torch.equal(loaded.cell.W[0], weights["weight_hh"].double())
        assert torch.equal(loaded.cell.U[0], weights["weight_ih"].double())
        assert torch.equal(loaded.cell.b[0], both[0] + both[1])
        assert [loaded.bias(role) for role in ("bias_ih", "bias_hh")] == [b.tolist() for b in both]
        assert (loaded.dtype, loaded.n, loaded.d) == (str(dtype).removeprefix("torch."), 3, 2)


def test_digest_tells_models_apart():
    """Any change of cell, weights, dtype or shape changes the digest."""
    weights = {key.removesuffix("_l0"): part for key, part in state().items()}
    other = weights | {"bias_hh": torch.nextafter(weights["bias_hh"], torch.tensor(9.0))}
    wide = {role: part.double() for role, part in weights.items()}
    less = {role: part for role, part in weights.items() if role != "bias_hh"}
    names = [("rnn-relu", weights), *(("rnn-tanh", w) for w in (weights, other, wide, less))]
    assert len({digest(name, part) for name, part in names}) == 5


def test_a_file_says_its_cell(tmp_path):
    """A truncated model's certificate does, or the metadata of another file, over which the word of
    the caller wins; without a word, three gates are torch's, and layers make a stack."""
    path, weights = tmp_path / "t.safetensors", layer("gru").state_dict()
    save_truncated(*truncate(weights, eps=1e-2, inputs=1.0, cell="gru-cho"), path)
    for cell in (None, "gru-cho", "stack", "stacked-gru-cho"):
        assert load_model(path, cell).name.removeprefix("stacked-") == "gru-cho"
    refused(path, InputError, "the file is gru-cho, not gru; leave the cell", "gru")
    refused(layer("gru"), InputError, "the module is gru, not gru-cho", "gru-cho")
    save_file(weights, path, metadata={"cell": "gru-cho"})
    assert load_model(path).name == "gru-cho"
    assert load_model(path, "gru").name == load_model(weights).name == "gru"
    deep = torch.nn.RNN(2, 3, num_layers=2).state_dict()
    assert load_model(deep, "rnn-tanh").name == "stacked-rnn-tanh"
    assert load_model(weights, "stack").name == "stacked-gru"


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


MODELS = """
import torch
print("loud")

class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.encoder = torch.nn.ModuleDict({"rnn": torch.nn.GRU(3, 4, num_layers=2)})
        self.decoder = torch.nn.LSTM(3, 4, bidirectional=True)
        self.head = torch.nn.Linear(4, 2)

def state(): return Whole().state_dict()
def raises(): raise ValueError("of\\ntwo lines")
def ends(): raise SystemExit(0)
def asks(size): return Whole()
def number(): return 3
ready, constant = Whole(), 3
"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A module of the user's in the current folder, of a name of its own, and what it makes."""
    name = f"models_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODELS)
    (tmp_path / f"broken_{name}.py").write_text("import nothing_of_that_name")
    monkeypatch.chdir(tmp_path)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize("made", ["Whole", "state", "ready"])
def test_a_factory(models, capsys, made):
    """A class, a function and what stands there; standard output stays free, the path as it was."""
    path = list(sys.path)
    loaded = load_model(f"{models}:{made}", layer="encoder.rnn")
    assert (loaded.name, loaded.n, loaded.source) == ("stacked-gru", 4, f"{models}:{made}")
    assert capsys.readouterr() == ("", "loud\n")
    assert sys.path == path


def test_a_file_comes_before_a_factory(tmp_path, monkeypatch):
    """What a file is called does not run code."""
    monkeypatch.chdir(tmp_path)
    torch.save(torch.nn.GRU(2, 3).state_dict(), "os:getcwd")
    assert load_model("os:getcwd").name == "gru"


def whole():
    """A state dict of three cells: at the root, below a prefix, and below that."""
    parts = {"": torch.nn.GRUCell(2, 3), "a.": torch.nn.LSTM(3, 4), "a.b.": torch.nn.GRU(3, 5)}
    named = {
        f"{at}{name}": w for at, part in parts.items() for name, w in part.state_dict().items()
    }
    return named | {"head.weight": torch.ones(1, 3)}


@pytest.mark.parametrize(("layer", "n"), [(".", 3), ("a", 4), ("a.b", 5)])
def test_a_part_of_a_bigger_model(tmp_path, layer, n):
    """By its prefix, from a state dict, a file and a checkout; what is elsewhere is listed."""
    held = whole()
    torch.save({"epoch": 3, "model": held, "optimizer": {"state": {0: {}}}}, tmp_path / "c.pt")
    if layer == "a":  # what lies below a cell's own prefix belongs to it
        del held["a.b.weight_hh_l0"]
        refused(held, InputError, "a.b.bias_hh_l0", layer=layer)
        held = {name: part for name, part in held.items() if not name.startswith("a.b")}
    loaded = load_model(held, layer=layer)
    assert loaded.n == n
    assert "head.weight" in loaded.unread
    if layer == "a.b":
        assert load_model(tmp_path / "c.pt", layer="model.a.b").digest == loaded.digest
        assert "epoch" in load_model(tmp_path / "c.pt", layer="model.a.b").unread


def test_the_only_cell_below_a_prefix():
    """A prefix that no other cell shares is enough, in a module too."""
    module = torch.nn.ModuleDict(
        {"x": torch.nn.ModuleDict({"rnn": torch.nn.GRU(2, 3)}), "y": torch.nn.LSTM(2, 3)}
    )
    for source in (module, module.state_dict()):
        assert load_model(source, layer="x").name == "gru"
        assert load_model(source, layer="y").name == "lstm"
        refused(source, InputError, "z", layer="z")


def test_layers(models):
    """Each with its cell and sizes, or why it is not read."""
    first, *second = layers(f"{models}:Whole")
    assert first == Layer("encoder.rnn", "stacked-gru", 4, 3, 8, "float32")
    sizes = "lstm", 4, 3, 8, "float32"
    assert second == [Layer("decoder", *sizes, direction=w) for w in ("forward", "backward")]
    names = [one.name for one in layers(f"{models}:state")]
    assert names == ["encoder.rnn", "decoder", "decoder"]
    assert [one.name for one in layers(torch.nn.GRU(2, 3))] == ["."]
    held = torch.nn.RNN(2, 3).state_dict()
    assert "--cell" in str(layers(held)[0].reason)
    assert layers(held, "rnn-relu")[0].cell == "rnn-relu"
    assert layers(torch.nn.Linear(2, 3).state_dict()) == ()
    with pytest.raises(InputError, match="Linear holds no recurrent module of torch's"):
        layers(torch.nn.Linear(2, 3))
