"""ONNX graphs by hand: nodes of torch's modules in ONNX's order of gates, constants, files of them;
and what onnxruntime makes of these."""

import numpy as np
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

N, T = 2, 4
X = np.linspace(-1, 1, T * N * 2, dtype="float32").reshape(T, N, 2)
FLOAT = TensorProto.FLOAT
ORDER = {"RNN": "h", "LSTM": "ifco", "GRU": "rzh"}
THEIRS = {"RNN": "h", "LSTM": "iofc", "GRU": "zrh"}


def constant(name, part):
    """A stored tensor."""
    return numpy_helper.from_array(part.detach().numpy(), name)


def turned(op, part):
    """A tensor of torch's in ONNX's order, by the definition of the operator."""
    blocks = dict(zip(ORDER[op], part.chunk(len(ORDER[op])), strict=True))
    return torch.cat([blocks[gate] for gate in THEIRS[op]])


def node(module, op, name, fed="x", **attributes):
    """A node of a module's weights, and its constants."""
    held = {key: turned(op, part) for key, part in module.state_dict().items()}
    both = torch.cat([held["bias_ih_l0"], held["bias_hh_l0"]])
    parts = {"W": held["weight_ih_l0"], "R": held["weight_hh_l0"], "B": both}
    inputs = [fed, *(f"{name}.{part}" for part in parts)]
    given = {"hidden_size": module.hidden_size, **attributes}
    made = helper.make_node(op, inputs, [f"{name}.Y", f"{name}.Y_h"], name=name, **given)
    return made, [constant(f"{name}.{part}", held[None]) for part, held in parts.items()]


def graph(path, *nodes, constants=(), functions=(), inputs=(), outputs=()):
    """The file of a graph that reads x; inputs: others by name, outputs: names."""
    kinds = {"x": (TensorProto.FLOAT, ["T", "N", 2])} | dict(inputs)
    given = [helper.make_tensor_value_info(name, *kind) for name, kind in kinds.items()]
    put_out = [helper.make_empty_tensor_value_info(name) for name in outputs]
    made = helper.make_graph(list(nodes), "g", given, put_out, list(constants))
    opset = [helper.make_opsetid("", 21)]
    model = helper.make_model(made, functions=list(functions), opset_imports=opset, ir_version=10)
    path.write_bytes(model.SerializeToString())
    return path


def stored(name, *values, dtype="float32"):
    """A constant vector."""
    return numpy_helper.from_array(np.array(values, dtype=dtype), name)


def filled(name, value, *shape):
    """A constant of one value."""
    return numpy_helper.from_array(np.full(shape, value, "float32"), name)


def op(kind, inputs, output, **attributes):
    """A node of one output."""
    return helper.make_node(kind, inputs.split(), [output], **attributes)


def ints(name, *values):
    """A constant shape, or a constant index."""
    return stored(name, *values, dtype="int64")


# A shape (1, N, 3), and one of eight units, with the batch read off the sequence.
CONSTANTS = [
    ints("all", 1, N, 3), *(ints(f"i{number}", number) for number in (0, 1, 2, 3, 8)),
    filled("zeros", 0.0, 1, N, 3), filled("fives", 5.0, 1, N, 3),
    filled("0", 0.0), filled("4", 4.0),
    numpy_helper.from_array(np.int64(1), "start"), numpy_helper.from_array(np.int64(3), "end"),
    stored("double", *[0.0] * 3 * N, dtype="float64"), stored("lengths", 2, 1, dtype="int32"),
    filled("zeros2", 0.0, 2, N, 3), filled("zeros8", 0.0, 1, N, 8), filled("flat", 0.0, N, 3),
]  # fmt: skip


def lstm():
    """A module and its node."""
    torch.manual_seed(0)
    module = torch.nn.LSTM(2, 3)
    return module, *node(module, "LSTM", "rnn")


def run(path):
    """The outputs of onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(["rnn.Y"], {"x": X})[0]


def plain(path):
    """What onnxruntime puts out from zero, over all inputs."""
    _, one, parts = lstm()
    return run(graph(path, one, constants=parts, outputs=["rnn.Y"]))
