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
from rnnbounds.properties.systems.kind import NO_CELL, about
from rnnbounds.properties.systems.kind import Column as Meets
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import KINDS, kinds_about
from rnnbounds.reports.records.matrix import Column

KNOWN = ACTIVATIONS | LIBRARY_ACTIVATIONS
_BROUGHT = {name: meets for kind in KINDS.values() for name, meets in kind.columns.items()}
# That of no cell is the last.
COLUMNS: dict[str, Meets] = {NO_CELL: _BROUGHT.pop(NO_CELL)}
COLUMNS = _BROUGHT | COLUMNS


def cell_of(spec: SystemSpec) -> str:
    """The name of the cell that a system is one of, as `--cell` has it."""
    return about(spec).cell(spec)


def column_of(cell: str) -> str:
    """The column of a cell: kinds with an activation in their name share one, but RNNs two."""
    base, _, activation = cell.partition("-")
    if activation not in KNOWN:
        return cell
    if base != "rnn":
        return base
    return "rnn-smooth" if isfinite(KNOWN[activation].curvature) else "rnn-kinked"


def cells_of(kind: str) -> tuple[str, ...]:
    """The cells that the systems of a kind, or of a family of kinds, can be."""
    return tuple(cell for one in kinds_about(kind) for cell in one.named)


@cache
def drawn() -> dict[str, None]:
    """The cells of which some kind of system is drawn, in order."""
    return dict.fromkeys(cell for kind in KINDS for cell in cells_of(kind))


def columns(others: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of all cells that are read or attacked, those of the table in its order."""
    cells = tuple(dict.fromkeys((*CELLS, *drawn(), *others)))
    names = {column_of(cell) for cell in cells}
    ordered = [name for name in COLUMNS if name in names]
    ordered[-1:-1] = sorted(names - set(COLUMNS))
    return tuple(
        Column(
            name=name,
            title=COLUMNS[name].title if name in COLUMNS else name,
            cells=tuple(cell for cell in cells if column_of(cell) == name),
        )
        for name in ordered
    )
