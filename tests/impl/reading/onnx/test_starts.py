"""Starts and lengths of an ONNX node that are computed: zeros of its shape are a start from zero,
as onnxruntime has it, and all else is refused by name."""

import numpy as np
import pytest
from refusals import refused

from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.reading.adapters import load_model

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import helper  # noqa: E402
from onnx_graphs import CONSTANTS, FLOAT, N, filled, graph, lstm, op, plain, run, stored  # noqa: E402

INT32 = onnx.TensorProto.INT32
ROLES = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")

SHAPE = [
    op("Shape", "x", "sizes"), op("Gather", "sizes i1", "batch"),
    op("Concat", "i1 batch i3", "shape", axis=0), op("Concat", "i1 batch i8", "shape8", axis=0),
]  # fmt: skip
NIL = [*SHAPE, op("Expand", "0 shape", "z")]
FIRST = op("Slice", "zz i0 i1 i0", "s")
WIDE = [op("Slice", "x i1 i2", "row"), op("Concat", "row row", "rows", axis=2)]

# Each makes the state s, or does not.
ZEROS = {
    "Identity": [op("Identity", "zeros", "s")],
    "Expand": [op("Expand", "0 all", "s")],
    "ConstantOfShape": [op("ConstantOfShape", "all", "s")],
    "Constant": [helper.make_node("Constant", [], ["s"], value=filled("", 0.0, 1, N, 3))],
    "Cast": [op("Cast", "double", "one", to=FLOAT), op("Reshape", "one all", "s")],
    "expanded by the batch": [*SHAPE, op("Expand", "0 shape", "s")],
    "filled by the batch": [*SHAPE, op("ConstantOfShape", "shape", "s")],
    "sliced": [*NIL, op("Concat", "z z", "zz", axis=0), FIRST],
}
OTHERS = {
    "Add": ([op("Add", "fives fives", "s")], "is computed by Add"),
    "Sub": ([op("Sub", "fives zeros", "s")], "is computed by Sub"),
    "NaN": ([op("Div", "zeros zeros", "s")], "is computed by Div"),
    "Exp": ([op("Exp", "zeros", "s")], "is computed by Exp"),
    "Expand": ([op("Expand", "4 all", "s")], "is not 0"),
    "expanded by the batch": ([*SHAPE, op("Expand", "4 shape", "s")], "is not 0"),
    "filled by the batch": (
        [*SHAPE, op("ConstantOfShape", "shape", "s", value=stored("", 1.0))], "is not 0"
    ),
    "added to the batch": ([*NIL, op("Add", "z 4", "s")], "is computed by Add"),
    "joined": ([*NIL, op("Concat", "fives z", "zz", axis=0), FIRST], "is not 0"),
    "the sequence": ([*WIDE, op("Slice", "rows i0 i3 i2", "s")], "is read off the sequence"),
}  # fmt: skip
SHAPES = {
    "stored": ([op("Identity", "zeros8", "s")], r"has the shape \(1, 2, 8\), not \(1, N, 3\)"),
    "filled": ([*SHAPE, op("ConstantOfShape", "shape8", "s")], r"has the shape \(1, N, 8\)"),
    "expanded": ([*SHAPE, op("Expand", "0 shape8", "s")], r"has the shape \(1, N, 8\)"),
    "two": ([op("Identity", "zeros2", "s")], r"has the shape \(2, 2, 3\)"),
    "flat": ([op("Identity", "flat", "s")], r"has the shape \(2, 3\)"),
}
LENGTHS = {
    "stored": [op("Identity", "lengths", "s")],
    "Cast": [op("Cast", "i1", "one", to=INT32), op("Expand", "one i2", "s")],
    "Squeeze": [op("Unsqueeze", "lengths i0", "row"), op("Squeeze", "row i0", "s")],
    "Add": [op("Sub", "lengths lengths", "none"), op("Add", "none lengths", "s")],
    "Range": [op("Range", "start end start", "long"), op("Cast", "long", "s", to=INT32)],
}


def started(path, role, before, inputs=()):
    """The file of an LSTM with s in that role."""
    _, one, parts = lstm()
    place = ROLES.index(role)
    one.input.extend([""] * (place - len(one.input)) + ["s"])
    x = ("x", (FLOAT, ["T", "N", 2]))
    held = [*parts, *CONSTANTS]
    return graph(path, *before, one, constants=held, inputs=[x, *inputs], outputs=["rnn.Y"])


STATES = pytest.mark.parametrize("role", ["initial_h", "initial_c"])


@STATES
@pytest.mark.parametrize("made", ZEROS)
def test_computed_zeros_are_a_start_from_zero(tmp_path, made, role):
    """The same digest as the module, and in onnxruntime the same bits."""
    path = started(tmp_path / "m.onnx", role, ZEROS[made])
    assert load_model(path).digest == load_model(lstm()[0]).digest
    assert np.array_equal(run(path), plain(tmp_path / "p.onnx"))


@STATES
@pytest.mark.parametrize("made", OTHERS)
def test_other_computed_starts_are_refused(tmp_path, made, role):
    """What is not zero moves onnxruntime's outputs; what is not known may."""
    before, told = OTHERS[made]
    path = started(tmp_path / "m.onnx", role, before)
    refused(path, InputError, f"rnn starts from {role} .s., which {told}; .*state dict")
    assert not np.array_equal(run(path), plain(tmp_path / "p.onnx"))


@STATES
@pytest.mark.parametrize("made", SHAPES)
def test_zeros_of_another_shape_are_refused(tmp_path, made, role):
    """onnxruntime refuses to run them, so that nobody knows which network is meant: so exports
    torch an LSTM with a projection."""
    before, told = SHAPES[made]
    path = started(tmp_path / "m.onnx", role, before)
    refused(path, InputError, told)
    with pytest.raises(Exception, match=rf"{role}|Check failed"):
        run(path)


@STATES
def test_starts_of_the_caller(tmp_path, role):
    """A state beside the sequence is the caller's, whole or a layer of it, unless it never fits."""
    for before, shape, good in (
        ([op("Identity", "h", "s")], [1, "N", 3], True),
        ([op("Slice", "h i0 i1 i0", "s")], [2, "N", 3], True),
        ([op("Identity", "h", "s")], [1, "N", 8], False),
        ([op("Identity", "h", "s")], [1, 3], False),
    ):
        path = started(tmp_path / "m.onnx", role, before, [("h", (FLOAT, shape))])
        if good:
            assert load_model(path).name == "lstm"
        else:
            refused(path, InputError, f"starts from {role} .s., which has the shape")
    path = started(tmp_path / "m.onnx", role, [])
    refused(path, FileError, "is no ONNX model that onnx allows .*; export it again")


@pytest.mark.parametrize("made", LENGTHS)
def test_computed_lengths_are_refused(tmp_path, made):
    """After so many inputs a node puts out 0; lengths beside the inputs are the caller's."""
    path = started(tmp_path / "m.onnx", "sequence_lens", LENGTHS[made])
    refused(path, InputError, r"as many inputs as are stored or computed \(s\); leave the lengths")
    assert not np.array_equal(run(path), plain(tmp_path / "p.onnx"))
    given = [("s", (INT32, ["N"]))]
    assert load_model(started(path, "sequence_lens", [], given)).name == "lstm"
