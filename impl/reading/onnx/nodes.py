"""One recurrent node of ONNX: which cell it is, and its weights in torch's order of gates.

A node has W (D, g n, d), R (D, g n, n) and B (D, 2 g n), both biases, for D directions, with the
gates i, o, f, c of an LSTM and z, r, h of a GRU; torch stacks i, f, c, o and r, z, h, and names the
weights of the other direction `…_reverse`. A GRU's `linear_before_reset` says that the reset gate
comes after the product, as torch has it and not Cho. Peepholes P are refused.
Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.onnx.folding import AGAIN, STANDARD, Array, UnfixedError
from rnnbounds.impl.reading.onnx.quantised import (
    DOMAIN,
    QUANTISED,
    as_lstm,
    dequantised,
    widened,
)
from rnnbounds.impl.reading.onnx.values import Values
from rnnbounds.impl.reading.recognition.gated_activations import (
    UnreadActivationError,
    cell_for,
)

STATES = {"RNN": "h", "LSTM": "iofc", "GRU": "zrh", QUANTISED: "iofc"}  # nodes, with their gates
_ORDER = {"RNN": "h", "LSTM": "ifco", "GRU": "rzh", QUANTISED: "ifco"}
_ROLES = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
_SCALES = ("W_scale", "W_zero_point", "R_scale", "R_zero_point")
_DIRECTIONS = {"forward": ("",), "reverse": ("_reverse",), "bidirectional": ("", "_reverse")}
_READ = {
    "hidden_size", "direction", "layout", "linear_before_reset",
    "activations", "activation_alpha", "activation_beta",
}  # fmt: skip
_TYPES = ("float16", "bfloat16", "float32", "float64")
_STORED = "hand over the state dict of the model that was exported"


class NodeError(InputError):
    """A recurrent node that is not read."""

    def __init__(self, name: str, what: str, remedy: str) -> None:
        super().__init__(f"the ONNX node {shown(name) or '(no name)'} {what}; {remedy}")


def recurrent(node: Any) -> bool:
    """True for a node of one of these operators."""
    domains = (DOMAIN,) if node.op_type == QUANTISED else STANDARD
    return node.op_type in STATES and node.domain in domains


def input_of(node: Any, role: str) -> str:
    """The name of the input of that role, or "" if the node has none."""
    place = (*_ROLES, *_SCALES).index(role)
    return str(node.input[place]) if place < len(node.input) else ""


def number_of(node: Any, name: str, default: int) -> int:
    """An attribute that is a whole number."""
    return next((int(one.i) for one in node.attribute if one.name == name), default)


def axes_of(node: Any) -> int:
    """The layout of a node: 0 for inputs by time and batch, 1 for batch and time."""
    return number_of(node, "layout", 0)


def direction_of(node: Any) -> str:
    """The direction of a node: forward, reverse or bidirectional, if it is one of ONNX's."""
    told = next((one.s for one in node.attribute if one.name == "direction"), b"forward")
    return bytes(told).decode(errors="replace")


def cell_of(node: Any, values: Values) -> str:
    """The cell that a node computes; raises NodeError for what is none of ours."""
    from onnx.helper import get_attribute_value

    if not values.allows(as_lstm(node) if node.op_type == QUANTISED else node):
        raise NodeError(node.name, f"is no {node.op_type} that ONNX allows", AGAIN)
    known = {one.name: get_attribute_value(one) for one in node.attribute}
    for name, value in known.items():
        if name not in _READ and (name, value) != ("input_forget", 0):
            raise NodeError(node.name, f"has {shown(name)}, which no cell here has", _STORED)
    if (direction := direction_of(node)) not in _DIRECTIONS:
        raise NodeError(node.name, f"has the direction {shown(direction)}", AGAIN)
    if not {known.get("layout", 0), known.get("linear_before_reset", 0)} <= {0, 1}:
        raise NodeError(node.name, "has a flag that is neither 0 nor 1", AGAIN)
    first, *others = _cells(node, values)
    if others and others != [first]:
        what = f"computes {shown(first)} forwards, but {shown(others[0])} in reverse"
        raise NodeError(node.name, what, _STORED)
    return first


