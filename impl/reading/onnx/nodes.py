"""One recurrent node of ONNX: which cell it is, and its weights in torch's order of gates.

A node has W (1, g n, d), R (1, g n, n) and B (1, 2 g n), both biases, for one direction, with the
gates i, o, f, c of an LSTM and z, r, h of a GRU; torch stacks i, f, c, o and r, z, h. A GRU's
`linear_before_reset` says that the reset gate comes after the product, as torch has it and not Cho.
Peepholes P (1, 3 n) that are zero are none. Source: the operators RNN, LSTM and GRU of ONNX,
version 22.
"""

from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.onnx.values import STANDARD, Array, UnfixedError, Values

STATES = {"RNN": "h", "LSTM": "iofc", "GRU": "zrh"}  # recurrent nodes, with their gates
_ORDER = {"RNN": "h", "LSTM": "ifco", "GRU": "rzh"}
_ROLES = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_VANILLA = {
    "Tanh": "rnn-tanh", "Relu": "rnn-relu", "Sigmoid": "rnn-sigmoid", "Softplus": "rnn-softplus",
}  # fmt: skip
_READ = {"hidden_size", "direction", "activations", "layout", "linear_before_reset"}
_TYPES = ("float16", "bfloat16", "float32", "float64")
_STORED = "hand over the state dict of the model that was exported"
_AGAIN = "export it again"
_ONE_WAY = {
    "reverse": "hand over its state dict as a forward cell, whose inputs come in reverse order",
    "bidirectional": "hand over the state dict of one direction",
}


class NodeError(InputError):
    """A recurrent node that is not read."""

    def __init__(self, name: str, what: str, remedy: str) -> None:
        super().__init__(f"the ONNX node {shown(name) or '(no name)'} {what}; {remedy}")


def recurrent(node: Any) -> bool:
    """True for a node of one of these operators."""
    return node.op_type in STATES and node.domain in STANDARD


def input_of(node: Any, role: str) -> str:
    """The name of the input of that role, or "" if the node has none."""
    place = _ROLES.index(role)
    return str(node.input[place]) if place < len(node.input) else ""


def cell_of(node: Any, values: Values) -> str:
    """The cell that a node computes; raises NodeError for what is none of ours."""
    from onnx.helper import get_attribute_value

    try:
        values.check(node)
        known = {one.name: get_attribute_value(one) for one in node.attribute}
    except Exception:  # the checker raises what it likes
        known = None
    if known is None or len(known) < len(node.attribute):
        raise NodeError(node.name, f"is no {node.op_type} that ONNX allows", _AGAIN)
    for name, value in known.items():
        if name not in _READ and (name, value) != ("input_forget", 0):
            raise NodeError(node.name, f"has {shown(name)}, which no cell here has", _STORED)
    direction = known.get("direction", b"forward").decode(errors="replace")
    if direction != "forward":
        remedy = _ONE_WAY.get(direction, _AGAIN)
        raise NodeError(node.name, f"has the direction {shown(direction)}", remedy)
    if not {known.get("layout", 0), known.get("linear_before_reset", 0)} <= {0, 1}:
        raise NodeError(node.name, "has a flag that is neither 0 nor 1", _AGAIN)
    rho = [name.decode(errors="replace") for name in known.get("activations", ())]
    rho = rho or _USUAL[node.op_type]
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


def weights_of(node: Any, values: Values) -> dict[str, Tensor]:
    """The weights by torch's names without a layer, gates in torch's order; raises NodeError."""
    gates = len(STATES[node.op_type])
    R = _weight(node, "R", values)
    n = R.shape[-1] if R.ndim else 0
    said = next((int(one.i) for one in node.attribute if one.name == "hidden_size"), n)
    if said != n:
        what = f"says hidden_size {said}, but R ({shown(input_of(node, 'R'))}) has {n} columns"
        raise NodeError(node.name, what, _AGAIN)
    W = _weight(node, "W", values)
    d = W.shape[-1] if W.ndim else 0
    _require_shape(node, "R", R, (1, gates * n, n))
    _require_shape(node, "W", W, (1, gates * n, d))
    found = {"weight_ih": _ordered(node, W[0]), "weight_hh": _ordered(node, R[0])}
    if input_of(node, "B"):
        B = _weight(node, "B", values)
        _require_shape(node, "B", B, (1, 2 * gates * n))
        both = B[0].reshape(2, -1)
        found |= {"bias_ih": _ordered(node, both[0]), "bias_hh": _ordered(node, both[1])}
    if input_of(node, "P"):
        P = _weight(node, "P", values)
        _require_shape(node, "P", P, (1, 3 * n))
        if P.any():
            raise NodeError(node.name, "has peepholes, which no cell here has", _STORED)
    return found


def _ordered(node: Any, rows: Array) -> Tensor:
    """The blocks of rows of the gates, in torch's order."""
    gates, half = STATES[node.op_type], rows.dtype.name == "bfloat16"
    whole = torch.from_numpy(rows.copy().view("int16") if half else rows.copy())
    blocks = dict(zip(gates, whole.chunk(len(gates)), strict=False))
    ordered = torch.cat([blocks[gate] for gate in _ORDER[node.op_type] if gate in blocks])
    return ordered.view(torch.bfloat16) if half else ordered


def _weight(node: Any, role: str, values: Values) -> Array:
    """The value of a weight; raises NodeError if it is none that the graph fixes."""
    name = input_of(node, role)
    if not name:
        raise NodeError(node.name, f"has no {role}", _AGAIN)
    try:
        array = values.array(name)
    except UnfixedError as reason:
        what = f"has weights {role} ({shown(name)}), which {reason}"
        raise NodeError(node.name, what, reason.remedy) from None
    if array.dtype.name not in _TYPES:
        raise NodeError(
            node.name, f"has weights {role} ({shown(name)}) that are no floats", _STORED
        )
    return array


def _require_shape(node: Any, role: str, array: Array, shape: tuple[int, ...]) -> None:
    """Raise NodeError for weights of another shape than that of one direction."""
    if array.shape != shape:
        named = f"{role} ({shown(input_of(node, role))})"
        what = f"has weights {named} of shape {array.shape}, not {shape}, that of one direction"
        raise NodeError(node.name, what, _STORED)
