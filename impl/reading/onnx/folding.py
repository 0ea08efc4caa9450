"""Nodes of an ONNX graph on constants, computed as every runtime computes them.

Folded are the operators whose results are the same bits everywhere: copies, comparisons, and the
float32 and float64 operations that IEEE 754 rounds correctly; so is the product (q − z) s of a
dequantised weight, whose q − z is exact. What other operators make, each runtime rounds as it
likes. `onnx`'s reference evaluator computes a node after `onnx`'s shape inference has said how
large its result is. Sources: ONNX's operators; IEEE 754-2019, section 5.4.
"""

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.onnx.external import ExternalError, external_bytes

Array = npt.NDArray[Any]

LARGEST_WORK = 2**26  # entries that are read and made in all
MOST_NODES = 4000  # that are evaluated
STANDARD = ("", "ai.onnx")  # the domain of ONNX's own operators
COPIES = {
    "Cast", "Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split",
    "Squeeze", "Tile", "Transpose", "Unsqueeze",
}  # fmt: skip
_FILLED = {"Constant", "ConstantOfShape", "Shape"}
_LOGICAL = {"And", "Equal", "Not", "Or"}
_ROUNDED = {"Abs", "Add", "Div", "Mul", "Neg", "Sqrt", "Sub"}
_FOLDED = COPIES | _FILLED | _LOGICAL | _ROUNDED | {"DequantizeLinear"}
_EXACT = ("float32", "float64")  # halves are computed as float32 by some runtimes
_WHOLE = ("int32", "int64")
_FLOATS = ("float16", "bfloat16", *_EXACT)
_QUANTISED = ("int8", "uint8", "int16", "uint16")

AGAIN = "export it again"
_WITHIN = "save the model with them in it, as torch.onnx.export(…, external_data=False) does"
_CONSTANT = "store it as a constant, or hand over the state dict of the model that was exported"


class UnfixedError(Exception):
    """A value that the graph does not fix; the text says why and follows its name."""

    def __init__(self, why: str, remedy: str = _CONSTANT) -> None:
        super().__init__(why)
        self.remedy = remedy


def is_one_of(node: Any, operators: Set[str]) -> bool:
    """True for a node of one of these operators of ONNX's own."""
    return node.op_type in operators and node.domain in STANDARD


class Evaluator:
    """Evaluates nodes of a model, at most MOST_NODES of them and LARGEST_WORK numbers."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._opsets = {one.domain: one.version for one in model.opset_import}
        self._work = self._nodes = 0

    def check(self, node: Any) -> None:
        """Raise what `onnx.checker` raises of a node that its operator does not allow."""
        from onnx import checker

        context = type(checker.DEFAULT_CONTEXT)()
        context.ir_version, context.opset_imports = self._model.ir_version, self._opsets
        checker.check_node(node, context)

    def require(self, node: Any) -> None:
        """Raise UnfixedError for an operator that is not folded."""
        if not is_one_of(node, _FOLDED):
            op = shown(node.op_type)
            raise UnfixedError(f"is computed by {op}, which runtimes round differently")
        for part in node.attribute:
            if part.HasField("t"):
                stored_array(part.t)
            if part.HasField("sparse_tensor"):
                raise UnfixedError("is a sparse tensor")

    def fold(self, node: Any, read: Mapping[str, Array], part: Any) -> dict[str, Array]:
        """Compute what a node puts out; raises UnfixedError. part: the node alone as a model."""
        from onnx.helper import make_empty_tensor_value_info
        from onnx.reference import ReferenceEvaluator

        op, names = node.op_type, [name for name in node.output if name]
        self._spend(part, names, sum(array.size for array in read.values()))
        part.graph.output.extend(map(make_empty_tensor_value_info, names))
        try:
            self.check(node)
            with np.errstate(all="ignore"):
                made = list(map(np.asarray, ReferenceEvaluator(part).run(names, dict(read))))
        except Exception:  # the evaluator raises what it likes
            raise UnfixedError(f"is computed by a node {op} that fails") from None
        types = {array.dtype.name for array in made}
        if not _is_exact(op, [array.dtype.name for array in read.values()], types):
            kinds = ", ".join(sorted(types))
            raise UnfixedError(f"is computed by {op} in {kinds}, which runtimes round differently")
        return dict(zip(names, made, strict=True))

    def _spend(self, part: Any, names: list[str], read: int) -> None:
        """Count what a node reads and makes; raises UnfixedError for too much of it."""
        for name in names:
            shape = inferred(part, name)
            if shape is None or None in shape:
                raise UnfixedError("has no shape that shape inference finds")
            read += int(np.prod(np.array(shape, dtype=object)))
        self._nodes, self._work = self._nodes + 1, self._work + read
        if self._nodes > MOST_NODES or self._work > LARGEST_WORK:
            raise UnfixedError(f"takes more than {LARGEST_WORK} numbers or {MOST_NODES} nodes")


def _is_exact(op: str, read: list[str], made: set[str]) -> bool:
    """True if an operator makes the same bits everywhere of what it read, by their types."""
    if op == "Cast":
        return made <= set(_FLOATS) or set(_FLOATS).isdisjoint(read)
    if op == "Div":
        return made <= set(_EXACT)
    if op == "DequantizeLinear":
        return made == {"float32"} and read[0] in _QUANTISED and read[1] == "float32"
    return op not in _ROUNDED or made <= {*_EXACT, *_WHOLE}


def inferred(model: Any, name: str) -> tuple[int | None, ...] | None:
    """The shape of a value in a model by shape inference; None if it is not found."""
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


def stored_array(tensor: Any, folder: Path | None = None) -> Array:
    """A tensor of the file, or of one beside it in that folder; raises UnfixedError."""
    from onnx import TensorProto
    from onnx.numpy_helper import to_array

    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        whole = TensorProto(dims=tensor.dims, data_type=tensor.data_type)
        try:
            whole.raw_data = external_bytes(tensor, folder)
        except ExternalError as why:
            raise UnfixedError(str(why), _WITHIN) from None
        tensor = whole
    try:
        return np.asarray(to_array(tensor))
    except Exception:  # dims that do not fit the data, and whatever else is damaged
        raise UnfixedError("is damaged", AGAIN) from None
