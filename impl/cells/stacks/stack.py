"""Layers of recurrent cells, each fed by the output of the one below: one cell with one state.

    s^l_t = φ_l(s^l_{t−1}, h^{l−1}_t),    h^0_t = x_t,

with the states of all layers, from below, as the state and the last layer's output as the output.
The weights carry torch's names: those of layer l end in _l0, _l1, … .
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Arithmetic, V
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.arithmetic.invariance import (
    InvariantBox,
    complete_boxes,
    prove_box,
    rounds_to_one,
)
from rnnbounds.impl.cells.kind import Kind, Layout, Weights
from rnnbounds.impl.cells.program import ProgramCell
from rnnbounds.impl.cells.refutation.refute import refute_gated
from rnnbounds.impl.cells.stacks.stack_analysis import CASCADE, StackAnalysis
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.loaded import Cell, LoadedModel
from rnnbounds.impl.norms.metric import METRIC_SDP
from rnnbounds.impl.numbers.outward import norm_up

PREFIX = "stacked-"
MOST_LAYERS = 256  # what anybody waits for
_NUMBERED_NAME = re.compile(r"(.*)_l(0|[1-9][0-9]*)", re.DOTALL)
_SYMBOL = re.compile(r"[a-z]\w*")


@dataclass(frozen=True, eq=False)
class Stack(ProgramCell):
    """B stacks of cells, the lowest layer first; `widths` are the sizes of their states."""

    layers: tuple[Any, ...]
    widths: tuple[int, ...]

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        return m.join(*(state for _, _, state in self._steps(m, s, x)))

    def _steps(self, m: Arithmetic[V], s: V, x: V) -> Iterator[tuple[Any, tuple[Any, V, V], V]]:
        """Each cell with its arithmetic, state and input, and its next state."""
        start = 0
        for l, (cell, width) in enumerate(zip(self.layers, self.widths, strict=True)):
            before = _LayerArithmetic(m, f"_l{l}"), s.part(start, start + width), x
            state: V = cell.program(*before)
            yield cell, before, state
            x, start = state.part(width - cell.n, width), start + width

    @property
    def n(self) -> int:
        """The size of the last layer's output."""
        return int(self.layers[-1].n)

    @property
    def U(self) -> Tensor:
        """Input weights of the first layer."""
        return torch.as_tensor(self.layers[0].U)

    def box(self, B: InputBound | Tensor) -> Tensor:
        """The boxes of the layers, as far as they are proved."""
        return self.proved_box(B).box

    def proved_box(self, B: InputBound | Tensor) -> InvariantBox:
        """Prove invariant boxes of the layers in turn; each box bounds the next layer's inputs.

        The weights are taken as stored: a vanilla cell has the rounded sum of its biases.
        """
        boxes: list[InvariantBox] = []
        for l, cell in enumerate(self.layers):
            weights = layer_weights(self.parameters, l)
            told = prove_box(cell.program, weights, cell.box(B), B, cell.d)
            boxes.append(complete_boxes(cell.program, weights, told, B, cell.d))
            B = norm_up(boxes[-1].box[:, -cell.n :])[:, None]
        return InvariantBox(
            torch.cat([told.box for told in boxes], dim=1),
            torch.cat([told.proposed for told in boxes], dim=1),
            torch.cat([told.moved for told in boxes], dim=1),
            torch.stack([told.refused for told in boxes]).any(0),
        )

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool] | None:
        """The gates of all layers."""
        gates = []
        for cell, before, _ in self._steps(m, s, x):
            gate_and_flag = cell.kept(*before) if hasattr(cell, "kept") else None
            if gate_and_flag is None:
                return None
            gates.append(gate_and_flag)
        return m.join(*(gate for gate, _ in gates)), gates[0][1]


