"""Families of sequence layers: the tensors that a layer has, and the recurrence among them.

A family names every tensor of its layer with its shape, so that a layer with one more or one less
is another network and is refused. What is read is the recurrence alone, as weights of a cell of
`impl.cells.table`: copies, repetitions and zeros of what is stored; nothing is rounded.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.cells.layout import Layout

Settings = Mapping[str, Any]  # of a `config.json`; empty where there is none


@dataclass(frozen=True, eq=False)
class Recurrence:
    """A recurrence that was read: the name of its cell, the cell's weights by role, and what the
    inputs x consist of, one part after another, as "δ and u⊗B"."""

    cell: str
    weights: dict[str, Tensor]
    inputs: str


@dataclass(frozen=True)
class Family:
    """One family of layers.

    layout: the layer's tensors by their own names; the first alone tells that there may be such a
    layer. used: the names of those that the recurrence consists of. models: the model types of
    `config.json` whose layers these are. channels: the symbol of the layout that counts the
    independent parts of the recurrence, which may be read some at a time. size: the numbers (N, d)
    of states and inputs of so many channels, given what each symbol stands for. read: the
    recurrence of a slice of the channels; raises an InputError.
    """

    name: str
    layout: Layout
    used: Collection[str]
    models: Collection[str]
    channels: str
    size: Callable[[Mapping[str, int], int], tuple[int, int]]
    read: Callable[[Mapping[str, Tensor], slice, Settings], Recurrence]

    @property
    def anchor(self) -> str:
        """The name by which a layer is found."""
        return next(iter(self.layout.shapes))


def widened(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights in the least dtype that holds all of theirs, which is exact."""
    dtype = reduce(torch.promote_types, (weight.dtype for weight in weights.values()))
    return {role: weight.to(dtype) for role, weight in weights.items()}


def driven(gate: Tensor) -> tuple[Tensor, Tensor]:
    """The matrices [W | 0] and [0 | I] of n units with inputs (g, v), for W (n, r): W g and v."""
    n, r = gate.shape
    eye = torch.eye(n, dtype=gate.dtype, device=gate.device)
    return (
        torch.cat([gate, gate.new_zeros(n, n)], 1), torch.cat([gate.new_zeros(n, r), eye], 1),
    )  # fmt: skip
