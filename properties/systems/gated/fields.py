"""What may be said of gated cells."""

from __future__ import annotations

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.systems.cells.fields import CELL
from rnnbounds.properties.systems.spec import spec_of

# How gated cells are drawn, the simplest first.
REGIMES = ("zero", "candidate", "driven", "signs", "gaussian", "stable", "steep")
Lstm, Gru, GruCho = (
    spec_of(kind, f"{CELL} values", regimes=REGIMES, stacked=(CELLS[kind].gates, CELLS[kind].width))
    for kind in ("lstm", "gru", "gru-cho")
)
