"""ONNX models: the RNN, LSTM and GRU nodes of a graph, as state dicts with torch's names.

Nodes that feed one another are the layers of a stack, which is called as its first node. Weights
are constants, stored or computed from stored ones. What a node computes beyond the cell is refused,
as are graphs that loop or branch, or that define operators anew, in which nobody knows what is run.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.files import ModelFileError
from rnnbounds.impl.reading.onnx.nodes import NodeError, axes_of, cell_of, recurrent, weights_of
from rnnbounds.impl.reading.onnx.starts import refuse_other_runs
from rnnbounds.impl.reading.onnx.values import STANDARD, Values, ValueTwiceError
from rnnbounds.impl.reading.opened import LayerInfo
from rnnbounds.impl.reading.recognition.misfit import WeightsError, choices

LARGEST_GRAPH = 2**28  # bytes; parsing takes several times as much
_STATE = "save the state dict of the model that was exported as safetensors"
_OPSET = 7  # the first version of the operators with today's broadcasting
_SAME = ("Identity", "Squeeze")  # what lies between the layers of a stack


@dataclass(frozen=True, eq=False)
class Graph:
    """The recurrent nodes of a graph, the layers of each stack together, by the name of the first.

    values: those of the graph, none of which is read or computed yet.
    """

    stacks: Mapping[str, list[Any]]
    values: Values
    where: str
    title: str

    def told(self, layer: str | None) -> LayerInfo:
        """The tensors of one stack, by torch's names below the name of its first node."""
        if layer is None and len(self.stacks) == 1:
            layer = next(iter(self.stacks))
        if not self.stacks:
            what = f"{self.where} holds no recurrent node (an RNN, an LSTM or a GRU of ONNX)"
            raise WeightsError(f"{what}; {_STATE}")
        if layer is None or layer not in self.stacks:
            what = f"{self.where} holds {len(self.stacks)} recurrent nodes or stacks of them"
            raise WeightsError(f"{what}; choose one with --layer: {choices(self.stacks, layer)}")
        nodes = self.stacks[layer]
        cells = [cell_of(node, self.values) for node in nodes]
        if other := [cell for cell in cells if cell != cells[0]]:
            raise NodeError(layer, f"of {cells[0]} feeds one of {other[0]}", _STATE)
        if len(set(map(axes_of, nodes))) > 1:
            raise NodeError(layer, "feeds one of another layout, which reads time as batch", _STATE)
        found: dict[str, Tensor] = {}
        for l, node in enumerate(nodes):
            weights = weights_of(node, self.values)
            refuse_other_runs(node, self.values, weights["weight_hh"].shape[1])
            found |= {f"{layer}.{role}_l{l}": tensor for role, tensor in weights.items()}
        return LayerInfo(found, cells[0], "the node", layer)

    def layers(self) -> list[str] | None:
        """The names of the stacks."""
        return list(self.stacks)


def graph_of(data: bytes, path: Path) -> Graph:
    """The graph of an ONNX file; raises ModelFileError, also where `onnx` is not installed."""
    try:
        from onnx import ModelProto
    except ImportError:
        remedy = f"pip install 'rnnbounds[onnx]', or {_STATE}"
        raise ModelFileError(path, "is an ONNX model, which onnx reads", remedy) from None
    if len(data) > LARGEST_GRAPH:
        raise ModelFileError(path, f"is larger than {LARGEST_GRAPH} bytes", _STATE)
    try:
        model = ModelProto.FromString(data)
    except Exception:  # protobuf raises what it likes
        raise ModelFileError(path, "is no intact ONNX model", "export it again") from None
    nodes = list(model.graph.node)
    inside = [node for function in model.functions for node in function.node]
    for node in (*nodes, *inside):
        if any(part.HasField("g") or part.graphs for part in node.attribute):
            what = f"loops or branches, by a node {shown(node.op_type)}"
            raise ModelFileError(path, what, f"which cell is run is not known; {_STATE}")
    if any(map(recurrent, inside)):
        raise ModelFileError(path, "has recurrent nodes in functions of its own", _STATE)
    if any(function.domain in STANDARD for function in model.functions):
        raise ModelFileError(path, "defines an operator of ONNX anew", _STATE)
    if (
        max((one.version for one in model.opset_import if one.domain in STANDARD), default=0)
        < _OPSET
    ):
        what = f"has operators of a version before {_OPSET}"
        raise ModelFileError(path, what, "export it again with a newer opset")
    try:
        return Graph(_stacks(nodes), Values(model), shown(path), str(path))
    except ValueTwiceError as twice:
        what = f"has two values named {shown(twice)}"
        raise ModelFileError(path, what, "export it again") from None


def _stacks(nodes: Iterable[Any]) -> dict[str, list[Any]]:
    """The recurrent nodes by the name of the first of each chain."""
    found: dict[str, list[Any]] = {}
    tops: dict[str, tuple[str, int]] = {}  # what carries the output of so many layers of a chain
    made: Counter[str] = Counter()
    for node in nodes:
        below = tops.get(node.input[0]) if node.input else None
        if recurrent(node):
            name = node.name or f"{node.op_type}_{made[node.op_type]}"
            made[node.op_type] += 1
            if below is not None and len(found[below[0]]) == below[1]:
                name = below[0]
            elif name in found:
                raise InputError(f"two nodes are named {shown(name)}; export the model again")
            found.setdefault(name, []).append(node)
            if node.output and node.output[0]:
                tops[node.output[0]] = name, len(found[name])
        elif node.op_type in _SAME and below is not None:
            tops[node.output[0]] = below
    return found
