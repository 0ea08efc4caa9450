"""Where the runs of a node of ONNX start and end, if the file itself says so.

A certificate is about runs from the zero state that read all their inputs. A state, or lengths,
that are handed over beside the inputs are the caller's. What the file determines makes another
network of the node, but for a state that is 0 and has the node's shape; so does what is computed
from the inputs. Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from collections.abc import Iterable
from typing import Any

from impl.errors import shown
from impl.reading.onnx.constants import MOVES, Constants, sources, stored_array
from impl.reading.onnx.nodes import NodeError, axes_of

_LENGTHS, _STATES = 4, slice(5, 7)  # the places of sequence_lens, initial_h and initial_c
_FROM_ZERO = "to certify its cell from 0, hand over the state dict"


def refuse_other_runs(node: Any, values: Constants, n: int) -> None:
    """Raise NodeError for a node of n units unless its runs start from 0, or from what the caller
    hands over, and end with their inputs."""
    for name in filter(None, node.input[_LENGTHS : _LENGTHS + 1]):
        if not all(map(values.outside, sources(name, values, _copied))):
            what = f"reads as many inputs as the graph says ({shown(name)})"
            raise NodeError(node.name, what, "leave the lengths out")
    for name in filter(None, node.input[_STATES]):
        whole = values.array(name)
        if whole is not None and not _fits(whole.shape, node, n):
            what = f"starts from a state {shown(name)} of shape {whole.shape}, not of {n} units"
            raise NodeError(node.name, what, _FROM_ZERO)
        for source in sources(name, values, _copied):
            if not values.outside(source) and not _zero(source, values, n):
                what = f"starts from a state that is stored or computed ({shown(name)}) and not 0"
                raise NodeError(node.name, what, _FROM_ZERO)


def _fits(shape: tuple[int, ...], node: Any, n: int) -> bool:
    """True for the shape of a state of one direction and n units: (1, N, n), or (N, 1, n)."""
    return len(shape) == 3 and shape[2] == n and shape[axes_of(node)] == 1


def _copied(node: Any) -> Iterable[str]:
    """The inputs of a node that are copied to its outputs."""
    if node.domain or node.op_type not in MOVES | {"Cast", "CastLike"}:
        return ()
    return list(node.input if node.op_type == "Concat" else node.input[:1])


def _zero(name: str, values: Constants, n: int) -> bool:
    """True for what is certainly 0 throughout, and no row of another number of units."""
    known = values.array(name)
    if known is not None:
        return not known.any() and known.shape[-1:] in ((), (1,), (n,))
    node = values.made.get(name)
    if node is None or node.op_type != "ConstantOfShape" or node.domain:
        return False
    filled = [stored_array(part.t) for part in node.attribute]
    return all(value is not None and not value.any() for value in filled)
