"""ONNX graphs: nodes as torch exports them, weights beside a file, and what is refused of graphs by
hand."""

import builtins
import os

import pytest
import torch
from refusals import refused

from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.reading.adapters import layers, load_model

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402
from onnx_graphs import graph, ints, lstm, node  # noqa: E402


def of_node(path, module, op, **attributes):
    """The file of one node."""
    one, constants = node(module, op, "rnn", **attributes)
    return graph(path, one, constants=constants)


CASES = [
    (torch.nn.GRU(2, 3), "GRU", "gru", {"linear_before_reset": 1}),
    (torch.nn.GRU(2, 3), "GRU", "gru-cho", {}),
    (torch.nn.LSTM(2, 3), "LSTM", "lstm", {"input_forget": 0}),
    (torch.nn.RNN(2, 3), "RNN", "rnn-tanh", {}),
    (torch.nn.RNN(2, 3, nonlinearity="relu"), "RNN", "rnn-relu", {"activations": ["Relu"]}),
]


@pytest.mark.parametrize(("module", "op", "cell", "attributes"), CASES, ids=lambda x: str(x)[:8])
def test_nodes(tmp_path, module, op, cell, attributes):
    """The gates come in torch's order, exactly, and the node says which cell it is."""
    loaded = load_model(of_node(tmp_path / "m.onnx", module, op, **attributes))
    assert loaded.name == cell
    assert loaded.digest == load_model(module.state_dict(), cell).digest
    assert loaded.tensors["weight_hh"] == "rnn.weight_hh_l0"
    assert layers(tmp_path / "m.onnx")[0].cell == cell
    if cell == "gru-cho":
        refused(tmp_path / "m.onnx", InputError, "the node is gru-cho, not gru", cell="gru")


def test_nodes_that_branch(tmp_path):
    """Of two that one feeds, the second is a layer of its own."""
    torch.manual_seed(0)
    first, second, third = (torch.nn.GRU(size, 3) for size in (2, 3, 3))
    usual = {"linear_before_reset": 1}
    one, a = node(first, "GRU", "a", **usual)
    flat = helper.make_node("Squeeze", ["a.Y", "i1"], ["flat"])
    two, b = node(second, "GRU", "b", "flat", **usual)
    three, c = node(third, "GRU", "c", "flat", **usual)
    path = graph(tmp_path / "m.onnx", one, flat, two, three, constants=[*a, *b, *c, ints("i1", 1)])
    assert [(one.name, one.cell) for one in layers(path)] == [("a", "stacked-gru"), ("c", "gru")]
    assert load_model(path, layer="c").digest == load_model(third).digest
    refused(path, InputError, "2 recurrent nodes or stacks; choose one with --layer: a, c")
    refused(path, InputError, "choose one", layer="b")
    three.input[0], three.name = "a.Y_h", "a"
    refused(graph(path, one, three, constants=[*a, *c]), InputError, "two nodes are named a")


def test_without_the_package(tmp_path, monkeypatch):
    """The extra is named, also for a file of another name."""
    path = of_node(tmp_path / "m.bin", torch.nn.GRU(2, 3), "GRU", linear_before_reset=1)
    assert load_model(path).name == "gru"
    usual = builtins.__import__

    def without(name, *more):
        if name.startswith("onnx"):
            raise ImportError(name)
        return usual(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(path, FileError, r"is an ONNX model, .*; pip install 'rnnbounds\[onnx\]', or save")


def beside(folder, convert=True):
    """A model whose weights lie in w.data beside it, and these as TensorProtos."""
    _, one, parts = lstm()
    path = graph(folder / "m.onnx", one, constants=parts, outputs=["rnn.Y"])
    if convert:
        given = {"location": "w.data", "size_threshold": 0, "convert_attribute": False}
        onnx.save_model(onnx.load(path), path, save_as_external_data=True, **given)
    return path


def with_entries(path, **entries):
    """The file with other entries of its recurrent weights: None leaves one out."""
    model = onnx.load(path, load_external_data=False)
    tensor = next(one for one in model.graph.initializer if one.name == "rnn.R")
    told = {one.key: one.value for one in tensor.external_data} | entries
    del tensor.external_data[:]
    for key, value in told.items():
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    path.write_bytes(model.SerializeToString())
    return path


def test_weights_beside_the_file(tmp_path, monkeypatch):
    """As in the file itself, wherever the process is; length and offset may be left out."""
    path = beside(tmp_path)
    expected = load_model(lstm()[0]).digest
    assert load_model(path).digest == expected
    assert load_model(with_entries(path, length=None)).digest == expected
    monkeypatch.chdir(tmp_path)
    assert load_model("m.onnx").digest == expected


ENTRIES = {
    "below": ({"location": "sub/w.data"}, "not regular file"),
    "nul": ({"location": "w\0.data"}, "not read"),
    "itself": ({"location": "."}, "not regular file"),
    "nothing": ({"location": None}, "not be empty"),
    "elsewhere": ({"location": "other.data"}, "not regular file"),
    "long": ({"location": "w" * 300}, "too long"),
    "behind": ({"offset": 10**6}, "exceeds file size"),
    "far": ({"offset": 2**62}, "exceeds file size"),
    "negative": ({"offset": -4}, "non-negative"),
    "text": ({"offset": "0x10"}, "invalid literal"),
    "short": ({"length": 4}, "in other bytes than its shape takes"),
    "huge": ({"length": "9" * 30}, "in other bytes than its shape takes"),
    "unknown": ({"checksum": "0" * 40}, "by entries that are not read"),
}


@pytest.mark.parametrize("made", ENTRIES)
def test_data_that_is_not_read(tmp_path, made):
    """Outside of the folder, missing, of another size: one line with the way out."""
    entries, told = ENTRIES[made]
    path = with_entries(beside(tmp_path), **entries)
    refused(path, InputError, f"rnn has weights R .rnn.R., which .*{told}.*; save the model with")


def test_files_that_are_no_regular_ones(tmp_path):
    """No link is followed, a pipe is not waited for, and a folder is none."""
    path = beside(tmp_path)
    data, secret = tmp_path / "w.data", tmp_path / "secret"
    data.rename(secret)
    data.symlink_to(secret)
    refused(path, InputError, "in w.data, which is not read beside .*symbolic link")
    data.unlink()
    os.mkfifo(data)
    refused(path, InputError, "in w.data, which is not read beside .*not regular file")
    data.unlink()
    data.mkdir()
    refused(path, InputError, "in w.data, which is not read beside .*not regular file")


def test_shapes_that_nobody_reads(tmp_path):
    """No memory is taken for a shape alone, nor for types without a fixed size."""
    for dims, kind in (([1, 12, 2**40], 1), ([1, 12, -3], 1), ([1, 12, 3], 8), ([1, 12, 300], 1)):
        path = beside(tmp_path)
        model = onnx.load(path, load_external_data=False)
        tensor = next(one for one in model.graph.initializer if one.name == "rnn.R")
        tensor.dims[:], tensor.data_type = dims, kind
        path.write_bytes(model.SerializeToString())
        refused(path, InputError, "in other bytes than its shape takes")
    tensor.data_type = 0
    path.write_bytes(model.SerializeToString())
    refused(path, InputError, "")
