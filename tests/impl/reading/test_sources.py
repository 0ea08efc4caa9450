"""Where models come from: parts of bigger ones, factories, and files that hold none."""

import sys
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from refusals import refused
from safetensors.torch import save_file

from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.data import read_data
from rnnbounds.impl.reading.factory import FactoryError
from rnnbounds.impl.reading.files import ModelFileError
from rnnbounds.impl.reading.layers import Layer, layers
from rnnbounds.impl.reading.misfit import WeightsError

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


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("{}:raises", "raises ValueError: of two lines; correct it"),
        ("{}:ends", "raises SystemExit: 0; correct it"),
        ("{}:asks", "raises TypeError: .*missing 1 required.*; correct it"),
        ("{}:number", "returns a int, no model; let it return"),
        ("{}:constant", "is a int, which cannot be called; name a function"),
        ("{}:Whole.nothing", "there is no nothing; name a function"),
        ("broken_{}:make", "cannot be imported .*nothing_of_that_name.*; correct it"),
        ("no.such.module:make", "no.such.module cannot be imported .*; correct it"),
    ],
)
def test_a_factory_that_makes_none(models, made, told):
    """One line each."""
    refused(made.format(models), FactoryError, told)


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
        refused(held, WeightsError, "a.b.bias_hh_l0", layer=layer)
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
        refused(source, WeightsError, "z", layer="z")
    refused(module, WeightsError, "choose one with --layer: x.rnn, y")
    refused(module.state_dict(), WeightsError, r"several cells \(x.rnn, y\); choose one")
    refused(load_model(module, layer="y"), WeightsError, "where it is read", layer="y")


def test_layers(models):
    """Each with its cell and sizes, or why it is not read."""
    first, second = layers(f"{models}:Whole")
    assert first == Layer("encoder.rnn", "stacked-gru", 4, 3, 8, "float32")
    assert second.name == "decoder"
    assert "bidirectional" in str(second.reason)
    assert [one.name for one in layers(f"{models}:state")] == ["encoder.rnn", "decoder"]
    assert [one.name for one in layers(torch.nn.GRU(2, 3))] == ["."]
    held = torch.nn.RNN(2, 3).state_dict()
    assert "--cell" in str(layers(held)[0].reason)
    assert layers(held, "rnn-relu")[0].cell == "rnn-relu"
    assert layers(torch.nn.Linear(2, 3).state_dict()) == ()
    with pytest.raises(WeightsError, match="Linear holds no recurrent module of torch's"):
        layers(torch.nn.Linear(2, 3))


class Mine(torch.nn.Linear):
    """A module that is pickled whole."""


def test_files_of_other_formats(tmp_path):
    """Each is named, and how its weights become a file that is read."""
    np.savez(tmp_path / "w.npz", a=np.ones(3))
    np.save(tmp_path / "w.npy", np.ones(3))
    (tmp_path / "w.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(64))
    torch.save(Mine(2, 2), tmp_path / "whole.pt")
    save_file({"a": torch.ones(1)}, tmp_path / "w.safetensors")
    for name, told in {
        "w.npz": r"NumPy arrays \(.npz\); convert it: safetensors.numpy.save_file",
        "w.npy": "is one NumPy array; save all weights by their names",
        "w.h5": "is an HDF5 file, as Keras writes; save its weights by torch's names",
        "whole.pt": r"wants to run code: \S*Mine is pickled in it.* or name a factory",
        ".": "is no regular file; it is a folder: name a file in it, say .*w.safetensors",
    }.items():
        refused(tmp_path / name, ModelFileError, told)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (bytes(4) + b"TFL3" + bytes(64), "is a TensorFlow Lite model; save the weights of the"),
        (b"MATLAB 5.0 MAT-file, Platform: GLNX86".ljust(128), "is a MATLAB file; save its"),
        (b'{"weight_hh_l0": [[0.5]]}', "is JSON, no file of weights; save its weights by torch's"),
        (b"weight: 0.5, and so on\n", "is text, no file of weights; save its weights by torch's"),
        (b"PAR1" + bytes(64), "is a Parquet file; save its weights"),
        (b"\x1f\x8b" + bytes(64), "is compressed by gzip; unpack it"),
        (bytes(257) + b"ustar" + bytes(512), "is a tar archive; unpack it"),
        (POINTER, "is a pointer of Git LFS, not the file; fetch it with git lfs pull"),
    ],
)
def test_files_that_hold_no_weights(tmp_path, data, told):
    """What they are, by their contents, whatever they are called; none "wants to run code"."""
    for name in ("w", "w.pt", "w.json"):
        (tmp_path / name).write_bytes(data)
        refused(tmp_path / name, ModelFileError, told)
    (tmp_path / "w.zip").write_bytes(data)
    with ZipFile(tmp_path / "w.zip", "w") as archive:
        archive.writestr("w.bin", data)
    refused(tmp_path / "w.zip", ModelFileError, "is a zip archive, .*; unpack it, and name")


@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".onnx", ".npy", ".csv", ".parquet"])
def test_pointers_of_git_lfs(tmp_path, suffix):
    """Weights and data that were not fetched: the remedy is git's."""
    path = tmp_path / f"a{suffix}"
    path.write_bytes(POINTER)
    told = "is a pointer of Git LFS, not the file; fetch it with git lfs pull"
    refused(path, ModelFileError, told)
    if suffix not in (".pt", ".onnx"):
        with pytest.raises(ModelFileError, match=told):
            read_data(path)


@pytest.mark.parametrize("path", ["C:rnn.pt", "D:model", "C:weights.safetensors", "m:net.pth"])
def test_paths_with_a_drive(path, tmp_path, monkeypatch):
    """They name a file, which is not there, and no factory; a module of one letter is one."""
    monkeypatch.chdir(tmp_path)
    refused(path, ModelFileError, "does not exist; name a file of weights")
    (tmp_path / "q.py").write_text(MODELS)
    assert load_model("q:Whole", layer="encoder.rnn").n == 4
    sys.modules.pop("q")


def test_a_pickle_that_holds_itself(tmp_path):
    """It is opened to a depth, and then refused for its names."""
    state = {}
    state["self"] = state
    torch.save(state, tmp_path / "s.pt")
    refused(tmp_path / "s.pt", WeightsError, "but no")
    torch.save({"a": {"b": torch.ones(1)}, "a.b": torch.ones(1)}, tmp_path / "s.pt")
    refused(tmp_path / "s.pt", ValueError, r"two keys that read alike \(a.b\); keep one")
