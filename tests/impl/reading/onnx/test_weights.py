"""Weights of an ONNX node that are computed: folded where every runtime makes the same bits, as
onnxruntime does, and refused by name elsewhere."""

import numpy as np
import pytest
import torch
from refusals import refused

from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.files import ModelFileError
from rnnbounds.impl.reading.onnx import folding
from rnnbounds.impl.reading.onnx.nodes import NodeError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402
from onnx_graphs import CONSTANTS, FLOAT, filled, graph, ints, lstm, node, op, plain, run  # noqa: E402

WEIGHTS = {
    "Identity": lambda to: [op("Identity", "w", to)],
    "Transpose": lambda to: [
        op("Transpose", "w", "t", perm=[0, 2, 1]), op("Transpose", "t", to, perm=[0, 2, 1])
    ],
    "Mul": lambda to: [op("Mul", "w 4", "t"), op("Div", "t 4", to)],
    "Add": lambda to: [op("Add", "w 0", to)],
    "Neg": lambda to: [op("Neg", "w", "t"), op("Neg", "t", to)],
    "Cast": lambda to: [op("Cast", "w", "t", to=11), op("Cast", "t", to, to=FLOAT)],
    "Unsqueeze": lambda to: [op("Squeeze", "w i0", "t"), op("Unsqueeze", "t i0", to)],
}  # fmt: skip


def computed(path, role, before, *further):
    """The file of an LSTM whose weight of that role is made of w."""
    _, one, parts = lstm()
    place = "WRB".index(role)
    parts[place].name = "w"
    held = [*parts, *CONSTANTS, *further]
    return graph(path, *before, one, constants=held, outputs=["rnn.Y"])


@pytest.mark.parametrize(
    ("made", "role"),
    [(made, role) for made in WEIGHTS for role in "WRB" if (made, role) != ("Transpose", "B")],
)
def test_computed_weights(tmp_path, made, role):
    """Folded where every runtime makes the same bits of them."""
    path = computed(tmp_path / "m.onnx", role, WEIGHTS[made](f"rnn.{role}"))
    assert load_model(path).digest == load_model(lstm()[0]).digest
    assert np.array_equal(run(path), plain(tmp_path / "p.onnx"))


def test_rounded_weights(tmp_path):
    """A product is rounded as onnxruntime rounds it."""
    path = computed(tmp_path / "m.onnx", "R", [op("Mul", "w w", "t"), op("Sqrt", "t", "rnn.R")])
    weight, module = load_model(path).weights["weight_hh"], lstm()[0]
    assert torch.equal(weight, (module.weight_hh_l0 * module.weight_hh_l0).sqrt().detach())
    same = dict(module.state_dict()) | {"weight_hh_l0": weight}
    module.load_state_dict(same)
    one, parts = node(module, "LSTM", "rnn")
    other = graph(tmp_path / "p.onnx", one, constants=parts, outputs=["rnn.Y"])
    assert np.array_equal(run(path), run(other))


def attributed(kind, output, **tensors):
    """A constant node."""
    return helper.make_node(kind, [], [output], **tensors)


def outside():
    """A constant whose data a file holds."""
    tensor = filled("", 0.0, 1)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "passwords"
    return tensor


def sparse():
    """A constant of 2^60 zeros in a few bytes."""
    place = numpy_helper.from_array(np.array([5], "int64"), "")
    return helper.make_sparse_tensor(filled("values", 1.0, 1), place, [2**30, 2**30])


HOSTILE = {
    "huge": ([op("ConstantOfShape", "size", "rnn.R")], "takes more than 67108864 numbers"),
    "wide": ([op("Tile", "w size", "rnn.R")], "takes more than 67108864 numbers|no shape"),
    "many": (
        [op("Neg", f"t{i}" if i else "w", f"t{i + 1}") for i in range(101)]
        + [op("Neg", "t101", "rnn.R")],
        "or 100 nodes",
    ),
    "own": ([helper.make_node("Neg", ["w"], ["rnn.R"], domain="own")], "computed by Neg, which"),
    "random": ([attributed("RandomNormal", "rnn.R", shape=[1, 12, 3])], "by RandomNormal, which"),
    "product": ([op("MatMul", "w w", "rnn.R")], "by MatMul, which runtimes round differently"),
    "failing": ([op("Reshape", "w i8", "rnn.R")], "by a node Reshape that fails|no shape"),
    "unknown": ([op("Neg", "w", "rnn.R", sideways=1)], "by a node Neg that fails"),
    "halves": (
        [op("Cast", "w", "h", to=10), op("Add", "h h", "d"), op("Cast", "d", "rnn.R", to=1)],
        "by Add in float16, which runtimes",
    ),
    "whole": (
        [op("Cast", "w", "h", to=6), op("Cast", "h", "rnn.R", to=1)], "by Cast in int32, which"
    ),
    "outside": (
        [attributed("Constant", "rnn.R", value=outside())],
        r"in another file .passwords., but only .*; save .*external_data",
    ),
    "sparse": ([attributed("Constant", "rnn.R", sparse_value=sparse())], "is a sparse tensor"),
    "the inputs": ([op("Add", "w x", "rnn.R")], "is not made of constants alone"),
}  # fmt: skip


