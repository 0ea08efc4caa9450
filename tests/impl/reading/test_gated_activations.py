"""Layers of ONNX by the activations that they name, run beside onnxruntime."""

import numpy as np
import pytest
import torch

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.reading.recognition.gated_activations import (
    UnreadActivationError,
    cell_for,
)

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402

ORDER = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}  # ours among ONNX's blocks of rows
n, d, T, N = 3, 2, 6, 4

NODES = [
    ("LSTM", (), (), (), True, False),
    ("LSTM", ("HardSigmoid", "tanh", "TANH"), (), (), False, False),
    ("LSTM", ("HardSigmoid", "LeakyRelu", "ScaledTanh"), (0.25, 0.3, 0.5), (0.4, 1.5), True, False),
    ("LSTM", ("Sigmoid", "Relu", "Affine"), (0.75,), (0.125,), False, False),
    ("LSTM", ("sigmoid", "Softplus", "Elu"), (), (), True, False),
    ("GRU", ("HardSigmoid", "Relu"), (), (), False, True),
    ("GRU", ("HardSigmoid", "Tanh"), (0.3,), (), False, False),
    ("GRU", ("Sigmoid", "LeakyRelu"), (0.125,), (), False, True),
    ("GRU", ("Sigmoid", "Relu"), (), (), False, False),
    ("GRU", ("Sigmoid", "SoftSign"), (), (), False, True),
    ("RNN", ("Elu",), (), (), False, False),
    ("RNN", ("Affine",), (1.0,), (0.0,), False, False),
]


def drawn(op: str, seed: int, peeping: bool) -> dict[str, np.ndarray]:
    """The inputs of a node of one direction, in float32."""
    by, gates = np.random.default_rng(seed), len(ORDER[op])
    shapes = {
        "X": (T, N, d),
        "W": (1, gates * n, d),
        "R": (1, gates * n, n),
        "B": (1, 2 * gates * n),
    }
    if peeping:
        shapes["P"] = (1, 3 * n)
    return {name: (0.7 * by.standard_normal(shape)).astype("float32")
            for name, shape in shapes.items()}  # fmt: skip


def outputs_of_onnxruntime(op, arrays, activations, alphas, betas, linear) -> np.ndarray:
    """Y (T, N, n) of a graph of one node."""
    told = {"hidden_size": n, "activations": activations, "activation_alpha": alphas,
            "activation_beta": betas}  # fmt: skip
    told = {name: value for name, value in told.items() if value != ()}
    if op == "GRU":
        told["linear_before_reset"] = int(linear)
    names = ["X", "W", "R", "B", *(["", "", "", "P"] if "P" in arrays else [])]
    node = helper.make_node(op, names, ["Y"], **told)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, a.shape)
             for name, a in arrays.items()]  # fmt: skip
    Y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, (T, 1, N, n))
    graph = helper.make_graph([node], "one", infos, [Y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])  # fmt: skip
    return session.run(None, arrays)[0][:, 0]


def outputs(cell: str, weights: dict[str, torch.Tensor], x: np.ndarray) -> np.ndarray:
    """h_1, …, h_T of the cell in float64, (T, N, n)."""
    kind = kind_of(cell)
    held = {name: part.double() for name, part in weights.items()}
    s = torch.zeros(x.shape[1], kind.layout(held).sizes(held).state, dtype=torch.float64)
    found = []
    for row in torch.from_numpy(x).double():
        s = kind.step(held, kind.drive(held, row), s)
        found.append(s[:, -n:])
    return torch.stack(found).numpy()


def in_our_order(op: str, rows: np.ndarray) -> torch.Tensor:
    """The blocks of rows in torch's order of gates."""
    blocks = np.split(rows, len(ORDER[op]))
    return torch.from_numpy(np.concatenate([blocks[place] for place in ORDER[op]]))


@pytest.mark.parametrize(("op", "names", "alphas", "betas", "peeping", "linear"), NODES)
def test_nodes_as_onnxruntime_runs_them(op, names, alphas, betas, peeping, linear):
    """Outputs to float32's roundings; without its activations a cell's run is another one."""
    arrays = drawn(op, 1, peeping)
    P = torch.from_numpy(arrays["P"][0]) if peeping else None
    cell, peepholes = cell_for(op, names, alphas, betas, P, linear)
    b_ih, b_hh = np.split(arrays["B"][0], 2)
    weights = {
        "weight_ih": in_our_order(op, arrays["W"][0]), "bias_ih": in_our_order(op, b_ih),
        "weight_hh": in_our_order(op, arrays["R"][0]), "bias_hh": in_our_order(op, b_hh),
        **peepholes,
    }  # fmt: skip
    expected = outputs_of_onnxruntime(op, arrays, names, alphas, betas, linear)
    np.testing.assert_allclose(outputs(cell, weights, arrays["X"]), expected, rtol=0, atol=2e-6)
    plain, own = kind_of({"LSTM": "lstm", "GRU": "gru", "RNN": "rnn-tanh"}[op]), weights.copy()
    for name in peepholes:
        del own[name]
    other = outputs(plain.name, own, arrays["X"])
    assert np.abs(other - expected).max() > 1e-2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("LSTM", ("Sigmoid", "Tanh")), "2 activations, not 3"),
        (("LSTM", ("Tanh", "Tanh", "Tanh")), "gates with tanh"),
        (("RNN", ("Softsign",)), "which no vanilla cell has"),
        (("GRU", ("Sigmoid", "ThresholdedRelu")), "the activation ThresholdedRelu"),
        (("GRU", ("Sigmoid", "Elu"), (2.0,)), "an α that is not 1"),
        (("GRU", ("Sigmoid", "Affine"), (2.0,)), "without its α and β"),
        (("GRU", ("Sigmoid", "Tanh"), (2.0,)), "more α or β"),
        (("GRU", ("Sigmoid", "LeakyRelu"), (float("nan"),)), "not finite"),
        (("RNN", ("HardSigmoid",)), "which no vanilla cell has"),
    ],
)
def test_nodes_that_no_cell_computes(arguments, what):
    """Each by its own name, in one line."""
    with pytest.raises(UnreadActivationError, match=what) as told:
        cell_for(*arguments)
    assert "\n" not in str(told.value)


def test_peepholes_of_zeros_are_none():
    """A node may have the input and no peepholes."""
    assert cell_for("LSTM", peepholes=torch.zeros(9)) == ("lstm", {})


def test_the_usual_activations_are_the_plain_cells():
    """In whatever case they are written."""
    names = ("SIGMOID", "tanh", "Tanh")
    assert cell_for("LSTM", names)[0] == "lstm"
    assert cell_for("GRU", names[:2], linear_before_reset=True)[0] == "gru"
    assert cell_for("GRU")[0] == "gru-cho"
    assert cell_for("RNN")[0] == "rnn-tanh"
