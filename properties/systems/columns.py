"""Which cell a system is one of, and the columns of the matrix: the cells that people run.

A system belongs to a cell by its kind, a cell to a column by its name, and the kinds that bring the
columns say which of the assumptions that tie a claim to some cells each meets.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import isfinite

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, LIBRARY_ACTIVATIONS
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.systems.kind import NO_CELL, kind_of_spec
from rnnbounds.properties.systems.kind import Column as Meets
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import KINDS, kinds_about
from rnnbounds.reports.records.matrix import Column

ALL_ACTIVATIONS = ACTIVATIONS | LIBRARY_ACTIVATIONS
_COLUMNS_OF_KINDS = {name: meets for kind in KINDS.values() for name, meets in kind.columns.items()}
# That of no cell is the last.
COLUMNS: dict[str, Meets] = {NO_CELL: _COLUMNS_OF_KINDS.pop(NO_CELL)}
COLUMNS = _COLUMNS_OF_KINDS | COLUMNS


def cell_name(spec: SystemSpec) -> str:
    """The name of the cell that a system is one of, as `--cell` has it."""
    return kind_of_spec(spec).cell(spec)


def column_name(cell: str) -> str:
    """The column of a cell: kinds with an activation in their name share one, but RNNs two."""
    base, _, activation = cell.partition("-")
    if activation not in ALL_ACTIVATIONS:
        return cell
    if base != "rnn":
        return base
    return "rnn-smooth" if isfinite(ALL_ACTIVATIONS[activation].curvature) else "rnn-kinked"


def cells_of_kind(kind: str) -> tuple[str, ...]:
    """The cells that the systems of a kind, or of a family of kinds, can be."""
    return tuple(cell for system_kind in kinds_about(kind) for cell in system_kind.cell_names)


@cache
def drawn_cells() -> dict[str, None]:
    """The cells of which some kind of system is drawn, in order."""
    return dict.fromkeys(cell for kind in KINDS for cell in cells_of_kind(kind))


def matrix_columns(other_cells: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of all cells that are read or attacked, those of the table in its order."""
    cells = tuple(dict.fromkeys((*CELLS, *drawn_cells(), *other_cells)))
    names = {column_name(cell) for cell in cells}
    ordered_names = [name for name in COLUMNS if name in names]
    ordered_names[-1:-1] = sorted(names - set(COLUMNS))
    return tuple(
        Column(
            name=name,
            title=COLUMNS[name].title if name in COLUMNS else name,
            cells=tuple(cell for cell in cells if column_name(cell) == name),
        )
        for name in ordered_names
    )
