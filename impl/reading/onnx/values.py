"""Values of an ONNX graph that no input of it changes, computed as every runtime computes them.

Folded are the operators whose results are the same bits everywhere: copies, and the float32 and
float64 operations that IEEE 754 rounds correctly. What other operators make, each runtime rounds
as it likes. Nodes are evaluated one by one by `onnx`'s reference evaluator, each after `onnx`'s
shape inference has said how large its result is; nothing runs that the file defines, and no other
file is read. Sources: ONNX's IR specification; IEEE 754-2019, section 5.4.
"""

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnbounds.impl.errors import shown

Array = npt.NDArray[Any]

LARGEST_WORK = 2**26  # entries that are read and made in all
MOST_NODES = 1000  # that are evaluated
STANDARD = ("", "ai.onnx")  # the domain of ONNX's own operators
COPIES = {
    "Cast", "Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split",
    "Squeeze", "Tile", "Transpose", "Unsqueeze",
}  # fmt: skip
_FILLED = {"Constant", "ConstantOfShape", "Shape"}
_ROUNDED = {"Abs", "Add", "Div", "Mul", "Neg", "Sqrt", "Sub"}
_EXACT = ("float32", "float64")  # halves are computed as float32 by some runtimes
_WHOLE = ("int32", "int64")
_TRIALS = (11, 13)  # two sizes for what varies
_FLOATS = ("float16", "bfloat16", *_EXACT)
_HINT = 64  # entries of an integer tensor whose values may be a shape


_INSIDE = "export the model with its weights in the file"
_WITHIN = "save the model with them in it, as torch.onnx.export(…, external_data=False) does"
_AGAIN = "export it again"
_FOLDED = "store it as a constant, or hand over the state dict of the model that was exported"


class UnfixedError(Exception):
    """A value that the graph does not fix; the text says why and follows its name."""

    def __init__(self, why: str, remedy: str = _FOLDED) -> None:
        super().__init__(why)
        self.remedy = remedy


class ValueTwiceError(Exception):
    """A name, which two values have."""


