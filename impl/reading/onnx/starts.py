"""Where the runs of a node of ONNX start and end, if the file itself says so.

What is certified is about runs from the zero state that read all their inputs. A state that is
handed over with the inputs, or computed from them, is the caller's; one that is stored, however it
is copied for a batch, makes another network of the node unless it is 0, and so do stored lengths,
after which a node puts out zeros. Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from collections.abc import Mapping
from typing import Any

from impl.errors import shown
from impl.reading.onnx.nodes import NodeError

_LENGTHS, _STATES = 4, slice(5, 7)  # the places of sequence_lens, initial_h and initial_c
_COPIES = {
    "Cast", "Concat", "Expand", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Tile",
    "Transpose", "Unsqueeze",
}  # fmt: skip


def refuse_stored_runs(node: Any, stored: Mapping[str, Any], made: Mapping[str, Any]) -> None:
    """Raise NodeError for a node whose runs start or end as the file says.

    stored: constant tensors by name; made: the other nodes, by what they put out.
    """
    if any(name in stored for name in node.input[_LENGTHS : _LENGTHS + 1]):
        raise NodeError(node.name, "reads as many inputs as are stored", "leave the lengths out")
    for name in node.input[_STATES]:
        if not all(map(_zero, _sources(name, stored, made))):
            what = f"starts from a state that is stored ({shown(name)}) and not 0"
            raise NodeError(node.name, what, "to certify its cell from 0, hand over the state dict")


def _sources(name: str, stored: Mapping[str, Any], made: Mapping[str, Any]) -> list[Any]:
    """The constants that a value is a copy of, as far as any is stored."""
    found, seen, ahead = list[Any](), set[str](), [name]
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in stored:
            found.append(stored[name])
        elif name in made and made[name].op_type == "ConstantOfShape":
            found += [part.t for part in made[name].attribute]
        elif name in made and made[name].op_type in _COPIES:
            several = made[name].op_type == "Concat"
            ahead += made[name].input if several else made[name].input[:1]
    return found


def _zero(told: Any) -> bool:
    """Whether a constant is 0 throughout, for certain."""
    from onnx.numpy_helper import to_array

    try:
        return not to_array(told).any()
    except Exception:  # in another file, or damaged
        return False
