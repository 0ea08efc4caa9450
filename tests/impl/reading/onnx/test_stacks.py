"""Which nodes between two layers relay alone, so that these are one stack: and which do not."""

import numpy as np
import pytest
import torch

from rnnbounds.impl.reading.adapters import layers

onnx = pytest.importorskip("onnx")
from onnx import numpy_helper  # noqa: E402
from onnx_graphs import CONSTANTS, FLOAT, graph, node, op, stored  # noqa: E402
from onnx_runs import opened  # noqa: E402

torch.manual_seed(0)
BELOW, ABOVE = torch.nn.GRU(2, 3), torch.nn.GRU(3, 3)
SIZES = [
    numpy_helper.from_array(np.array(one, "int64"), name)
    for name, one in {
        "(0,0,-1)": [0, 0, -1], "(4,2,3)": [4, 2, 3], "(2,4,3)": [2, 4, 3], "(-1,2,3)": [-1, 2, 3],
        "(8,3)": [8, 3], "(-1)": [-1], "none": [],
    }.items()
]  # fmt: skip
SIZES += [
    numpy_helper.from_array(np.array(True), "training"), stored("half", 0.5),
    numpy_helper.from_array(np.float32(0.5), "ratio"),
]  # fmt: skip
FLAT = op("Squeeze", "a.Y i1", "lower")  # (T, N, 3)
OTHER = {1: FLOAT, 10: onnx.TensorProto.FLOAT16, 11: onnx.TensorProto.DOUBLE}


def cast(fed, to, output):
    """A node that makes another type of a value."""
    return op("Cast", fed, output, to=OTHER[to])


TURNED = op("Transpose", "a.Y", "turned", perm=[0, 2, 1, 3])
NEW = [  # as torch's new exporter has it
    TURNED, op("Shape", "turned", "sizes"), op("Slice", "sizes i0 i2", "front"),
    op("Slice", "sizes i2 i3", "ways"), op("Slice", "sizes i3 i8", "width"),
    op("Mul", "ways width", "product"), op("Reshape", "product (-1)", "last"),
    op("Concat", "front last", "target", axis=0), op("Reshape", "turned target", "y"),
]  # fmt: skip
RELAYS = {
    "Squeeze": [op("Squeeze", "a.Y i1", "y")],
    "Identity": [FLAT, op("Identity", "lower", "y")],
    "Dropout": [FLAT, op("Dropout", "lower ratio", "y")],
    "Reshape": [TURNED, op("Reshape", "turned (0,0,-1)", "y")],
    "known sizes": [TURNED, op("Reshape", "turned (4,2,3)", "y")],
    "by Shape": NEW,
}
ENDS = {
    "Add": [FLAT, op("Add", "lower half", "y")],
    "Relu": [FLAT, op("Relu", "lower", "y")],
    "Dropout": [FLAT, op("Dropout", "lower ratio training", "y")],
    "halves": [FLAT, cast("lower", 10, "narrow"), cast("narrow", 1, "y")],
    "Transpose": [FLAT, op("Transpose", "lower", "y", perm=[1, 0, 2])],
    "Reshape": [FLAT, op("Reshape", "lower (2,4,3)", "y")],
    "time and batch": [TURNED, op("Reshape", "turned (2,4,3)", "y")],
    "not turned": [op("Reshape", "a.Y (4,2,3)", "y")],
    "sizes of another": [TURNED, op("Shape", "other", "sizes"), op("Reshape", "turned sizes", "y")],
    "another order": [op("Transpose", "a.Y", "t", perm=[2, 0, 1, 3]),
                      op("Reshape", "t (0,0,-1)", "y")],
    "the last": [op("Unsqueeze", "a.Y_h none", "y")],
    "reversed": [FLAT, op("Slice", "lower i8 i0 i0", "y")],
}  # fmt: skip


def between(path, nodes, sizes=(4, 2, 2)):
    """A file of two layers with nodes between them that read a.Y and make y."""
    usual = {"linear_before_reset": 1}
    one, a = node(BELOW, "GRU", "a", **usual)
    two, b = node(ABOVE, "GRU", "b", "y", **usual)
    inputs = [("x", (FLOAT, sizes)), ("other", (FLOAT, (2, 4, 3)))]
    return graph(path, one, *nodes, two, constants=[*a, *b, *CONSTANTS, *SIZES], inputs=inputs)


@pytest.mark.parametrize("made", RELAYS)
def test_nodes_that_relay(tmp_path, made):
    """The two layers are one stack."""
    path = between(tmp_path / "m.onnx", RELAYS[made])
    assert [(one.name, one.cell) for one in layers(path)] == [("a", "stacked-gru")]


@pytest.mark.parametrize("made", ENDS)
def test_nodes_that_do_more(tmp_path, made):
    """The layers are listed apart."""
    path = between(tmp_path / "m.onnx", ENDS[made])
    assert [(one.name, one.cell) for one in layers(path)] == [("a", "gru"), ("b", "gru")]


def test_sizes_that_are_not_known(tmp_path):
    """Sizes that the file does not say are equal by name: what joins at some alone ends the
    stack."""
    for made, count in (("by Shape", 1), ("Reshape", 1), ("known sizes", 2)):
        path = between(tmp_path / "m.onnx", RELAYS[made], ["T", "N", 2])
        assert len(opened(path).parts) == count


@pytest.mark.parametrize(
    "other", [{"direction": "reverse"}, {"linear_before_reset": 0}, {"clip": 1.0}]
)
def test_layers_of_other_kinds(tmp_path, other):
    """A stack is of one cell in one direction."""
    one, a = node(BELOW, "GRU", "a", linear_before_reset=1)
    two, b = node(ABOVE, "GRU", "b", "lower", **({"linear_before_reset": 1} | other))
    path = graph(tmp_path / "m.onnx", one, FLAT, two, constants=[*a, *b, *CONSTANTS])
    assert opened(path).parts == ("a", "b")
