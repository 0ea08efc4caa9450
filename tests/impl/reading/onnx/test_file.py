"""ONNX graphs: what torch exports, node by node, and what is refused of graphs by hand."""

import builtins

import pytest
import torch
from refusals import refused

from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.reading.adapters import layers, load_model

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402
from onnx_graphs import graph, ints, node  # noqa: E402


def written(path, module, op, **attributes):
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
    loaded = load_model(written(tmp_path / "m.onnx", module, op, **attributes))
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
    path = written(tmp_path / "m.bin", torch.nn.GRU(2, 3), "GRU", linear_before_reset=1)
    assert load_model(path).name == "gru"
    usual = builtins.__import__

    def without(name, *more):
        if name.startswith("onnx"):
            raise ImportError(name)
        return usual(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(path, FileError, r"is an ONNX model, .*; pip install 'rnnbounds\[onnx\]', or save")
