"""Values of an ONNX graph: which of them no input changes, these themselves, shapes of the rest.

Found are values that `folding` computes as every runtime computes them, each once. Shapes come from
`onnx`'s shape inference. Nothing runs that the file defines; of other files the weights alone are
read that the model keeps beside it. Source: ONNX's IR specification.
"""

import copy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rnnbounds.impl.reading.onnx.folding import (
    AGAIN,
    Array,
    Evaluator,
    UnfixedError,
    inferred,
    is_one_of,
    stored_array,
)

_TRIALS = (11, 13)  # two sizes for what varies
_RANK = 8  # of a tensor of which nothing is known
_HINT = 64  # entries of an integer tensor whose values may be a shape
_LARGEST_PART = 1000  # nodes whose shapes are inferred for the sake of one
_MOST_INFERRED = 20_000  # nodes in all
_INSIDE = "export the model with its weights in the file"

Shape = tuple[int | None, ...]  # None for a size that varies


class Values:
    """The values of a graph by name, declared in the order of evaluation.

    stored: tensors in the file. made: nodes by what they put out. inputs: what only the caller has.
    choices: results of branches, each one of several values.
    """

    def __init__(self, model: Any, folder: Path | None) -> None:
        self.stored: dict[str, Any] = {}
        self.made: dict[str, Any] = {}
        self.inputs: set[str] = set()
        self.choices: dict[str, Sequence[str]] = {}
        self.sparse: set[str] = set()
        self._model, self._beside = model, folder
        self._evaluator = Evaluator(model)
        self._given = {one.name: one for one in model.graph.input}
        self._order: dict[str, int] = {}  # the place of the node that makes a value
        self._fixed: set[str] = set()
        self._known: dict[str, Array] = {}
        self._inferred = 0

    def __contains__(self, name: str) -> bool:
        places = (self.stored, self.made, self.inputs, self.choices, self.sparse)
        return any(name in place for place in places)

    def make(self, node: Any) -> None:
        """Declare what a node puts out."""
        place = len(self._order)
        for name in filter(None, node.output):
            self.made[name], self._order[name] = node, place
        if all(self.fixed(name) for name in node.input if name):
            self._fixed.update(node.output)

    def allows(self, node: Any) -> bool:
        """True for a node that its operator allows, and in which no attribute comes twice."""
        try:
            self._evaluator.check(node)
        except Exception:  # the checker raises what it likes
            return False
        return len({one.name for one in node.attribute}) == len(node.attribute)

    def fixed(self, name: str) -> bool:
        """True if no input changes the value, whether or not it can be computed here."""
        return name in self.stored or name in self._fixed

    def array(self, name: str) -> Array:
        """A value that no input changes; raises UnfixedError."""
        if name in self.inputs:
            raise UnfixedError("is an input of the graph", _INSIDE)
        if name in self.sparse:
            raise UnfixedError("is a sparse tensor")
        if name not in self:
            raise UnfixedError("is nowhere in the graph", AGAIN)
        if not self.fixed(name):
            raise UnfixedError("is not made of constants alone")
        for node in self._behind(name):
            self._evaluate(node)
        return self._held(name)

    def shape(self, name: str) -> Shape | None:
        """The shape of a value that is copied and filled alone; None if it is not known.

        Found by two trials, in which the sizes that vary with the inputs differ."""
        try:
            one, other = (self._tried(name, size) for size in _TRIALS)
        except UnfixedError:
            return None
        if len(one) != len(other):
            return None
        return tuple(a if a == b else None for a, b in zip(one, other, strict=True))

    def sizes(self, name: str) -> Shape | None:
        """The shape of a value by shape inference from the inputs; None if it is not known."""
        nodes = self._behind(name)
        self._inferred += len(nodes)
        if len(nodes) > _LARGEST_PART or self._inferred > _MOST_INFERRED:
            return None
        read = {name} | {one for node in nodes for one in node.input}
        try:
            return inferred(self._part(nodes, read), name)
        except UnfixedError:
            return None

    def _tried(self, name: str, size: int) -> tuple[int, ...]:
        """The shape of a value where all sizes that vary are one; raises UnfixedError."""
        trial = copy.copy(self)
        trial._known = dict(self._known)
        seen, ahead = set[str](), [name]
        while ahead:
            now = ahead.pop()
            if now in seen or self.fixed(now):
                continue
            seen.add(now)
            node = self.made.get(now)
            if node is None:
                if self.sizes(now) is None:
                    raise UnfixedError("has no shape that shape inference finds")
                trial._known[now] = np.broadcast_to(np.float32(0), self._guessed(now, size))
            elif is_one_of(node, {"Shape"}):
                cut = {part.name: part.i for part in node.attribute}
                sizes = self._guessed(node.input[0], size)[cut.get("start", 0) : cut.get("end")]
                trial._known[now] = np.array(sizes, "int64")
            else:
                ahead += node.input
        for node in trial._behind(name):
            trial._evaluate(node)
        return trial._held(name).shape

    def _guessed(self, name: str, size: int) -> tuple[int, ...]:
        """The sizes of a value, those that vary set to one; _RANK of them if nothing is known."""
        shape = self.sizes(name)
        return tuple(size if one is None else one for one in shape or [None] * _RANK)

    def _behind(self, name: str) -> list[Any]:
        """The nodes that make a value and are not evaluated yet, in the order of the graph."""
        wanted, seen, ahead = dict[int, Any](), set[str](), [name]
        while ahead:
            now = ahead.pop()
            if now in seen or now in self._known or now not in self.made:
                continue
            node = self.made[now]
            wanted[self._order[now]] = node
            seen.update(node.output)
            ahead += node.input
        return [node for _, node in sorted(wanted.items())]

    def _held(self, name: str) -> Array:
        if name not in self._known:
            self._known[name] = stored_array(self.stored[name], self._beside)
        return self._known[name]

    def _evaluate(self, node: Any) -> None:
        """Keep what a node puts out; raises UnfixedError."""
        self._evaluator.require(node)
        read = {name: self._held(name) for name in node.input if name}
        self._known |= self._evaluator.fold(node, read, self._part([node], read))

    def _part(self, nodes: list[Any], read: Iterable[str]) -> Any:
        """A model of some nodes and of the types of what they read; small integers, which may be
        shapes, are stored in it."""
        from onnx import helper, numpy_helper

        inputs, hints = [], []
        for name in read:
            if name in self._known or (name in self.stored and _is_small(self.stored[name])):
                array = self._held(name)
                if array.dtype == np.int64 and array.size <= _HINT:
                    hints.append(numpy_helper.from_array(array, name))
                else:
                    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                    inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
            elif name in self.stored:
                tensor = self.stored[name]
                one = helper.make_tensor_value_info(name, tensor.data_type, tensor.dims)
                inputs.append(one)
            elif name in self._given:
                inputs.append(self._given[name])
        graph = helper.make_graph(nodes, "part", inputs, [], hints)
        return helper.make_model(
            graph, opset_imports=self._model.opset_import, ir_version=self._model.ir_version
        )


def _is_small(tensor: Any) -> bool:
    """True for a tensor of a few integers in the file."""
    return tensor.data_type == 7 and len(tensor.dims) < 2 and max(tensor.dims, default=1) <= _HINT
