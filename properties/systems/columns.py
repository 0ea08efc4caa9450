"""Names of cells: which cell a system is one of, and the cells of a kind."""

from __future__ import annotations

from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import kinds_about


def cell_name(spec: SystemSpec) -> str:
    """The name of the cell that a system is one of, as `--cell` has it."""
    return kind_of_spec(spec).cell(spec)


def cells_of_kind(kind: str) -> tuple[str, ...]:
    """The cells that the systems of a kind, or of a family of kinds, can be."""
    return tuple(cell for system_kind in kinds_about(kind) for cell in system_kind.cell_names)
