"""What the house must know of the kinds of cells that are written as their step alone.

A new kind is one line in `REGIMES`, and its weights in `properties.cells.drawn`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from impl import gru, lstm
from impl.cells import CELLS, kind_of
from impl.gated import Comparison
from impl.gru import GRU
from impl.kind import Kind
from impl.lstm import LSTM
from impl.outward import div_up, mul_up, norm_up, subtract_down
from impl.slopes import compare as compared
from impl.stack import PREFIX, Stack

Tensor = torch.Tensor
# How often a box is refined: always the same, so that no member depends on its batch.
ITERATES = 5
# What the layers of a stack are, by its regime.
LAYERS = {"driven": "rnn-tanh", "rnn": "rnn-tanh", "gru": "gru", "lstm": "lstm"}


def name_of(kind: str, activation: str, regime: str) -> str:
    """The name by which the cell of a system is known to `impl.cells`."""
    if kind == "stack":
        return PREFIX + LAYERS[regime]
    return kind if kind in CELLS else f"{kind}-{activation}"


def known(name: str) -> Kind:
    """The kind of cell of that name."""
    return kind_of(name)


def boxed(cell: Any, B: Tensor) -> Tensor:
    """The invariant box (B, N) of one kind of cell under inputs bounded by B (B, 1)."""
    if isinstance(cell, Stack):
        boxes: list[Tensor] = []
        for layer in cell.layers:
            boxes.append(boxed(layer, B))
            B = norm_up(boxes[-1][:, -layer.n :])[:, None]
        return torch.cat(boxes, dim=1)
    if isinstance(cell, LSTM):
        found = lstm.invariant_box(cell, B, ITERATES)
        return torch.cat([found.c, found.h], dim=1)
    if isinstance(cell, GRU):
        return gru.invariant_box(cell, B, ITERATES)
    box: Tensor = cell.box(B)
    return box


def compare(cell: Any, B: Tensor) -> Comparison:
    """The comparison of B cells under inputs bounded by B (B, 1).

    Where no box is known it is on the one that follows: what contracts by λ in max |s_j|/v_j stays
    below S/(1 − λ) in that norm.
    """
    found = over(cell, boxed(cell, B), B)
    bounded = torch.isfinite(found.box)
    if bool(bounded.all()):
        return found
    v = found.perron()
    gap = subtract_down(1.0, found.factor(v)).clamp(min=0.0)
    radius = div_up(div_up(found.drive, v).amax(1), gap)
    return over(cell, torch.where(bounded, found.box, mul_up(v, radius[:, None])), B)


def over(cell: Any, box: Tensor, B: Tensor) -> Comparison:
    """The comparison on a box."""
    found = compared(cell.program, cell.parameters, box, B, cell.d)
    return replace(found, output=cell.n)
