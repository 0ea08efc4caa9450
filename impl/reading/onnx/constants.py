"""Values of an ONNX graph that its file alone determines, folded node by node by onnx itself.

Only operators that every runtime computes alike are folded: those that move numbers, and the sum,
difference, product and negative of IEEE arithmetic. What is folded is bounded in size before it is
computed. Source: the operators of ONNX, and `onnx.reference`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOVES = frozenset(
    {
        "Concat", "Constant", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice",
        "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
    }
)  # fmt: skip
_EXACT = MOVES | {"Add", "Cast", "ConstantOfShape", "Mul", "Neg", "Shape", "Sub"}
LARGEST = 2**27  # numbers of one value
DEEPEST = 10_000  # nodes behind one value


@dataclass(frozen=True, eq=False)
class Constants:
    """The values of a graph by name.

    stored: constant tensors as they stand in the file. made: nodes by what they put out. opsets:
    what the file says of the versions of its operators.
    """

    stored: Mapping[str, Any]
    made: Mapping[str, Any]
    opsets: Sequence[Any] = ()
    _known: dict[str, Any] = field(default_factory=dict)

    def outside(self, name: str) -> bool:
        """True for a value that the graph is handed: nothing in the file makes it."""
        return name not in self.stored and name not in self.made

    def array(self, name: str, by: frozenset[str] = _EXACT) -> Any | None:
        """A value as a NumPy array, folded by these operators; None where they do not fold it, or
        where it is larger than LARGEST, in another file, or damaged."""
        before = self._before(name, by)
        for one in before:
            if one not in self._known:
                self._known[one] = self._value(one)
        return self._known[name] if before else None

    def _before(self, name: str, by: frozenset[str]) -> list[str]:
        """The values that it takes to fold one, each after those it takes itself; empty where an
        operator is not among `by`, or too many are needed."""
        order, ahead, seen = list[str](), [(name, False)], set[str]()
        while ahead:
            one, done = ahead.pop()
            if done or one in self.stored:
                order.append(one)
            elif one not in seen:
                seen.add(one)
                node = self.made.get(one)
                if node is None or node.op_type not in by or node.domain or len(seen) > DEEPEST:
                    return []
                ahead.append((one, True))
                ahead += [(part, False) for part in node.input if part]
        return order

    def _value(self, name: str) -> Any | None:
        if name in self.stored:
            return stored_array(self.stored[name])
        node = self.made[name]
        fed = {part: self._known.get(part) for part in node.input if part}
        if any(value is None for value in fed.values()):
            return None
        try:
            return _run(node, name, fed, self.opsets)
        except Exception:  # whatever onnx says of a node that is none
            return None


def stored_array(tensor: Any) -> Any | None:
    """A tensor of the file as a NumPy array; None where it is damaged or in another file."""
    from onnx import TensorProto
    from onnx.numpy_helper import to_array

    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        return None
    try:
        return to_array(tensor)
    except Exception:  # dims that do not fit the data, and whatever else is damaged
        return None


def _run(node: Any, name: str, fed: Mapping[str, Any], opsets: Sequence[Any]) -> Any | None:
    """One output of one node, by onnx's reference; None for one of unknown or too large a size."""
    from onnx import helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
    from onnx.shape_inference import infer_shapes

    out = helper.make_empty_tensor_value_info(name)
    held = [numpy_helper.from_array(value, part) for part, value in fed.items()]
    graph = helper.make_graph([node], "one", [], [out], held)
    model = helper.make_model(graph, opset_imports=list(opsets) or None)
    told = infer_shapes(model, data_prop=True).graph.output[0].type.tensor_type
    size = 1
    for axis in told.shape.dim:
        if not axis.HasField("dim_value"):
            return None
        size *= axis.dim_value
    if not told.HasField("shape") or size > LARGEST:
        return None
    (value,) = ReferenceEvaluator(model).run([name], {})
    return value


def sources(name: str, values: Constants, copies: Callable[[Any], Iterable[str]]) -> list[str]:
    """The values that one is a copy of: where going back through nodes that copy ends.

    copies: the inputs that a node copies, none for one that computes.
    """
    found, seen, ahead = list[str](), set[str](), [name]
    while ahead:
        one = ahead.pop()
        if one in seen:
            continue
        seen.add(one)
        node = values.made.get(one)
        before = [] if node is None or one in values.stored else list(copies(node))
        ahead += before
        if not before:
            found.append(one)
    return found