class Values:
    """The values of a graph by name; raises ValueTwiceError.

    stored: tensors in the file. made: nodes by what they put out. inputs: what only the caller has.
    """

    def __init__(self, model: Any) -> None:
        graph, self._model = model.graph, model
        self.stored: Mapping[str, Any] = {one.name: one for one in graph.initializer}
        self.made = {name: node for node in graph.node for name in node.output if name}
        self.inputs = {one.name for one in graph.input} - self.stored.keys()
        self._sparse = {one.values.name for one in graph.sparse_initializer}
        self._opsets = {one.domain: one.version for one in model.opset_import}
        self._known: dict[str, Array] = {}
        self._work = self._nodes = 0
        seen = self.inputs | self._sparse
        names = [one.name for one in graph.initializer]
        for name in names + [name for node in graph.node for name in node.output if name]:
            if name in seen:
                raise ValueTwiceError(name)
            seen.add(name)

    @cached_property
    def _fixed(self) -> set[str]:
        """The names of the values that no input changes."""
        found = set(self.stored)
        for node in self._model.graph.node:  # in the order of evaluation
            if all(name in found for name in node.input if name):
                found.update(node.output)
        return found

    def fixed(self, name: str) -> bool:
        """True if no input changes the value, whether or not it can be computed here."""
        return name in self._fixed

    def array(self, name: str) -> Array:
        """A value that no input changes; raises UnfixedError."""
        if name in self.inputs:
            raise UnfixedError("is an input of the graph", _INSIDE)
        if name in self._sparse:
            raise UnfixedError("is a sparse tensor")
        if name not in self.stored and name not in self.made:
            raise UnfixedError("is nowhere in the graph", _AGAIN)
        if not self.fixed(name):
            raise UnfixedError("is not made of constants alone")
        for node in self._behind(name):
            self._evaluate(node)
        return self._held(name)

    def shape(self, name: str) -> tuple[int | None, ...] | None:
        """The shape of a value that is copied and filled alone, None for a size that varies with
        the inputs; None if it is not known. Found by two trials, in which what varies differs."""
        try:
            one, other = (self._tried(name, size) for size in _TRIALS)
        except UnfixedError:
            return None
        if len(one) != len(other):
            return None
        return tuple(a if a == b else None for a, b in zip(one, other, strict=True))

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
                trial._known[now] = np.broadcast_to(np.float32(0), self._sizes(now, size))
            elif node.op_type == "Shape":
                cut = {part.name: part.i for part in node.attribute}
                sizes = self._sizes(node.input[0], size)[cut.get("start", 0) : cut.get("end")]
                trial._known[now] = np.array(sizes, "int64")
            else:
                ahead += node.input
        for node in trial._behind(name):
            trial._evaluate(node)
        return trial._held(name).shape

    def _sizes(self, name: str, size: int) -> tuple[int, ...]:
        """The sizes of a value by shape inference, those that vary set to one; raises
        UnfixedError."""
        nodes = self._behind(name)
        read = {name} | {one for node in nodes for one in node.input}
        given = [one for one in self._model.graph.input if one.name in self.inputs & read]
        held = {one: self._held(one) for one in read if one in self.stored or one in self._known}
        shape = _inferred(self._part(nodes, held, given), name)
        if shape is None:
            raise UnfixedError("has no shape that shape inference finds")
        return tuple(size if one is None else one for one in shape)

    def _behind(self, name: str) -> list[Any]:
        """The nodes that make a value and are not evaluated yet, in the order of the graph."""
        wanted, ahead = set[str](), [name]
        while ahead:
            now = ahead.pop()
            if now in self.made and now not in wanted and now not in self._known:
                wanted.update(one for one in self.made[now].output if one)
                ahead += self.made[now].input
        return [node for node in self._model.graph.node if not wanted.isdisjoint(node.output)]

    def _held(self, name: str) -> Array:
        if name not in self._known:
            self._known[name] = stored_array(self.stored[name])
        return self._known[name]

    def _evaluate(self, node: Any) -> None:
        """Keep what a node puts out; raises UnfixedError."""
        from onnx.helper import make_empty_tensor_value_info
        from onnx.reference import ReferenceEvaluator

        op = shown(node.op_type)
        if node.domain not in STANDARD or op not in COPIES | _FILLED | _ROUNDED:
            raise UnfixedError(f"is computed by {op}, which runtimes round differently")
        for part in node.attribute:
            if part.HasField("t"):
                stored_array(part.t)
            if part.HasField("sparse_tensor"):
                raise UnfixedError("is a sparse tensor")
        read = {name: self._held(name) for name in node.input if name}
        names = [name for name in node.output if name]
        part = self._part([node], read)
        self._spend(part, names, sum(array.size for array in read.values()))
        part.graph.output.extend(map(make_empty_tensor_value_info, names))
        try:
            self.check(node)
            with np.errstate(all="ignore"):
                made = list(map(np.asarray, ReferenceEvaluator(part).run(names, read)))
        except Exception:  # the evaluator raises what it likes
            raise UnfixedError(f"is computed by a node {op} that fails") from None
        types = {array.dtype.name for array in made}
        exact = _EXACT if op == "Div" else (*_EXACT, *_WHOLE)
        cut = op == "Cast" and _is_float(read) and not types <= set(_FLOATS)
        if cut or (op in _ROUNDED and not types <= set(exact)):
            kinds = ", ".join(sorted(types))
            raise UnfixedError(f"is computed by {op} in {kinds}, which runtimes round differently")
        self._known |= dict(zip(names, made, strict=True))

    def _spend(self, part: Any, names: list[str], read: int) -> None:
        """Count what a node reads and makes; raises UnfixedError for too much of it."""
        for name in names:
            shape = _inferred(part, name)
            if shape is None or None in shape:
                raise UnfixedError("has no shape that shape inference finds")
            read += int(np.prod(np.array(shape, dtype=object)))
        self._nodes, self._work = self._nodes + 1, self._work + read
        if self._nodes > MOST_NODES or self._work > LARGEST_WORK:
            raise UnfixedError(f"takes more than {LARGEST_WORK} numbers or {MOST_NODES} nodes")

    def check(self, node: Any) -> None:
        """Raise what `onnx.checker` raises of a node that its operator does not allow."""
        from onnx import checker

        context = type(checker.DEFAULT_CONTEXT)()
        context.ir_version, context.opset_imports = self._model.ir_version, self._opsets
        checker.check_node(node, context)

    def _part(
        self, nodes: list[Any], held: Mapping[str, Array], given: list[Any] | None = None
    ) -> Any:
        """A model of some nodes and of the types of what they read; small integers, which may be
        shapes, are stored in it."""
        from onnx import helper, numpy_helper

        inputs, hints = list(given or ()), []
        for name, array in held.items():
            if array.dtype == np.int64 and array.size <= _HINT:
                hints.append(numpy_helper.from_array(array, name))
            else:
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        graph = helper.make_graph(nodes, "part", inputs, [], hints)
        return helper.make_model(
            graph, opset_imports=self._model.opset_import, ir_version=self._model.ir_version
        )


def _inferred(model: Any, name: str) -> tuple[int | None, ...] | None:
    """The shape of a result in a model."""
    from onnx import shape_inference

    try:
        found = shape_inference.infer_shapes(model).graph
    except Exception:  # the inference raises what it likes
        return None
    known = {one.name: one.type.tensor_type for one in (*found.value_info, *found.input)}
    if name not in known or not known[name].HasField("shape"):
        return None
    dims = known[name].shape.dim
    return tuple(one.dim_value if one.HasField("dim_value") else None for one in dims)


def stored_array(tensor: Any) -> Array:
    """A tensor that the file holds; raises UnfixedError."""
    from onnx import TensorProto
    from onnx.numpy_helper import to_array

    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        raise UnfixedError("lies in another file", _WITHIN)
    try:
        return np.asarray(to_array(tensor))
    except Exception:  # dims that do not fit the data, and whatever else is damaged
        raise UnfixedError("is damaged", _AGAIN) from None


def _is_float(read: Mapping[str, Array]) -> bool:
    return any(array.dtype.name in _FLOATS for array in read.values())
