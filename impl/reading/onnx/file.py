"""ONNX models: the RNN, LSTM and GRU nodes of a graph, as state dicts with torch's names.

Nodes in a chain are the layers of a stack, which is called as its first node: between two stands
what torch's exporters write there, which takes the directions of an output side by side. Whatever
else stands between ends the stack. What a node computes beyond the cell is refused, as are nodes in
branches and loops, quantised ones, and operators that the file defines.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from rnnbounds.impl.errors import FileError, InputError, shown
from rnnbounds.impl.reading.onnx.nodes import (
    attributes,
    cell_of,
    direction_of,
    node_error,
    recurrent,
    ways_of,
    weights_of,
)
from rnnbounds.impl.reading.onnx.values import STANDARD, Values, inside, nested
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.recognition.misfit import choices

LARGEST_GRAPH = 2**28  # bytes; parsing takes several times as much
_STATE = "save the state dict of the model that was exported as safetensors"
_OPSET = 7  # the first version of the operators with today's broadcasting
_LEGACY = "torch.onnx.export(…, dynamo=False)"
_QUANTISED = "DynamicQuantizeLSTM"  # of onnxruntime
_APART, _TURNED, _JOINED = "(T, D, N, n)", "(T, N, D, n)", "(T, N, D n)"


@dataclass(frozen=True, eq=False)
class _Relayed:
    """A value that is the output of the first `depth` layers of a stack, in that form."""

    stack: list[Any]
    depth: int
    form: str


@dataclass(frozen=True, eq=False)
class _Graph:
    """The recurrent nodes of a graph by stacks, and why others are not read."""

    values: Values
    where: str
    title: str
    stacks: dict[str, list[Any]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def read(self, layer: str | None) -> Opened:
        """The tensors of one stack, by torch's names below the name of its first node."""
        names = self.names
        name = names[0] if layer is None and len(names) == 1 else layer
        if name in self.refused:
            raise node_error(str(name), self.refused[str(name)])
        if name is None or name not in self.stacks:
            raise self._choose(layer)
        nodes = self.stacks[name]
        found: dict[str, Tensor] = {}
        cell = cell_of(nodes[0])
        for l, node in enumerate(nodes):
            weights = weights_of(node, self.values, l)
            found |= {f"{name}.{role}": tensor for role, tensor in weights.items()}
        return Opened(self.where, self.title, found, cell, "the node", own=name)

    @property
    def names(self) -> list[str]:
        """The names of the stacks, and of recurrent nodes that are not read."""
        return [*self.stacks, *self.refused]

    def _choose(self, asked: str | None) -> InputError:
        """Build the error for a layer that is not there, or where none is named."""
        if names := self.names:
            what = f"{len(names)} recurrent nodes or stacks"
            what = f"{what}; choose one with --layer: {choices(names, asked)}"
        else:
            what = "no recurrent node (an RNN, an LSTM or a GRU of ONNX)"
            what = f"{what}; {_STATE}, or export a torch.nn.RNN by {_LEGACY}, which writes it whole"
        return InputError(f"{self.where} holds {what}")


def graph_of(data: bytes, path: Path) -> Opened:
    """The graph of an ONNX file; raises FileError, also where `onnx` is not installed."""
    try:
        from onnx import ModelProto
    except ImportError:
        remedy = f"pip install 'rnnbounds[onnx]', or {_STATE}"
        raise FileError(path, "is an ONNX model, which onnx reads", remedy) from None
    if len(data) > LARGEST_GRAPH:
        raise FileError(path, f"is larger than {LARGEST_GRAPH} bytes", _STATE)
    try:
        model = ModelProto.FromString(data)
    except Exception:  # protobuf raises what it likes
        raise FileError(path, "is no intact ONNX model", "export it again") from None
    _refuse_unread(model, path)
    try:
        values = Values(model, path.parent)
    except Exception as cause:  # so does onnx of a graph that it does not allow
        why = " ".join(str(cause).split())[:120]
        reason = f"is no ONNX model that onnx allows ({why})"
        raise FileError(path, reason, "export it again") from None
    graph = _Graph(values, shown(path), str(path))
    _find_stacks(model, graph)
    return Opened(graph.where, graph.title, parts=tuple(graph.names), choose=graph.read)


