"""One recurrent node of ONNX: which cell it is, its weights in torch's order of gates, its runs.

A node has W (D, g n, d), R (D, g n, n) and B (D, 2 g n), both biases, for D directions, with the
gates i, o, f, c of an LSTM and z, r, h of a GRU; torch stacks i, f, c, o and r, z, h, and names the
weights of the other direction `…_reverse`. A GRU's `linear_before_reset` says that the reset gate
comes after the product, as torch has it and not Cho. Certificates are about runs from the zero
state that read all their inputs: a start is zero or the caller's, lengths are the caller's.
Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.onnx.values import AGAIN, STANDARD, Array, UnfixedError, Values, inside

GATES = {"RNN": "h", "LSTM": "iofc", "GRU": "zrh"}
_ORDER = {"RNN": "h", "LSTM": "ifco", "GRU": "rzh"}
_ROLES = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
_DIRECTIONS = {"forward": ("",), "reverse": ("_reverse",), "bidirectional": ("", "_reverse")}
_USUAL = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}
_VANILLA = ("tanh", "relu", "sigmoid", "softplus")
_READ = {"hidden_size", "direction", "layout", "linear_before_reset", "activations"}
_TYPES = ("float16", "bfloat16", "float32", "float64")
_OWN = "it is another network: state it as a cell of your own"
_STORED = "hand over the state dict of the model that was exported"


def node_error(name: str, what: str, remedy: str = _STORED) -> InputError:
    """That a recurrent node is not read."""
    return InputError(f"the ONNX node {shown(name) or '(no name)'} {what}; {remedy}")


def recurrent(node: Any) -> bool:
    """True for a node of one of these operators."""
    return node.op_type in GATES and node.domain in STANDARD


def input_of(node: Any, role: str) -> str:
    """The name of the input of that role, or "" if the node has none."""
    place = _ROLES.index(role)
    return str(node.input[place]) if place < len(node.input) else ""


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node by name, with ONNX's defaults of those that are read."""
    from onnx.helper import get_attribute_value

    told = {"direction": b"forward", "layout": 0, "linear_before_reset": 0, "activations": []}
    return told | {one.name: get_attribute_value(one) for one in node.attribute}


def direction_of(node: Any) -> str:
    """The direction of a node: forward, reverse or bidirectional, if it is one of ONNX's."""
    return bytes(attributes(node)["direction"]).decode(errors="replace")


def ways_of(node: Any) -> int:
    """How many directions a node has."""
    return len(_DIRECTIONS.get(direction_of(node), ""))


def cell_of(node: Any) -> str:
    """The cell that a node computes; raises InputError for what is none of ours."""
    known = attributes(node)
    for name, value in known.items():
        if name not in _READ and (name, value) != ("input_forget", 0):
            raise node_error(node.name, f"has {shown(name)}, which no cell here has", _OWN)
    if (direction := direction_of(node)) not in _DIRECTIONS:
        raise node_error(node.name, f"has the direction {shown(direction)}", AGAIN)
    if not {known["layout"], known["linear_before_reset"]} <= {0, 1}:
        raise node_error(node.name, "has a flag that is neither 0 nor 1", AGAIN)
    if input_of(node, "P"):
        raise node_error(node.name, "has peepholes, which no cell here has", _OWN)
    usual = _USUAL[node.op_type]
    names = [name.decode(errors="replace").lower() for name in known["activations"]]
    names = names or usual * ways_of(node)
    own = names[: len(usual)]
    if names != own * ways_of(node) or (own != usual and (node.op_type, own[0]) not in
                                        [("RNN", name) for name in _VANILLA]):  # fmt: skip
        what = f"has the activations {shown(', '.join(names))}"
        raise node_error(node.name, f"{what}, which no cell here has", _OWN)
    if node.op_type == "RNN":
        return f"rnn-{own[0]}"
    reset = known["linear_before_reset"] or node.op_type == "LSTM"
    return node.op_type.lower() if reset else "gru-cho"


def weights_of(node: Any, values: Values, layer: int) -> dict[str, Tensor]:
    """The weights by torch's names for a layer, gates in torch's order; raises InputError."""
    gates, ends = len(GATES[node.op_type]), _DIRECTIONS[direction_of(node)]
    W, R = (_weight(node, role, values) for role in "WR")
    n, d = (array.shape[-1] if array.ndim else 0 for array in (R, W))
    said = attributes(node).get("hidden_size", n)
    if said != n:
        what = f"says hidden_size {said}, but R ({shown(input_of(node, 'R'))}) has {n} columns"
        raise node_error(node.name, what, AGAIN)
    _require_shape(node, "R", R, (len(ends), gates * n, n))
    _require_shape(node, "W", W, (len(ends), gates * n, d))
    found = {"weight_ih": W, "weight_hh": R}
    if input_of(node, "B"):
        B = _weight(node, "B", values)
        _require_shape(node, "B", B, (len(ends), 2 * gates * n))
        found |= {"bias_ih": B[:, : gates * n], "bias_hh": B[:, gates * n :]}
    _refuse_other_runs(node, values, n)
    return {
        f"{role}_l{layer}{end}": _ordered(node, array[i])
        for i, end in enumerate(ends)
        for role, array in found.items()
    }


