"""Layers of an ONNX graph: its recurrent nodes, those that feed one another as one stack.

Between the layers of a stack stand nodes that relay alone: what layer l puts out at a time, for a
sequence of the batch and a feature is what layer l + 1 reads there. That is proved by following the
axes of the output; whatever else stands between, as an Add or a Transpose of time and batch, ends
the stack, as do another cell, direction, size or branch. Source: ONNX's operators.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.onnx.axes import (
    BATCH,
    DIRECTION,
    FEATURE,
    TIME,
    Axes,
    Size,
    input_axes,
    output_axes,
    product,
    reshaped,
    squeezed,
    transposed,
    unsqueezed,
    without_units,
)
from rnnbounds.impl.reading.onnx.dims import Dims, Vector, attributes, constants
from rnnbounds.impl.reading.onnx.flatten import Step, nested, subgraphs
from rnnbounds.impl.reading.onnx.folding import STANDARD, UnfixedError
from rnnbounds.impl.reading.onnx.nodes import (
    NodeError,
    axes_of,
    cell_of,
    direction_of,
    input_of,
    number_of,
    recurrent,
)
from rnnbounds.impl.reading.onnx.values import Values

_MOST_AXES = 16  # of a value that is followed
# Floats by ONNX's number of their type, each with those that hold all of its values.
_HELD = {"float16": (10, 1, 11), "bfloat16": (16, 1, 11), "float32": (1, 11), "float64": (11,)}


@dataclass(frozen=True, eq=False)
class Stack:
    """Nodes that feed one another; branch: where they are, "" outside of all branches."""

    nodes: list[Any]
    branch: str


@dataclass(frozen=True, eq=False)
class _Followed:
    """A value that relays the output of the first `depth` layers of a stack."""

    stack: Stack
    depth: int
    axes: Axes
    run: "_Run"


class _Run:
    """Sizes of the sequences that a stack reads; those that are not known are symbols.

    dims: the integer vectors that are made of them.
    """

    def __init__(self, node: Any, values: Values, followed: Mapping[str, "_Followed"]) -> None:
        self.node, self.values, self._followed = node, values, followed
        self.directions = 2 if direction_of(node) == "bidirectional" else 1
        self.dims = Dims(values, self._sizes)

    def size(self, factor: str) -> Size:
        """The size of a factor; of time and batch by shape inference from the inputs."""
        if factor in (TIME, BATCH):
            number = self._inferred.get(factor)
            return (number, "") if number else (1, factor)
        return self.own_size(factor)

    def own_size(self, factor: str) -> Size:
        """The size of a factor as far as the node says it."""
        known = {DIRECTION: self.directions, FEATURE: number_of(self.node, "hidden_size", 0)}
        number = known.get(factor, 0)
        return (number, "") if number > 0 else (1, factor)

    def _sizes(self, name: str) -> Vector | None:
        """The sizes of a value of the run: what is followed, or what the first layer reads."""
        one = self._followed.get(name)
        if name == input_of(self.node, "X"):
            axes = (*input_axes(axes_of(self.node))[:2], "d")  # its features are no factor of Y
        elif one is not None and one.run is self:
            axes = one.axes
        else:
            return None
        return tuple(product([self.size(factor) for factor in axis]) for axis in axes)

    @cached_property
    def _inferred(self) -> dict[str, int | None]:
        shape = self.values.sizes(input_of(self.node, "X"))
        order = (BATCH, TIME) if axes_of(self.node) else (TIME, BATCH)
        return dict(zip(order, shape[:2], strict=True)) if shape and len(shape) == 3 else {}


class Stacks:
    """The stacks of a graph by the names of their first nodes, in the order of evaluation.

    closed: recurrent nodes in bodies of loops, with the name of the loop.
    """

    def __init__(self, steps: list[Step], values: Values) -> None:
        self.found: dict[str, Stack] = {}
        self.closed: dict[str, str] = {}
        self._values = values
        self._followed: dict[str, _Followed] = {}
        self._unnamed: Counter[str] = Counter()
        for step in steps:
            if recurrent(step.node):
                self._layer(step)
            elif step.node.domain in STANDARD and step.node.input:
                self._relay(step)
            for inside in (one for graph in subgraphs(step.node) for one in nested(graph)):
                if recurrent(inside):
                    loop = f"{step.branch}{self._name(step.node)}"
                    self.closed[f"{loop}/{self._name(inside)}"] = loop

    def _name(self, node: Any) -> str:
        self._unnamed[node.op_type] += not node.name
        return node.name or f"{node.op_type}_{self._unnamed[node.op_type] - 1}"

    def _layer(self, step: Step) -> None:
        node, below = step.node, self._followed.get(input_of(step.node, "X"))
        name = step.branch + self._name(node)
        if below is not None and self._continues(below, step):
            stack, run = below.stack, below.run
            stack.nodes.append(node)
        elif name in self.found:
            raise InputError(f"two nodes are named {shown(name)}; export the model again")
        else:
            stack = Stack([node], step.branch)
            run = _Run(node, self._values, self._followed)
            self.found[name] = stack
        if node.output and node.output[0]:
            axes = without_units(output_axes(axes_of(node)), run.own_size)
            made = _Followed(stack, len(stack.nodes), axes, run)
            self._followed[node.output[0]] = made

    def _continues(self, below: _Followed, step: Step) -> bool:
        """True if a node is the next layer of a stack."""
        first, needed = below.stack.nodes[0], input_axes(axes_of(step.node))
        relayed = any(
            without_units(below.axes, size) == without_units(needed, size)
            for size in (below.run.own_size, below.run.size)
        )
        return (
            relayed
            and below.stack.branch == step.branch
            and below.depth == len(below.stack.nodes)
            and _kind(first, self._values) == _kind(step.node, self._values) is not None
        )

    def _relay(self, step: Step) -> None:
        below = self._followed.get(step.node.input[0])
        if below is None or below.stack.branch != step.branch or not self._values.allows(step.node):
            return
        axes = self._relayed(step.node, below)
        if axes is not None and len(axes) <= _MOST_AXES and step.node.output[0]:
            self._followed[step.node.output[0]] = replace(below, axes=axes)

    def _relayed(self, node: Any, below: _Followed) -> Axes | None:
        """The axes after a node; None if it does more than to relay."""
        op, axes, given = node.op_type, below.axes, attributes(node)
        if op == "Identity" or (op == "Dropout" and len(node.input) < 3):
            return axes
        if op == "Cast":
            return axes if given.get("to") in self._holding(below) else None
        if op == "Transpose":
            return transposed(axes, given.get("perm"))
        if op in ("Squeeze", "Unsqueeze"):
            return self._resized(node, below, self._places(node, given))
        if op == "Reshape" and len(node.input) == 2:
            bare = without_units(axes, below.run.size)
            target = below.run.dims.vector(node.input[1])
            if target is not None:
                copy_zero = not given.get("allowzero", 0)
                return reshaped(bare, target, below.run.size, copy_zero=copy_zero)
        return None

    def _resized(self, node: Any, below: _Followed, places: list[int] | None) -> Axes | None:
        """The axes after a Squeeze or an Unsqueeze; one without places cuts all sizes of 1, which
        have to be known."""
        axes, bare = below.axes, without_units(below.axes, below.run.size)
        if places and node.op_type == "Unsqueeze":
            return unsqueezed(axes, places)
        if places:
            return squeezed(axes, places) or squeezed(bare, places)
        known = len(node.input) == 1 and places is None and _are_numbers(bare, below)
        return squeezed(bare, None) if known and node.op_type == "Squeeze" else None

    def _places(self, node: Any, given: Mapping[str, Any]) -> list[int] | None:
        """The axes that a Squeeze or an Unsqueeze names, as an attribute or as a constant."""
        if "axes" in given or len(node.input) < 2:
            return given.get("axes")
        return constants(node.input[1], self._values)

    def _holding(self, below: _Followed) -> tuple[int, ...]:
        """The types that hold all values of the stack, by ONNX's numbers."""
        try:
            weights = self._values.array(input_of(below.stack.nodes[0], "R"))
        except UnfixedError:
            return ()
        return _HELD.get(weights.dtype.name, ())


def _are_numbers(axes: Axes, below: _Followed) -> bool:
    """True if the size of each factor is a number."""
    return not any(below.run.size(factor)[1] for factor in "".join(axes))


def _kind(node: Any, values: Values) -> tuple[Any, ...] | None:
    """Tell what all layers of a stack share; None for a node that is not read."""
    try:
        cell = cell_of(node, values)
    except NodeError:
        return None
    return node.op_type, node.domain, cell, direction_of(node), number_of(node, "hidden_size", 0)
