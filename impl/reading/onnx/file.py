"""ONNX models: the RNN, LSTM and GRU nodes of a graph, as state dicts with torch's names.

Nodes that feed one another are the layers of a stack, which is called as its first node. Weights
are constants, stored or computed from stored ones. What a node computes beyond the cell is refused,
as are nodes in loops, and in operators that the file defines, of which nobody knows what is run.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.files import ModelFileError
from rnnbounds.impl.reading.onnx.flatten import GraphError, flatten, nested, subgraphs
from rnnbounds.impl.reading.onnx.folding import STANDARD
from rnnbounds.impl.reading.onnx.nodes import NodeError, cell_of, recurrent, weights_of
from rnnbounds.impl.reading.onnx.quantised import DOMAIN, QUANTISED, WITHOUT
from rnnbounds.impl.reading.onnx.stacks import Stacks
from rnnbounds.impl.reading.onnx.starts import refuse_other_runs
from rnnbounds.impl.reading.onnx.values import Values
from rnnbounds.impl.reading.opened import LayerInfo
from rnnbounds.impl.reading.recognition.misfit import WeightsError, choices

LARGEST_GRAPH = 2**28  # bytes; parsing takes several times as much
_STATE = "save the state dict of the model that was exported as safetensors"
_OPSET = 7  # the first version of the operators with today's broadcasting
_LEGACY = "torch.onnx.export(…, dynamo=False)"


@dataclass(frozen=True, eq=False)
class Graph:
    """The recurrent nodes of a graph by stacks; values: those of the graph, computed when read.

    loop: a node that loops, if there is one. title: with what no weight of a quantised node says.
    """

    stacks: Stacks
    values: Values
    loop: str | None
    where: str
    title: str

    def told(self, layer: str | None) -> LayerInfo:
        """The tensors of one stack, by torch's names below the name of its first node."""
        name = self._only() if layer is None else layer
        if name in self.stacks.closed:
            what = f"runs in a loop, the body of {shown(self.stacks.closed[name])}"
            raise NodeError(name, what, _STATE)
        if name not in self.stacks.found:
            raise self._choose(name)
        found: dict[str, Tensor] = {}
        for l, node in enumerate(self.stacks.found[name].nodes):
            cell = cell_of(node, self.values)
            weights = weights_of(node, self.values, l)
            n = next(one.shape[1] for role, one in weights.items() if "_hh_" in role)
            refuse_other_runs(node, self.values, n)
            found |= {f"{name}.{role}": tensor for role, tensor in weights.items()}
        return LayerInfo(found, cell, "the node", name)

    def layers(self) -> list[str]:
        """The names of the stacks, and of recurrent nodes in loops."""
        return [*self.stacks.found, *self.stacks.closed]

    def _only(self) -> str:
        """The one layer, if it runs whatever the inputs are; raises WeightsError."""
        names = self.layers()
        if len(names) != 1 or self._is_in_branch(names[0]):
            raise self._choose(None)
        return names[0]

    def _is_in_branch(self, name: str) -> bool:
        return name in self.stacks.found and self.stacks.found[name].branch != ""

    def _choose(self, asked: str | None) -> WeightsError:
        """Build the error for a layer that is not there, or where none is named."""
        names = self.layers()
        if names:
            inside = " in branches" if any(map(self._is_in_branch, names)) else ""
            what = f"{len(names)} recurrent nodes or stacks{inside}"
            what = f"{what}; choose one with --layer: {choices(names, asked)}"
        elif self.loop is not None:
            what = f"no recurrent node but the loop {shown(self.loop)}; {_STATE}"
        else:
            what = "no recurrent node (an RNN, an LSTM or a GRU of ONNX)"
            what = f"{what}; export it by {_LEGACY}, which writes them whole, or {_STATE}"
        return WeightsError(f"{self.where} holds {what}")


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
    _refuse_unread(model, path)
    values = Values(model, path.parent)
    try:
        steps = flatten(model.graph, values)
    except GraphError as why:
        raise ModelFileError(path, str(why), "export it again") from None
    loop = next((step.node for step in steps if subgraphs(step.node)), None)
    name = None if loop is None else loop.name or loop.op_type
    quantised = any(recurrent(one.node) and one.node.op_type == QUANTISED for one in steps)
    title = f"{path} ({WITHOUT})" if quantised else str(path)
    return Graph(Stacks(steps, values), values, name, shown(path), title)


def _refuse_unread(model: Any, path: Path) -> None:
    """Raise ModelFileError for operators of old versions, and for such as the file defines."""
    for function in model.functions:
        if any(map(recurrent, nested(function))):
            what = f"has recurrent nodes in a function of its own, {shown(function.name)}"
            raise ModelFileError(path, what, _STATE)
    if any(function.domain in (*STANDARD, DOMAIN) for function in model.functions):
        raise ModelFileError(path, "defines an operator of ONNX anew", _STATE)
    versions = [one.version for one in model.opset_import if one.domain in STANDARD]
    if max(versions, default=0) < _OPSET:
        what = f"has operators of a version before {_OPSET}"
        raise ModelFileError(path, what, "export it again with a newer opset")