def _ordered(node: Any, rows: Array) -> Tensor:
    """The blocks of rows of the gates, in torch's order; NumPy has another name for bfloat16."""
    gates = GATES[node.op_type]
    if rows.dtype.name == "bfloat16":
        whole = torch.from_numpy(rows.copy().view("int16")).view(torch.bfloat16)
    else:
        whole = torch.from_numpy(rows.copy())
    blocks = dict(zip(gates, whole.chunk(len(gates)), strict=False))
    return torch.cat([blocks[gate] for gate in _ORDER[node.op_type] if gate in blocks])


def _weight(node: Any, role: str, values: Values) -> Array:
    """The value of a weight; raises InputError if it is none that the graph fixes."""
    named = f"{role} ({shown(input_of(node, role))})"
    try:
        array = values.array(input_of(node, role))
    except UnfixedError as reason:
        raise node_error(node.name, f"has weights {named}, which {reason}", reason.remedy) from None
    if array.dtype.name not in _TYPES:
        raise node_error(node.name, f"has weights {named} that are no floats")
    return array


def _require_shape(node: Any, role: str, array: Array, shape: tuple[int, ...]) -> None:
    """Raise InputError for weights of another shape than that of the node's directions."""
    if array.shape != shape:
        named = f"{role} ({shown(input_of(node, role))})"
        of = "one direction" if shape[0] == 1 else "two directions"
        what = f"has weights {named} of shape {array.shape}, not {shape}, that of {of}"
        raise node_error(node.name, what)


def _refuse_other_runs(node: Any, values: Values, n: int) -> None:
    """Raise InputError unless a node of n units runs from zero, or from what the caller hands over,
    to the end of its inputs."""
    lengths = input_of(node, "sequence_lens")
    if lengths and not values.inputs.issuperset(values.origins(lengths)):
        what = f"reads as many inputs as are stored or computed ({shown(lengths)})"
        raise node_error(node.name, what, "leave the lengths out")
    for role in ("initial_h", "initial_c"):
        if state := input_of(node, role):
            try:
                _require_start(node, state, values, n)
            except UnfixedError as reason:
                what = f"starts from {role} ({shown(state)}), which {reason}"
                remedy = "to certify its cell from 0, hand over the state dict"
                raise node_error(node.name, what, remedy) from None


def _require_start(node: Any, state: str, values: Values, n: int) -> None:
    """Raise UnfixedError for a state that is neither zero nor the caller's, or of a wrong shape."""
    handed = False
    for name in values.origins(state):
        filling = values.made.get(name)
        if name in values.inputs:
            handed = True
            if name in _sequence(node, values):
                raise UnfixedError("is read off the sequence")
        elif name in values.stored:
            if values.array(name).any():
                raise UnfixedError("is not 0")
        elif filling is None or filling.op_type != "ConstantOfShape":
            raise UnfixedError(f"is computed by {shown(filling.op_type if filling else name)}")
        elif any(value.any() for value in map(values.filling, filling.attribute)):
            raise UnfixedError("is not 0")
    shape, ways = values.shapes.get(state), ways_of(node)
    by_batch = attributes(node)["layout"]
    expected = (None, ways, n) if by_batch else (ways, None, n)
    if shape is None:
        if not handed:
            raise UnfixedError("is 0, but of no shape that is known")
    elif len(shape) != 3 or any(
        size != needed
        for size, needed in zip(shape, expected, strict=True)
        if needed is not None and not (handed and not isinstance(size, int))
    ):
        axes = f"(N, {ways}, {n})" if by_batch else f"({ways}, N, {n})"
        found = ", ".join("?" if size is None else str(size) for size in shape)
        raise UnfixedError(f"has the shape ({found}), not {axes}")


def _sequence(node: Any, values: Values) -> set[str]:
    """The values that a node's sequence is made of, not counting the states of other nodes."""
    seen, ahead = set[str](), [input_of(node, "X")]
    while ahead:
        now = ahead.pop()
        if now not in seen:
            seen.add(now)
            if (made := values.made.get(now)) is not None:
                ahead += made.input[:1] if recurrent(made) else made.input
                ahead += (name for one in inside(made) for name in one.input)
    return seen