@dataclass(frozen=True, eq=False)
class _LayerArithmetic:
    """An arithmetic that knows the parameters of one layer."""

    whole: Any
    suffix: str

    def affine(self, weight: str, bias: str | None, v: V, rows: slice = ALL) -> V:
        bias_name = None if bias is None else bias + self.suffix
        result: V = self.whole.affine(weight + self.suffix, bias_name, v, rows)
        return result

    def vector(self, name: str, rows: slice = ALL) -> Any:
        return self.whole.vector(name + self.suffix, rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


def count_stack_layers(kind: Kind, names: Collection[str]) -> int:
    """How many layers of that kind the names speak of, up to the first that is missing; ≥ 1.

    Raises InputError for more than MOST_LAYERS.
    """
    layers, names_by_layer = 1, _names_by_layer(names)
    while kind.layout(own_names := names_by_layer.get(str(layers), ())).required[0] in own_names:
        layers += 1
    if layers > MOST_LAYERS:
        raise InputError(f"{layers} layers of {kind.name} are too many; keep {MOST_LAYERS} at most")
    return layers


def layer_weights(weights: Weights, index: int) -> dict[str, Tensor]:
    """The weights of one layer, by the names of a cell."""
    return {
        name: weights[f"{name}_l{index}"] for name in _names_by_layer(weights).get(str(index), ())
    }


def _names_by_layer(names: Collection[str]) -> dict[str, list[str]]:
    """The names of a cell by the number of the layer that stands at their end."""
    names_by_number: dict[str, list[str]] = {}
    for match in filter(None, map(_NUMBERED_NAME.fullmatch, names)):
        names_by_number.setdefault(match[2], []).append(match[1])
    return names_by_number


@cache
def stack_kind(kind: Kind) -> Kind:
    """The kind of a stack of cells of that kind."""

    def layout(names: Collection[str]) -> Layout:
        fed = "d"
        shapes: dict[str, str] = {}
        optional: list[str] = []
        states: list[str] = []
        named = _names_by_layer(names)
        for l in range(count_stack_layers(kind, names)):
            one, known = kind.layout(named.get(str(l), ())), _shape_renaming(l, fed)
            shapes |= {f"{name}_l{l}": known(shape) for name, shape in one.shapes.items()}
            optional += [f"{name}_l{l}" for name in one.optional]
            states.append(known(one.state))
            fed = known(one.output)
        return Layout(shapes, optional, "+".join(states), fed)

    def parts(weights: Weights) -> list[dict[str, Tensor]]:
        return [layer_weights(weights, l) for l in range(count_stack_layers(kind, weights))]

    def build(weights: Weights) -> Cell:
        found = parts(weights)
        cells = tuple(kind.build(part) for part in found)
        single = [{name: w[0] for name, w in part.items()} for part in found]
        widths = tuple(kind.layout(part).sizes(part).state for part in single)
        return Stack(weights, cells, widths)

    def drive(weights: Weights, x: Tensor) -> Tensor:
        return kind.drive(layer_weights(weights, 0), x)

    def step(weights: Weights, driven: Tensor, s: Tensor) -> Tensor:
        moved: list[Tensor] = []
        below = driven
        for part in parts(weights):
            sizes = kind.layout(part).sizes(part)
            s, before = s[..., sizes.state :], s[..., : sizes.state]
            fed = kind.drive(part, below) if moved else driven
            moved.append(kind.step(part, fed, before))
            below = moved[-1][..., -sizes.n :]
        return torch.cat(moved, dim=-1)

    def analyse(model: LoadedModel[Stack], input_bound: InputBound) -> StackAnalysis:
        told = [
            LoadedModel(
                cell,
                kind.name,
                model.dtype,
                layer_weights(model.weights, l),
                model.source,
            )
            for l, cell in enumerate(model.cell.layers)
        ]
        box = model.cell.proved_box(input_bound).box
        at_one = rounds_to_one(model.cell, model.dtype, box, input_bound)
        whole = partial(refute_gated, model.cell, box[0], input_bound)
        return StackAnalysis.of(kind, told, input_bound, at_one, whole)

    return Kind(
        name=PREFIX + kind.name,
        layout=layout,
        norms=(*(norm for norm in kind.norms if norm != METRIC_SDP), CASCADE),
        build=build,
        step=step,
        analyse=analyse,
        drive=drive,
        default=kind.default,
        remedy=f"{kind.remedy}, in the layers whose factor is not below 1",
    )


def _shape_renaming(index: int, input_size: str) -> Callable[[str], str]:
    """Shapes of one layer by shapes of its cell: its own symbols, and what feeds it for d."""

    def rename(shape: str) -> str:
        return _SYMBOL.sub(lambda m: input_size if m[0] == "d" else f"{m[0]}_l{index}", shape)

    return rename