def _refuse_unread(model: Any, path: Path) -> None:
    """Raise FileError for operators of old versions, and for such as the file defines."""
    for function in model.functions:
        if any(map(recurrent, nested(function))):
            what = f"has recurrent nodes in a function of its own, {shown(function.name)}"
            raise FileError(path, what, _STATE)
    if any(function.domain in STANDARD for function in model.functions):
        raise FileError(path, "defines an operator of ONNX anew", _STATE)
    versions = [one.version for one in model.opset_import if one.domain in STANDARD]
    if max(versions, default=0) < _OPSET:
        what = f"has operators of a version before {_OPSET}"
        raise FileError(path, what, "export it again with a newer opset")


def _find_stacks(model: Any, graph: _Graph) -> None:
    """List the recurrent nodes of a model in its graph; raises InputError for equal names."""
    relayed: dict[str, _Relayed] = {}
    unnamed = Counter[str]()
    for node in model.graph.node:
        name = node.name or f"{node.op_type}_{unnamed[node.op_type]}"
        unnamed[node.op_type] += not node.name
        at = relayed.get(node.input[0]) if node.input else None
        form = _relay(node, at, graph.values) if at is not None else None
        if recurrent(node):
            if at is not None and _continues(at, node):
                stack = at.stack
            elif name in graph.stacks:
                raise InputError(f"two nodes are named {shown(name)}; export the model again")
            else:
                stack = graph.stacks[name] = []
            stack.append(node)
            if node.output and node.output[0] and not attributes(node)["layout"]:
                relayed[node.output[0]] = _Relayed(stack, len(stack), _APART)
        elif node.op_type == _QUANTISED:
            graph.refused[name] = "is quantised, as are its inputs and states at each step"
        elif at is not None and form is not None:
            relayed[node.output[0]] = _Relayed(at.stack, at.depth, form)
        for i, inner in enumerate(filter(recurrent, inside(node))):
            place = f"{name}/{inner.name or i}"
            graph.refused[place] = f"runs in a branch or a loop, a part of {shown(name)}"


def _continues(below: _Relayed, node: Any) -> bool:
    """True if a node reads the output of the last layer of a stack, and is such a layer too."""
    first = below.stack[0]
    try:
        same = cell_of(first) == cell_of(node) and direction_of(first) == direction_of(node)
    except InputError:
        return False
    sizes = [attributes(one).get("hidden_size") for one in (first, node)]
    whole = below.form == _JOINED and below.depth == len(below.stack)
    return same and whole and sizes[0] == sizes[1] and not attributes(node)["layout"]


def _relay(node: Any, at: _Relayed, values: Values) -> str | None:
    """The form of a layer's output after a node; None if the node does more than to relay it."""
    if node.domain not in STANDARD or recurrent(node):
        return None
    first, told, fed = at.stack[0], attributes(node), list(node.input[1:])
    if node.op_type == "Identity" or (node.op_type == "Dropout" and len(fed) < 2):
        return at.form
    if node.op_type == "Transpose" and at.form == _APART:
        return _TURNED if list(told.get("perm", ())) == [0, 2, 1, 3] else None
    if node.op_type == "Squeeze" and at.form == _APART and ways_of(first) == 1:
        axes = values.constants(fed[0]) if fed else list(told.get("axes", ()))
        return _JOINED if axes == [1] else None
    if node.op_type == "Reshape" and at.form == _TURNED and fed:
        if values.constants(fed[0]) == [0, 0, -1] and not told.get("allowzero", 0):
            return _JOINED
        before, after = (values.shapes.get(one) for one in (node.input[0], node.output[0]))
        if before and after and (len(before), len(after)) == (4, 3):
            known = None not in before[:2]
            return _JOINED if known and before[:2] == after[:2] else None
    return None
