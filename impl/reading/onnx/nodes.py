"""One recurrent node of ONNX: which cell it is, and its weights in torch's order of gates.

A node has W (1, g n, d), R (1, g n, n) and B (1, 2 g n), both biases, for one direction, with the
gates i, o, f, c of an LSTM and z, r, h of a GRU; torch stacks i, f, c, o and r, z, h. A GRU's
`linear_before_reset` says that the reset gate comes after the product, as torch has it and not Cho.
Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from typing import Any

import torch
from torch import Tensor

from impl.errors import InputError, shown
from impl.reading.onnx.constants import MOVES, Constants

STATES = {"RNN": "h", "LSTM": "iofc", "GRU": "zrh"}  # recurrent nodes, with their gates
_ORDER = {"RNN": "h", "LSTM": "ifco", "GRU": "rzh"}
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_VANILLA = {
    "Tanh": "rnn-tanh", "Relu": "rnn-relu", "Sigmoid": "rnn-sigmoid", "Softplus": "rnn-softplus",
}  # fmt: skip
_READ = {"hidden_size", "direction", "activations", "layout", "linear_before_reset"}
_FLOATS = ("float16", "float32", "float64")
_PEEPHOLES = 7  # the place of P among an LSTM's inputs
_STORED = "hand over the state dict of the model that was exported"
_TURNED = {
    "reverse": "turn its inputs round in time, and export it forward: it remembers as long",
    "bidirectional": "hand over the state dict of one of its directions",
}


class NodeError(InputError):
    """A recurrent node that is not read."""

    def __init__(self, name: str, what: str, remedy: str) -> None:
        super().__init__(f"the ONNX node {shown(name) or '(no name)'} {what}; {remedy}")


def recurrent(node: Any) -> bool:
    """Whether a node is one of these."""
    return node.op_type in STATES and node.domain in ("", "ai.onnx")


def cell_of(node: Any) -> str:
    """The cell that a node computes; raises NodeError for what is none of ours."""
    from onnx.helper import get_attribute_value

    known = {one.name: get_attribute_value(one) for one in node.attribute}
    for name, value in known.items():
        if name not in _READ and (name, value) != ("input_forget", 0):
            raise NodeError(node.name, f"has {shown(name)}, which no cell here has", _STORED)
    direction = _text(known.get("direction", b"forward"))
    if direction != "forward":
        what, remedy = f"runs {shown(direction)}", _TURNED.get(direction, _STORED)
        raise NodeError(node.name, what, remedy)
    if len(node.input) > _PEEPHOLES and node.input[_PEEPHOLES]:
        raise NodeError(node.name, "has peepholes, which no cell here has", _STORED)
    rho = [_text(name) for name in known.get("activations", ())] or _USUAL[node.op_type]
    if node.op_type == "RNN" and len(rho) == 1 and rho[0] in _VANILLA:
        return _VANILLA[rho[0]]
    if rho != _USUAL[node.op_type]:
        usual = ", ".join(_USUAL[node.op_type])
        what = f"has the activations {shown(', '.join(rho))}, not {usual}"
        raise NodeError(node.name, what, _STORED)
    if node.op_type == "LSTM":
        return "lstm"
    return "gru" if known.get("linear_before_reset", 0) else "gru-cho"


def axes_of(node: Any) -> int:
    """The layout of a node: 0 for inputs by time and batch, 1 for batch and time."""
    return next((int(one.i) for one in node.attribute if one.name == "layout"), 0)


def weights_of(node: Any, values: Constants) -> dict[str, Tensor]:
    """The weights by torch's names without a layer, gates in torch's order; raises NodeError."""
    names = [*node.input, "", "", "", ""]
    gates = len(STATES[node.op_type])
    W, R = (_tensor(node, names[place], values, 3)[0] for place in (1, 2))
    n = R.shape[1]
    wanted: dict[str, tuple[Tensor, tuple[int, ...]]] = {
        "R": (R, (gates * n, n)),
        "W": (W, (gates * n, W.shape[1])),
    }
    found = {"weight_ih": W, "weight_hh": R}
    if names[3]:
        both = _tensor(node, names[3], values, 2)[0]
        wanted["B"] = both, (2 * gates * n,)
        found["bias_ih"], found["bias_hh"] = both[: gates * n], both[gates * n :]
    if (units := units_of(node)) not in (None, n):
        raise NodeError(node.name, f"has {n} units, and says {units}", "export it again")
    for name, (part, shape) in wanted.items():
        if part.shape != shape:
            told = f"has {name} of shape (1, {', '.join(map(str, part.shape))})"
            raise NodeError(
                node.name, f"{told}, not (1, {', '.join(map(str, shape))})", "export it again"
            )
    return {name: _ordered(node, part) for name, part in found.items()}


def _fit(node: Any, name: str, part: Tensor, *shape: int) -> None:
    """Raise NodeError for weights of another shape."""
    if part.shape != shape:
        what = f"has {name} of shape {(1, *part.shape)}, not {(1, *shape)}"
        raise NodeError(node.name, what, "export it again")


def units_of(node: Any) -> int | None:
    """The number of units that a node states, `hidden_size`."""
    return next((int(one.i) for one in node.attribute if one.name == "hidden_size"), None)


def _ordered(node: Any, rows: Tensor) -> Tensor:
    """The blocks of rows of the gates, in torch's order."""
    gates = STATES[node.op_type]
    blocks = dict(zip(gates, rows.chunk(len(gates)), strict=True))
    return torch.cat([blocks[gate] for gate in _ORDER[node.op_type]])


def _tensor(node: Any, name: str, values: Constants, axes: int) -> Tensor:
    """A constant of one direction: its first axis is 1."""
    array = _array(node, name, values)
    if array.ndim != axes or array.shape[0] != 1:
        what = f"has weights {shown(name)} of shape {array.shape}, not of one direction"
        raise NodeError(node.name, what, _TURNED["bidirectional"])
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("int16").copy()).view(torch.bfloat16)
    if array.dtype.name not in _FLOATS:
        raise NodeError(node.name, f"has weights {shown(name)} that are no floats", _STORED)
    return torch.from_numpy(array.copy())


def _array(node: Any, name: str, values: Constants) -> Any:
    """A stored tensor, or one that is made of stored ones without arithmetic."""
    if name and values.outside(name):
        what = f"has weights that are inputs of the graph ({shown(name)})"
        raise NodeError(node.name, what, _STORED)
    array = values.array(name, MOVES) if name else None
    if array is not None:
        return array
    if name not in values.stored:
        what = f"has weights that are computed ({shown(name) or 'none'})"
        raise NodeError(node.name, what, _STORED)
    told = values.stored[name]
    if told.data_location or told.external_data:
        what = f"has weights in another file ({shown(name)})"
        raise NodeError(node.name, what, "save the model with them in it")
    raise NodeError(node.name, f"has damaged weights {shown(name)}", "export it again")


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
