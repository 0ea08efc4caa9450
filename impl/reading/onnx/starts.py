"""Initial states and lengths of the runs of a recurrent ONNX node, as far as the file says.

Certificates are about runs from the zero state that read all their inputs. An initial state is
zero, or the caller's, passed beside the sequence as to torch's modules; lengths are the caller's.
Any other initial state or length makes another network of the node. Source: the operators RNN, LSTM
and GRU of ONNX, version 22.
"""

from collections.abc import Iterator
from typing import Any

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.onnx.folding import COPIES, UnfixedError, is_one_of, stored_array
from rnnbounds.impl.reading.onnx.nodes import (
    NodeError,
    axes_of,
    direction_of,
    input_of,
    recurrent,
)
from rnnbounds.impl.reading.onnx.values import Values

_FROM_ZERO = "to certify its cell from 0, hand over the state dict"


def refuse_other_runs(node: Any, values: Values, n: int) -> None:
    """Raise NodeError unless a node of n units runs from zero, or from what the caller hands over,
    to the end of its inputs."""
    lengths = input_of(node, "sequence_lens")
    if lengths and not values.inputs.issuperset(_origins(lengths, values)):
        what = f"reads as many inputs as are stored or computed ({shown(lengths)})"
        raise NodeError(node.name, what, "leave the lengths out")
    for role in ("initial_h", "initial_c"):
        if state := input_of(node, role):
            try:
                _require_start(node, state, values, n)
            except UnfixedError as reason:
                what = f"starts from {role} ({shown(state)}), which {reason}"
                raise NodeError(node.name, what, _FROM_ZERO) from None


def _require_start(node: Any, state: str, values: Values, n: int) -> None:
    """Raise UnfixedError for a state that is neither zero nor the caller's, or of a wrong shape."""
    handed = False
    for name in _origins(state, values):
        if name in values.inputs:
            handed = True
            if name in _sequence(node, values):
                raise UnfixedError("is read off the sequence")
        elif _filled(name, values):
            continue
        elif values.fixed(name) or name not in values.made:
            if values.array(name).any():
                raise UnfixedError("is not 0")
        else:
            raise UnfixedError(f"is computed by {shown(values.made[name].op_type)}")
    shape = values.array(state).shape if values.fixed(state) else values.shape(state)
    if shape is None and not handed:
        raise UnfixedError("is 0, but of no shape that is known")
    ways = 2 if direction_of(node) == "bidirectional" else 1
    expected = (None, ways, n) if axes_of(node) else (ways, None, n)
    if shape is not None and not _fits(shape, expected, open_ended=handed):
        axes = f"(N, {ways}, {n})" if axes_of(node) else f"({ways}, N, {n})"
        found = ", ".join("?" if size is None else str(size) for size in shape)
        raise UnfixedError(f"has the shape ({found}), not {axes}")


def _fits(
    shape: tuple[int | None, ...], expected: tuple[int | None, ...], *, open_ended: bool
) -> bool:
    """True if a shape is the expected one, where that is not None; open_ended: or not known."""
    return len(shape) == len(expected) and all(
        size in (needed, None if open_ended else needed)
        for size, needed in zip(shape, expected, strict=True)
        if needed is not None
    )


def _origins(name: str, values: Values) -> Iterator[str]:
    """The values that a value is copied from; fixed ones are taken whole."""
    seen, ahead = set[str](), [name]
    while ahead:
        now = ahead.pop()
        if now in seen:
            continue
        seen.add(now)
        node = values.made.get(now)
        if now in values.choices:
            ahead += values.choices[now]
        elif node is None or values.fixed(now) or not is_one_of(node, COPIES):
            yield now
        else:
            ahead += node.input if node.op_type == "Concat" else node.input[:1]


def _filled(name: str, values: Values) -> bool:
    """True for a tensor of zeros of a size that varies; raises UnfixedError for other fillings."""
    node = values.made.get(name)
    if node is None or values.fixed(name) or not is_one_of(node, {"ConstantOfShape"}):
        return False
    if any(stored_array(part.t).any() for part in node.attribute):
        raise UnfixedError("is not 0")
    return True


def _sequence(node: Any, values: Values) -> set[str]:
    """The values that a node's sequence is made of, not counting the states of other nodes."""
    seen, ahead = set[str](), [input_of(node, "X")]
    while ahead:
        now = ahead.pop()
        if now not in seen:
            seen.add(now)
            ahead += values.choices.get(now, ())
            if (made := values.made.get(now)) is not None:
                ahead += made.input[:1] if recurrent(made) else made.input
    return seen
