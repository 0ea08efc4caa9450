"""One recurrent node of ONNX: which cell it is, and its weights in torch's order of gates.

A node has W (1, g n, d), R (1, g n, n) and B (1, 2 g n), both biases, for one direction, with the
gates i, o, f, c of an LSTM and z, r, h of a GRU; torch stacks i, f, c, o and r, z, h. A GRU's
`linear_before_reset` says that the reset gate comes after the product, as torch has it and not Cho.
Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from impl.errors import InputError, shown

STATES = {"RNN": "h", "LSTM": "iofc", "GRU": "zrh"}  # recurrent nodes, with their gates
_ORDER = {"RNN": "h", "LSTM": "ifco", "GRU": "rzh"}
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_VANILLA = {
    "Tanh": "rnn-tanh", "Relu": "rnn-relu", "Sigmoid": "rnn-sigmoid", "Softplus": "rnn-softplus",
}  # fmt: skip
_READ = {"hidden_size", "direction", "activations", "layout", "linear_before_reset"}
_TYPES = {1: torch.float32, 10: torch.float16, 11: torch.float64, 16: torch.bfloat16}
_PEEPHOLES = 7  # the place of P among an LSTM's inputs
_STORED = "hand over the state dict of the model that was exported"


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
        raise NodeError(node.name, f"runs {shown(direction)}", "keep one direction, forward")
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


def weights_of(node: Any, stored: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights by torch's names without a layer, gates in torch's order; raises NodeError."""
    names = [*node.input, "", "", "", ""]
    W, R = (_tensor(node, names[place], stored, 3) for place in (1, 2))
    found = {"weight_ih": _ordered(node, W[0]), "weight_hh": _ordered(node, R[0])}
    if names[3]:
        both = _tensor(node, names[3], stored, 2)[0].chunk(2)
        found |= {"bias_ih": _ordered(node, both[0]), "bias_hh": _ordered(node, both[-1])}
    return found


def _ordered(node: Any, rows: Tensor) -> Tensor:
    """The blocks of rows of the gates, in torch's order."""
    gates = STATES[node.op_type]
    if len(rows) % len(gates):
        raise NodeError(
            node.name, f"has {len(rows)} rows for {len(gates)} gates", "export it again"
        )
    blocks = dict(zip(gates, rows.chunk(len(gates)), strict=False))
    return torch.cat([blocks[gate] for gate in _ORDER[node.op_type] if gate in blocks])


def _tensor(node: Any, name: str, stored: Mapping[str, Any], axes: int) -> Tensor:
    """A constant of one direction: its first axis is 1."""
    from onnx import TensorProto
    from onnx.numpy_helper import to_array

    if name not in stored:
        what = f"has weights that are computed ({shown(name) or 'none'})"
        raise NodeError(node.name, what, _STORED)
    told = stored[name]
    if told.data_location == TensorProto.EXTERNAL or told.external_data:
        what = f"has weights in another file ({shown(name)})"
        raise NodeError(node.name, what, "save the model with them in it")
    dtype = _TYPES.get(told.data_type)
    if dtype is None:
        raise NodeError(node.name, f"has weights {shown(name)} that are no floats", _STORED)
    try:
        array = to_array(told)
    except Exception:  # dims that do not fit the data, and whatever else is damaged
        raise NodeError(
            node.name, f"has damaged weights {shown(name)}", "export it again"
        ) from None
    if array.ndim != axes or array.shape[0] != 1:
        what = f"has weights {shown(name)} of shape {array.shape}, not of one direction"
        raise NodeError(node.name, what, "keep one direction, forward")
    if dtype is torch.bfloat16:
        return torch.from_numpy(array.view("int16").copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
