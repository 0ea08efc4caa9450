"""Sources of models: parts of bigger ones, factories, and files that hold none."""

import sys

import pytest
import torch
from refusals import refused

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import Layer, layers, load_model

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
