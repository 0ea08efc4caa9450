"""What the house must know of the kinds of cells that are written as their step alone.

A new kind is one line in `REGIMES`, and its weights in `properties.systems.cells.drawn`.
"""

from __future__ import annotations

from impl.cells.kind import Kind
from impl.cells.stacks.stack import PREFIX
from impl.cells.table import CELLS, kind_of

# What the layers of a stack are, by its regime.
LAYERS = {"driven": "rnn-tanh", "rnn": "rnn-tanh", "gru": "gru", "lstm": "lstm"}


def name_of(kind: str, activation: str, regime: str) -> str:
    """The name by which the cell of a system is known to `impl.cells.table`."""
    if kind == "stack":
        return PREFIX + LAYERS[regime]
    return kind if kind in CELLS else f"{kind}-{activation}"


def known(name: str) -> Kind:
    """The kind of cell of that name."""
    return kind_of(name)
