"""Values of an ONNX graph: those that it stores, what is cut and joined of them, and all shapes.

Found are initialisers, constants and what torch's exporter makes of large weights, that is slices,
joined again. Shapes are those of `onnx`'s shape inference alone, of a graph that `onnx` checked.
Nothing runs that the file defines; of other files the weights alone are read that the model keeps
beside it, as torch's exporter writes large ones. Source: ONNX's operators and IR specification.
"""

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnbounds.impl.errors import shown

Array = npt.NDArray[Any]
Shape = tuple[int | str | None, ...]  # a text is one size wherever it stands, None any size

LARGEST_WORK = 2**28  # entries that are made in all
LARGEST_TENSOR = 2**31  # bytes of a tensor
STANDARD = ("", "ai.onnx")  # the domain of ONNX's own operators
AGAIN = "export it again"
_STATE = "hand over the state dict of the model that was exported"
_WITHIN = "save the model with them in it, as torch.onnx.export(…, external_data=False) does"
_DEEPEST = 50  # nodes between a weight and what is stored
_SMALL = 64  # entries of a tensor whose values may be a shape
_JOINED = ("Concat", "Identity", "Slice", "Unsqueeze")
_COPIES = {
    "Cast", "Concat", "Expand", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose",
    "Unsqueeze",
}  # fmt: skip


class UnfixedError(Exception):
    """A value that the graph does not fix; the text says why and follows its name."""

    def __init__(self, why: str, remedy: str = _STATE) -> None:
        super().__init__(why)
        self.remedy = remedy


class Values:
    """The values of a model by name. folder: that of the model.

    made: nodes by what they put out. inputs: what only the caller has. shapes: as far as inference
    finds them. Raises Exception for a graph that is none of ONNX's.
    """

    def __init__(self, model: Any, folder: Path) -> None:
        from onnx import checker, shape_inference

        graph = model.graph
        texts = (text for node in nested(graph) for text in (node.name, *node.input, *node.output))
        if not all(isinstance(text, str) for text in texts):  # protobuf's of wrong bytes
            raise ValueError("names that are no text")
        self._folder, self._work = folder, 0
        self._known: dict[str, Array] = {}
        self.stored = {one.name: one for one in graph.initializer}
        self.inputs = {one.name for one in graph.input} - self.stored.keys()
        self.made: dict[str, Any] = {}
        for node in graph.node:
            self.made |= dict.fromkeys(filter(None, node.output), node)
            if node.op_type == "Constant" and node.domain in STANDARD:
                tensors = [part.t for part in node.attribute if part.name == "value"]
                self.stored |= dict(zip(node.output, tensors, strict=False))
        light = _without_weights(model)
        checker.check_model(light)
        found = shape_inference.infer_shapes(light, data_prop=True).graph
        self.shapes: dict[str, Shape | None]
        self.shapes = {name: tuple(one.dims) for name, one in self.stored.items()}
        self.shapes |= {one.name: _shape(one) for one in (*found.value_info, *found.input)}

    def array(self, name: str, depth: int = 0) -> Array:
        """A value that is stored, or cut and joined of stored ones; raises UnfixedError."""
        if name not in self._known:
            self._known[name] = self._read(name, depth)
        return self._known[name]

    def _read(self, name: str, depth: int) -> Array:
        if name in self.stored:
            return stored_array(self.stored[name], self._folder)
        if name in self.inputs:
            raise UnfixedError("is an input of the graph", "export it with its weights in the file")
        node = self.made[name]
        if node.op_type not in _JOINED or node.domain not in STANDARD or depth > _DEEPEST:
            raise UnfixedError(f"is computed by {shown(node.op_type)}")
        parts = [self.array(one, depth + 1) for one in node.input]
        self._work += sum(part.size for part in parts)
        if self._work > LARGEST_WORK:
            raise UnfixedError(f"is made of more than {LARGEST_WORK} numbers")
        try:
            return _joined(node, parts)
        except Exception:  # NumPy raises what it likes for axes that are none
            raise UnfixedError(f"is computed by a node {node.op_type} that fails") from None

    def origins(self, name: str) -> Iterator[str]:
        """The values that a value is copied from, itself if from none."""
        seen, ahead = set[str](), [name]
        while ahead:
            now = ahead.pop()
            node = self.made.get(now)
            if now in seen:
                continue
            seen.add(now)
            if node is None or node.op_type not in _COPIES or node.domain not in STANDARD:
                yield now
            else:
                ahead += node.input if node.op_type == "Concat" else node.input[:1]

    def filling(self, attribute: Any) -> Array:
        """The value of a ConstantOfShape."""
        return stored_array(attribute.t, self._folder)

    def constants(self, name: str) -> list[int] | None:
        """A few integers that are stored; None for anything else."""
        try:
            array = self.array(name)
        except (UnfixedError, KeyError):
            return None
        whole = array.dtype.kind in "iu" and array.size <= _SMALL
        return [int(one) for one in array.ravel()] if whole else None


