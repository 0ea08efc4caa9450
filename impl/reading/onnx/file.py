"""ONNX models: the RNN, LSTM and GRU nodes of a graph, as state dicts with torch's names.

Nodes that feed one another are the layers of a stack, which is called as its first node. What a
node computes beyond the cell, and weights that are computed or lie in another file, are refused, as
are graphs that loop or branch, in which nobody knows what is run.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from impl.errors import InputError, shown
from impl.reading.files import ModelFileError
from impl.reading.misfit import LISTED, WeightsError
from impl.reading.onnx.constants import Constants
from impl.reading.onnx.nodes import NodeError, axes_of, cell_of, recurrent, weights_of
from impl.reading.onnx.starts import refuse_other_runs
from impl.reading.opened import Told

LARGEST_GRAPH = 2**28  # bytes; parsing takes several times as much
_STATE = "save the state dict of the model that was exported as safetensors"
_SAME = ("Identity", "Squeeze")  # what lies between the layers of a stack


@dataclass(frozen=True, eq=False)
class Graph:
    """The recurrent nodes of a graph, the layers of each stack together, by the name of the first.

    values: what is known of the values of the graph by name.
    """

    stacks: Mapping[str, list[Any]]
    values: Constants
    where: str
    title: str

    def told(self, layer: str | None) -> Told:
        """The tensors of one stack, by torch's names below the name of its first node."""
        if not self.stacks:
            raise WeightsError(f"{self.where} holds no node RNN, LSTM or GRU; {_STATE}")
        if layer is None and len(self.stacks) == 1:
            layer = next(iter(self.stacks))
        if layer is None or layer not in self.stacks:
            names = ", ".join(shown(name) for name in list(self.stacks)[:LISTED])
            what = f"{self.where} holds {len(self.stacks)} recurrent nodes or stacks of them"
            raise WeightsError(f"{what}; choose one with --layer: {names}")
        nodes = self.stacks[layer]
        cells = [cell_of(node) for node in nodes]
        if other := [cell for cell in cells if cell != cells[0]]:
            raise NodeError(layer, f"of {cells[0]} feeds one of {other[0]}", _STATE)
        if len(set(map(axes_of, nodes))) > 1:
            raise NodeError(layer, "feeds one of another layout, which reads time as batch", _STATE)
        found = dict[str, Any]()
        for l, node in enumerate(nodes):
            weights = weights_of(node, self.values)
            refuse_other_runs(node, self.values, weights["weight_hh"].shape[1])
            found |= {f"{layer}.{role}_l{l}": tensor for role, tensor in weights.items()}
        return Told(found, cells[0], "the node", layer)

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
    stored = {one.name: one for one in model.graph.initializer}
    for node in nodes:
        if node.op_type == "Constant" and node.output:
            for part in node.attribute:
                if part.name == "value":
                    stored[node.output[0]] = part.t
    made = {name: node for node in nodes for name in node.output}
    values = Constants(stored, made, tuple(model.opset_import))
    return Graph(_stacks(nodes), values, shown(path), str(path))


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
