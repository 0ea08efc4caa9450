"""Quantised weights: folded where each runtime dequantises them to the same bits; exact otherwise,
and called what they are."""

import numpy as np
import pytest
import torch
from refusals import refused

from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.onnx.nodes import NodeError
from rnnbounds.impl.reading.recognition.misfit import WeightsError

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402
from onnx_graphs import graph, lstm, run  # noqa: E402
from onnx_runs import opened, run_stack  # noqa: E402

RNG = np.random.default_rng(0)
COLUMNS = {"X": 2, "R": 3}


def stored(name, array):
    """A constant."""
    return numpy_helper.from_array(np.asarray(array), name)


def integers(*shape, dtype="int8"):
    """Any integers of a type."""
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_dequantised_constants(tmp_path, dtype):
    """A DequantizeLinear of weights by rows makes the float32 of onnxruntime, bit for bit."""
    _, one, parts = lstm()
    q, zero = integers(1, 12, 3, dtype=dtype), integers(12, dtype=dtype)
    scale = RNG.uniform(1e-4, 1e-2, 12).astype("float32")
    held = [stored("q", q), stored("scale", scale), stored("zero", zero)]
    folded = helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["rnn.R"], axis=1)
    constants = [*parts[:1], *parts[2:], *held]
    path = graph(tmp_path / "m.onnx", folded, one, constants=constants, outputs=["rnn.Y"])
    weights = load_model(path).weights["weight_hh"]
    alone = graph(tmp_path / "w.onnx", folded, constants=held, outputs=["rnn.R"])
    session = onnxruntime.InferenceSession(alone, providers=["CPUExecutionProvider"])
    theirs = torch.tensor(session.run(["rnn.R"], {"x": np.zeros((4, 2, 2), "float32")})[0])
    i, o, f, c = theirs[0].chunk(4)
    assert weights.dtype == torch.float32
    assert torch.equal(weights, torch.cat([i, f, c, o]))
    y = run_stack(opened(path).told(None), np.linspace(-1, 1, 16).reshape(4, 2, 2))
    assert np.allclose(y, run(path)[:, 0], atol=1e-6)


def test_dequantised_halves_are_refused(tmp_path):
    """Runtimes round a product in float16 as they like."""
    _, one, parts = lstm()
    held = [stored("q", integers(1, 12, 3)), stored("scale", np.float16(0.1))]
    before = [
        helper.make_node("DequantizeLinear", ["q", "scale"], ["half"]),
        helper.make_node("Cast", ["half"], ["rnn.R"], to=1),
    ]
    path = graph(tmp_path / "m.onnx", *before, one, constants=[*parts[:1], *parts[2:], *held])
    refused(path, NodeError, "is computed by DequantizeLinear in float16, which runtimes round")


def quantised(path, ways=1, columns=True, attributes=(), **changes):
    """A file of onnxruntime's quantised LSTM, and its constants by role."""
    wide, op_ways = (ways, 12) if columns else (ways,), {1: "forward", 2: "bidirectional"}
    parts = {
        "W": integers(ways, 2, 12), "R": integers(ways, 3, 12),
        "B": RNG.uniform(-1, 1, (ways, 24)).astype("float32"),
        "W_scale": RNG.uniform(1e-3, 1e-2, wide).astype("float32"),
        "W_zero": np.zeros(wide, "int8"),
        "R_scale": RNG.uniform(1e-3, 1e-2, wide).astype("float32"),
        "R_zero": np.zeros(wide, "int8"),
    } | changes  # fmt: skip
    inputs = ["x", "W", "R", "B", "", "", "", "", "W_scale", "W_zero", "R_scale", "R_zero"]
    one = helper.make_node(
        "DynamicQuantizeLSTM", inputs, ["rnn.Y"], name="rnn", domain="com.microsoft",
        **{"hidden_size": 3, "direction": op_ways[ways]} | dict(attributes),
    )  # fmt: skip
    graph(path, one, constants=[stored(*one) for one in parts.items()], outputs=["rnn.Y"])
    model = onnx.load(path)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    path.write_bytes(model.SerializeToString())
    return parts


@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("ways", [1, 2])
def test_the_quantised_lstm(tmp_path, ways, columns):
    """Weights s (q − z) in float64, exact; onnxruntime's outputs are near, for x and h too are
    rounded to 8 bits there."""
    path = tmp_path / "m.onnx"
    parts = quantised(path, ways, columns)
    told = opened(path).told(None)
    found = told.tensors["rnn.weight_hh_l0"]
    scale = parts["R_scale"].astype("float64").reshape(ways, 1, -1)
    i, o, f, c = np.split((parts["R"] * scale)[0].T, 4)
    assert found.dtype == torch.float64
    assert np.array_equal(found, np.concatenate([i, f, c, o]))
    x = np.linspace(-1, 1, 16, dtype="float32").reshape(4, 2, 2)
    y = run_stack(told, x).reshape(4, 2, ways, 3).transpose(1, 2)
    assert np.allclose(y, run(path), atol=0.02)


def test_a_quantised_model_says_so(tmp_path):
    """The source in certificates tells what is not in the weights."""
    quantised(tmp_path / "m.onnx")
    model = load_model(tmp_path / "m.onnx")
    assert model.dtype == "float64"
    assert model.source.endswith("(weights dequantised, without the quantisation of x and h)")


def test_quantised_weights_of_no_node(tmp_path):
    """Types and shapes that the operator does not have, and cells that are none."""
    path = tmp_path / "m.onnx"
    for changes, told in (
        ({"W": integers(1, 2, 12, dtype="int16")}, "has weights W .W. that are not quantised as"),
        ({"W_zero": np.zeros((1, 12), "uint8")}, "has weights W .W. that are not quantised as"),
        ({"R_scale": np.ones((1, 12))}, "has weights R .R. that are not quantised as"),
        ({"R_scale": np.ones((2,), "float32")}, "has weights R .R. that are not quantised as"),
        ({"W": integers(1, 2, 8)}, "has weights W .W. that are not quantised as"),
        ({"R": integers(3, 12)}, "has weights R .R. that are not quantised as"),
        ({"B": np.zeros((1, 12), "float32")}, r"weights B .B. of shape \(1, 12\), not \(1, 24\)"),
    ):
        quantised(path, **changes)
        refused(path, NodeError, told)
    for attributes in ({"activations": [0.5]}, {"activations": "Tanh"}, {"direction": 1}):
        quantised(path, attributes=attributes)
        refused(path, NodeError, "is no DynamicQuantizeLSTM that ONNX allows")
    quantised(path, attributes={"clip": 1.0})
    refused(path, NodeError, "has clip, which no cell here has")
    quantised(path)
    refused(path, WeightsError, "the node is lstm, not gru", cell="gru")