def inside(node: Any) -> Iterator[Any]:
    """All nodes of the graphs that a node holds, as a loop its body."""
    for part in node.attribute:
        for graph in [part.g] if part.HasField("g") else part.graphs:
            yield from nested(graph)


def nested(graph: Any) -> Iterator[Any]:
    """All nodes of a graph or a function, and of the graphs in these."""
    for node in graph.node:
        yield node
        yield from inside(node)


def _joined(node: Any, parts: Sequence[Array]) -> Array:
    """The array that a node makes of others by copying them."""
    attributes = {one.name: one for one in node.attribute}
    if node.op_type == "Concat":
        return np.concatenate(parts, axis=attributes["axis"].i)
    if node.op_type == "Unsqueeze":
        axes = parts[1].tolist() if parts[1:] else list(attributes["axes"].ints)
        return np.expand_dims(parts[0], tuple(axes))
    if node.op_type == "Slice":
        first, starts, ends = parts[:3]
        at = parts[3].tolist() if parts[3:] else list(range(len(starts)))
        if any((step != 1).any() for step in parts[4:]):
            raise ValueError("a step")
        cut = [slice(None)] * first.ndim
        for axis, start, end in zip(at, starts.tolist(), ends.tolist(), strict=True):
            cut[axis] = slice(start, end)
        return first[tuple(cut)]
    return parts[0]


def _without_weights(model: Any) -> Any:
    """The model with its larger tensors as inputs, whose values make no shape."""
    from onnx import ModelProto, TensorProto, helper

    light = ModelProto()
    light.CopyFrom(model)
    graph = light.graph
    given = {one.name for one in graph.input}
    del graph.initializer[:], graph.value_info[:], graph.output[:]
    for tensor in model.graph.initializer:
        size = int(np.prod(np.array(tensor.dims, dtype=object)))
        if size <= _SMALL and tensor.data_location != TensorProto.EXTERNAL:
            graph.initializer.append(tensor)
        elif tensor.name not in given:
            info = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            graph.input.append(info)
    return light


def _shape(info: Any) -> Shape | None:
    kind = info.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return tuple(
        one.dim_value if one.HasField("dim_value") else one.dim_param or None
        for one in kind.shape.dim
    )


def stored_array(tensor: Any, folder: Path) -> Array:
    """A tensor of the file, or of one beside it in that folder; raises UnfixedError."""
    from onnx import TensorProto
    from onnx.numpy_helper import to_array

    try:
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            tensor = _beside(tensor, folder)
        return np.asarray(to_array(tensor))
    except UnfixedError:
        raise
    except Exception:  # dims that do not fit the data, no type, and whatever else is damaged
        raise UnfixedError("is damaged", AGAIN) from None


def _beside(tensor: Any, folder: Path) -> Any:
    """The tensor with its data in it; `onnx` reads them, of regular files in the folder alone."""
    from onnx import TensorProto, helper
    from onnx.external_data_helper import load_external_data_for_tensor

    size = prod(tensor.dims) * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    told = {entry.key: entry.value for entry in tensor.external_data}
    if not 0 < size <= LARGEST_TENSOR or told.setdefault("length", str(size)) != str(size):
        raise UnfixedError("lies in another file, in other bytes than its shape takes", _WITHIN)
    if not told.keys() <= {"location", "offset", "length"}:
        raise UnfixedError("lies in another file, by entries that are not read", _WITHIN)
    whole = TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
    for key, value in told.items():
        whole.external_data.add(key=key, value=value)
    try:
        load_external_data_for_tensor(whole, str(folder))
    except Exception as cause:  # whatever the package finds
        where, why = shown(told.get("location", "")), shown(str(cause))
        raise UnfixedError(
            f"lies in {where}, which is not read beside the model ({why})", _WITHIN
        ) from None
    return whole