@pytest.mark.parametrize("made", HOSTILE)
def test_weights_that_nobody_computes(tmp_path, monkeypatch, made):
    """Too large, of chance, of a file, of a custom operator: one line, and nothing is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folding, "MOST_NODES", 100)
    (tmp_path / "passwords").write_bytes(bytes(4))
    before, told = HOSTILE[made]
    path = computed(tmp_path / "m.onnx", "R", before, ints("size", 1, 12, 2**40))
    refused(path, NodeError, rf"rnn has weights R .rnn\.R., which .*({told})")


DISORDERED = {
    "circle": ([op("Neg", "t", "rnn.R"), op("Neg", "rnn.R", "t")], "Neg that reads t"),
    "no order": ([op("Neg", "t", "rnn.R"), op("Neg", "w", "t")], "Neg that reads t"),
    "nothing": ([], "rnn that reads rnn.R"),
}


@pytest.mark.parametrize("made", DISORDERED)
def test_graphs_out_of_order(tmp_path, made):
    """A node whose input nothing before it makes is named."""
    before, told = DISORDERED[made]
    path = computed(tmp_path / "m.onnx", "R", before)
    refused(path, ModelFileError, f"has a node {told}, which nothing before it makes; export it")


def test_weights_that_are_inputs(tmp_path):
    """Inputs of the graph are called so; one that has a value in the file has that one."""
    path = tmp_path / "m.onnx"
    _, one, parts = lstm()
    given = [("rnn.W", (FLOAT, [1, 12, 2]))]
    told = r"W \(rnn.W\), which is an input of the graph; export the model with its weights in"
    refused(graph(path, one, constants=parts[1:], inputs=given), NodeError, told)
    assert load_model(graph(path, one, constants=parts, inputs=given)).name == "lstm"


def test_weights_that_are_stored_badly(tmp_path):
    """Two directions, no floats, damaged, in another file."""
    path = tmp_path / "m.onnx"
    _, one, parts = lstm()
    array = numpy_helper.to_array(parts[0])
    for other, told in (
        (array.repeat(2, 0), r"of shape \(2, 12, 2\), not \(1, 12, 2\), that of one direction"),
        (array[:, :11], r"of shape \(1, 11, 2\), not \(1, 12, 2\)"),
        (array[0, 0, 0], r"of shape \(\), not"),
        (array.astype("int32"), "that are no floats"),
    ):
        held = numpy_helper.from_array(np.asarray(other), "rnn.W")
        refused(graph(path, one, constants=[held, *parts[1:]]), NodeError, told)
    short = numpy_helper.from_array(numpy_helper.to_array(parts[2])[:, :23], "rnn.B")
    refused(graph(path, one, constants=[*parts[:2], short]), NodeError, r"not \(1, 24\)")
    parts[0].dims[1] = 2**40
    refused(graph(path, one, constants=parts), NodeError, r"W \(rnn.W\), which is damaged")
    parts[0].data_location = onnx.TensorProto.EXTERNAL
    refused(graph(path, one, constants=parts), NodeError, "lies in another file")


def test_peepholes(tmp_path):
    """Zeros are none, stored or computed; others are refused."""
    path = tmp_path / "m.onnx"
    for value, before, told in (
        (0.0, [op("Identity", "p", "s")], None),
        (5.0, [op("Sub", "p p", "s")], None),
        (0.0, [op("Exp", "p", "s")], "has weights P .s., which is computed by Exp"),
    ):
        _, one, parts = lstm()
        one.input.extend(["", "", "", "s"])
        held = [*parts, filled("p", value, 1, 9)]
        graph(path, *before, one, constants=held, outputs=["rnn.Y"])
        if told is None:
            assert load_model(path).digest == load_model(lstm()[0]).digest
            assert np.array_equal(run(path), plain(tmp_path / "p.onnx"))
        else:
            refused(path, NodeError, told)
    _, one, parts = lstm()
    one.input.extend(["", "", "", "s"])
    held = [*parts, numpy_helper.from_array(np.linspace(-2, 2, 9, dtype="float32")[None], "s")]
    refused(graph(path, one, constants=held), NodeError, "has peepholes, which no cell here has")
