"""Integer vectors of an ONNX graph that say a shape: constants, and what is made of sizes.

As exporters compute the shape of a Reshape: sizes of a tensor that is followed are cut out,
multiplied and joined with constants. Source: ONNX's operators.
"""

from collections.abc import Callable
from typing import Any

from rnnbounds.impl.reading.onnx.axes import Size, product
from rnnbounds.impl.reading.onnx.folding import STANDARD, UnfixedError
from rnnbounds.impl.reading.onnx.values import Values

_DEEPEST = 50  # nodes between a tensor and a shape made of its sizes
_LONGEST = 16  # entries, and factors of one
_LARGEST = 2**63
_SAME = ("Cast", "Identity", "Squeeze", "Unsqueeze")
_DATA = dict.fromkeys(("Gather", "Slice", "Reshape", *_SAME), 1)  # inputs that are vectors
_PLAIN = {"allowzero", "axes", "axis", "to"}  # attributes that are read, or make no difference
_INTEGERS = (6, 7)  # ONNX's numbers of int32 and int64

Vector = tuple[Size, ...]
Sizes = Callable[[str], Vector | None]  # of a tensor that is followed


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node that are numbers or lists of them, by name."""
    from onnx import AttributeProto

    found: dict[str, Any] = {}
    for part in node.attribute:
        if part.type == AttributeProto.INT:
            found[part.name] = part.i
        elif part.type == AttributeProto.INTS:
            found[part.name] = list(part.ints)
    return found


def constants(name: str, values: Values) -> list[int] | None:
    """A few integers that no input changes; None for anything else."""
    try:
        array = values.array(name)
    except UnfixedError:
        return None
    if array.dtype.kind not in "iu" or array.size > _LONGEST:
        return None
    return [int(one) for one in array.ravel()]


class Dims:
    """Integer vectors of a graph; sizes: those of a tensor that is followed, None of others."""

    def __init__(self, values: Values, sizes: Sizes) -> None:
        self._values, self._sizes = values, sizes
        self._found: dict[str, Vector | None] = {}

    def vector(self, name: str, depth: int = 0) -> Vector | None:
        """The entries of a vector, a number being one of a single entry; None if unknown."""
        if name not in self._found:
            self._found[name] = None if depth > _DEEPEST else self._read(name, depth)
        return self._found[name]

    def _read(self, name: str, depth: int) -> Vector | None:
        if self._values.fixed(name):
            whole = constants(name, self._values)
            return None if whole is None else tuple((one, "") for one in whole)
        node = self._values.made.get(name)
        if node is None or node.domain not in STANDARD or not self._values.allows(node):
            return None
        if len(node.input) > _LONGEST:
            return None
        given = attributes(node)
        if node.op_type == "Shape":
            found = self._sizes(node.input[0])
            return None if found is None else found[given.get("start", 0) : given.get("end")]
        parts = [self.vector(one, depth + 1) for one in node.input[: _DATA.get(node.op_type)]]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or not known or not given.keys() <= _PLAIN:
            return None
        further = [constants(one, self._values) for one in node.input[1:]]
        made = _made(node.op_type, known, further, given)
        return made if made is not None and _is_small(made) else None


def _is_small(made: Vector) -> bool:
    """True for a vector that may be a shape."""
    return len(made) <= _LONGEST and all(
        abs(number) < _LARGEST and len(symbols) <= _LONGEST for number, symbols in made
    )


def _made(
    op: str, parts: list[Vector], further: list[list[int] | None], given: dict[str, Any]
) -> Vector | None:
    """Apply an operator to vectors; further: its inputs after the first, where constant."""
    first = parts[0]
    if op == "Concat":
        return sum(parts, ()) if given.get("axis") in (0, -1) else None
    if op == "Mul":
        return (product([part[0] for part in parts]),) if {*map(len, parts)} == {1} else None
    if op in _SAME:
        return first if given.get("to", 7) in _INTEGERS else None
    if op == "Reshape":
        return first if len(first) == 1 and further in ([[-1]], [[1]], [[]]) else None
    if op == "Gather" and further[0] is not None and given.get("axis", 0) == 0:
        inside = all(-len(first) <= i < len(first) for i in further[0])
        return tuple(first[i] for i in further[0]) if inside else None
    if op == "Slice" and further[2:] in ([], [[0]], [[0], [1]]):
        begin, end = further[0], further[1]
        if begin is not None and end is not None and len(begin) == len(end) == 1:
            return first[begin[0] : end[0]]
    return None
