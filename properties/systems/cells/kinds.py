"""The records of cells that are written as their step alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rnnbounds.properties.systems.cells import fields
from rnnbounds.properties.systems.cells.drawn import (
    Draw,
    deep,
    diagonal,
    drawn,
    leaky,
    min_gru,
    min_lstm,
    projected,
    selective,
    stack,
    stacked,
)
from rnnbounds.properties.systems.cells.route import ProgramRoute
from rnnbounds.properties.systems.cells.specs import cell_specs
from rnnbounds.properties.systems.kind import STATE, Column, Kind, cell_named
from rnnbounds.properties.systems.spec import Make, SystemSpec
from rnnbounds.properties.systems.supply.route import each


def program(
    make: Make, draw: Draw, title: str = "", *assumptions: str,
    named: Callable[[SystemSpec], str] | None = None,
) -> Kind:  # fmt: skip
    """The kind of cells whose weights `draw` draws, read under the name of the cell, or that which
    is ``named``; with a column if it has a title."""
    cell = cell_named(make.kind)
    name = named or cell
    return Kind(
        make,
        partial(cell_specs, make),
        ProgramRoute(each(partial(drawn, name=name, draw=draw)), name),
        cell=cell,
        columns={make.kind: Column(title, (*STATE, *assumptions))} if title else {},
        family=True,
    )


LSTM_PROJECTED = program(fields.LstmProjected, projected, "LSTM, projected")
LEAKY = program(fields.Leaky, leaky, "echo state")
DEEP = program(fields.Deep, deep)
DIAGONAL = program(fields.Diagonal, diagonal, "diagonal", "diagonal")
MIN_GRU = program(fields.MinGru, min_gru, "minGRU", "scan")
MIN_LSTM = program(fields.MinLstm, min_lstm, "minLSTM", "scan")
SELECTIVE = program(fields.Selective, selective, "selective", "scan")
STACK = program(fields.Stack, stack, named=stacked)
