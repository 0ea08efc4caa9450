"""An ONNX graph with its branches as one list of nodes, in the order of evaluation.

An `If` whose condition is a constant is the branch that it takes. Of any other both branches are
listed, each node with the path of its branch, and each result of the `If` is one of two values.
Bodies of loops stay closed: their node reads whatever they read. Values are renamed where branches
use a name twice, so that each name has one value. Source: ONNX's IR specification.
"""

from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.onnx.folding import STANDARD, UnfixedError
from rnnbounds.impl.reading.onnx.values import Values

_BRANCHES = ("then_branch", "else_branch")

Names = ChainMap[str, str]  # values by their names in a graph and in those around it


class GraphError(Exception):
    """A graph that is none of ONNX's; the text follows the name of the file."""


@dataclass(frozen=True, eq=False)
class Step:
    """A node of the list; branch: the path of the branch it is in, "" outside of all."""

    node: Any
    branch: str


def flatten(graph: Any, values: Values) -> list[Step]:
    """All nodes in order, with their values declared in `values`; raises GraphError."""
    if not all(isinstance(text, str) for text in _texts(graph)):  # protobuf's of wrong bytes
        raise GraphError("has names that are no text")
    walk = _Walk(values)
    walk.read(graph, ChainMap(), "")
    return walk.steps


def nested(graph: Any) -> Iterator[Any]:
    """All nodes of a graph or a function, and of the graphs in these."""
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from nested(inner)


def subgraphs(node: Any) -> list[Any]:
    """The graphs that a node holds, as a loop its body."""
    return [
        graph
        for part in node.attribute
        for graph in ([part.g] if part.HasField("g") else part.graphs)
    ]


def _texts(graph: Any) -> Iterator[str]:
    """The names in a graph and in those of its nodes."""
    yield from (one.name for one in (*graph.input, *graph.output, *graph.initializer))
    yield from (one.values.name for one in graph.sparse_initializer)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (part.name for part in node.attribute)
        for inner in subgraphs(node):
            yield from _texts(inner)


def _read_inside(node: Any) -> Iterator[str]:
    """The names that the graphs of a node read, their own and those around the node."""
    for graph in subgraphs(node):
        yield from (one.name for one in graph.output)
        for inside in nested(graph):
            yield from inside.input


class _Walk:
    def __init__(self, values: Values) -> None:
        self.values = values
        self.steps: list[Step] = []
        self.twins = self.unnamed = 0

    def read(self, graph: Any, around: Names, branch: str) -> Names:
        """Declare the values of a graph and list its nodes; returns its names."""
        names, stored = around.new_child(), {one.name for one in graph.initializer}
        for given in graph.input:
            if given.name not in stored:
                self.values.inputs.add(self._declare(given.name, names))
        for tensor in graph.initializer:
            self.values.stored[self._declare(tensor.name, names)] = tensor
        for tensor in graph.sparse_initializer:
            self.values.sparse.add(self._declare(tensor.values.name, names))
        for node in graph.node:
            if node.op_type == "If" and node.domain in STANDARD:
                self._choose(node, names, branch)
            else:
                self._list(node, names, branch)
        return names

    def _list(self, node: Any, names: Names, branch: str) -> None:
        captured = [name for name in _read_inside(node) if name in names]
        reads = [self._found(name, node, names) for name in (*node.input, *captured)]
        makes = [self._declare(name, names) if name else "" for name in node.output]
        if (reads, makes) != (list(node.input), list(node.output)):
            whole = node
            node = type(whole)()
            node.CopyFrom(whole)
            node.input[:], node.output[:] = reads, makes
        self.values.make(node)
        self.steps.append(Step(node, branch))

    def _choose(self, node: Any, names: Names, branch: str) -> None:
        """List both branches of an `If`, or the one that its condition fixes."""
        bodies = {part.name: part.g for part in node.attribute if part.HasField("g")}
        sizes = {len(body.output) for body in bodies.values()}
        given = any(body.input for body in bodies.values())
        if {*bodies} != {*_BRANCHES} or sizes != {len(node.output)} or given:
            raise GraphError(f"has a node {_title(node)} that is no If of ONNX")
        name = node.name or f"If_{self.unnamed}"
        self.unnamed += not node.name
        condition = self._found("".join(node.input[:1]), node, names)
        taken = self._taken(condition)
        ends = []
        for key in _BRANCHES if taken is None else (taken,):
            path = f"{branch}{name}/{key}/" if taken is None else branch
            inside = self.read(bodies[key], names, path)
            ends.append([self._found(one.name, node, inside) for one in bodies[key].output])
        for output, options in zip(node.output, zip(*ends, strict=True), strict=True):
            if taken is not None:
                self._require_new(output, names)
                names[output] = options[0]
            elif output:
                self.values.choices[self._declare(output, names)] = options

    def _taken(self, condition: str) -> str | None:
        """The branch that a condition fixes."""
        try:
            flag = self.values.array(condition)
        except UnfixedError:
            return None
        if flag.dtype.name != "bool" or flag.size != 1:
            return None
        return _BRANCHES[not flag.all()]

    def _found(self, name: str, node: Any, names: Names) -> str:
        """The value of that name; raises GraphError if nothing before the node makes it."""
        if name and name not in names:
            what = f"reads {shown(name)}, which nothing before it makes"
            raise GraphError(f"has a node {_title(node)} that {what}")
        return names[name] if name else ""

    def _declare(self, name: str, names: Names) -> str:
        """Declare a value of a graph under a name that no other has."""
        self._require_new(name, names)
        own = name
        while own in self.values:  # of a branch beside this one
            self.twins += 1
            own = f"{name}#{self.twins}"
        names[name] = own
        return own

    def _require_new(self, name: str, names: Names) -> None:
        if name in names:
            raise GraphError(f"has two values named {shown(name)}")


def _title(node: Any) -> str:
    return shown(node.name or node.op_type)