def _cells(node: Any, values: Values) -> list[str]:
    """The cell of each direction; raises NodeError."""
    from onnx.helper import get_attribute_value

    known = {one.name: get_attribute_value(one) for one in node.attribute}
    given = [name.decode(errors="replace") for name in known.get("activations", ())]
    lists = (given, known.get("activation_alpha", ()), known.get("activation_beta", ()))
    ways = len(_DIRECTIONS[direction_of(node)])
    if len(given) % ways:  # where the first direction ends is not said
        raise NodeError(node.name, "has activations of one direction alone", AGAIN)
    if input_of(node, "P") and _weight(node, "P", values).any():
        raise NodeError(node.name, "has peepholes, which no cell here has", _STORED)
    op = "LSTM" if node.op_type == QUANTISED else node.op_type
    found = []
    for i in range(ways):
        rho, alphas, betas = (one[i * len(one) // ways :][: len(one) // ways] for one in lists)
        try:
            reset = number_of(node, "linear_before_reset", 0) == 1
            found.append(cell_for(op, rho, alphas, betas, reset))
        except UnreadActivationError as why:
            raise NodeError(node.name, why.what, why.remedy) from None
    return found


def weights_of(node: Any, values: Values, layer: int) -> dict[str, Tensor]:
    """The weights by torch's names for a layer, gates in torch's order; raises NodeError."""
    gates, ends = len(STATES[node.op_type]), _DIRECTIONS[direction_of(node)]
    W, R = (_matrix(node, role, values) for role in "WR")
    n, d = (array.shape[-1] if array.ndim else 0 for array in (R, W))
    said = number_of(node, "hidden_size", n)
    if said != n:
        what = f"says hidden_size {said}, but R ({shown(input_of(node, 'R'))}) has {n} columns"
        raise NodeError(node.name, what, AGAIN)
    _require_shape(node, "R", R, (len(ends), gates * n, n))
    _require_shape(node, "W", W, (len(ends), gates * n, d))
    found = {"weight_ih": W, "weight_hh": R}
    if input_of(node, "B"):
        B = _weight(node, "B", values)
        _require_shape(node, "B", B, (len(ends), 2 * gates * n))
        B = widened(B) if node.op_type == QUANTISED else B
        found |= {"bias_ih": B[:, : gates * n], "bias_hh": B[:, gates * n :]}
    return {
        f"{role}_l{layer}{end}": tensor
        for i, end in enumerate(ends)
        for role, tensor in ((role, _ordered(node, array[i])) for role, array in found.items())
    }


def _ordered(node: Any, rows: Array) -> Tensor:
    """The blocks of rows of the gates, in torch's order."""
    gates, whole = STATES[node.op_type], _tensor(rows)
    blocks = dict(zip(gates, whole.chunk(len(gates)), strict=False))
    return torch.cat([blocks[gate] for gate in _ORDER[node.op_type] if gate in blocks])


def _tensor(array: Array) -> Tensor:
    """The tensor of an array; NumPy knows bfloat16 by another name."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.copy().view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def _matrix(node: Any, role: str, values: Values) -> Array:
    """W or R; of a quantised node dequantised, transposed as another node has it."""
    if node.op_type != QUANTISED:
        return _weight(node, role, values)
    parts = [_read(node, part, values) for part in (role, f"{role}_scale", f"{role}_zero_point")]
    array = dequantised(*parts)
    if array is None:
        named = f"{role} ({shown(input_of(node, role))})"
        raise NodeError(
            node.name, f"has weights {named} that are not quantised as ONNX has it", AGAIN
        )
    return array


def _weight(node: Any, role: str, values: Values) -> Array:
    """The value of a weight; raises NodeError if it is none that the graph fixes."""
    array = _read(node, role, values)
    if array.dtype.name not in _TYPES:
        named = f"{role} ({shown(input_of(node, role))})"
        raise NodeError(node.name, f"has weights {named} that are no floats", _STORED)
    return array


def _read(node: Any, role: str, values: Values) -> Array:
    name = input_of(node, role)
    if not name:
        raise NodeError(node.name, f"has no {role}", AGAIN)
    try:
        return values.array(name)
    except UnfixedError as reason:
        what = f"has weights {role} ({shown(name)}), which {reason}"
        raise NodeError(node.name, what, reason.remedy) from None


def _require_shape(node: Any, role: str, array: Array, shape: tuple[int, ...]) -> None:
    """Raise NodeError for weights of another shape than that of the node's directions."""
    if array.shape != shape:
        named = f"{role} ({shown(input_of(node, role))})"
        of = "one direction" if shape[0] == 1 else "two directions"
        what = f"has weights {named} of shape {array.shape}, not {shape}, that of {of}"
        raise NodeError(node.name, what, _STORED)
