"""Cells of which nothing more is said than their step: drawn by the layout of their weights."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from rnnbounds.impl.cells.kind import Kind as Cell
from rnnbounds.properties.systems.cells.drawn import Generator, Weights, fed, offset, recurrent
from rnnbounds.properties.systems.cells.fields import CELL, MIXED
from rnnbounds.properties.systems.cells.kinds import program
from rnnbounds.properties.systems.kind import Kind
from rnnbounds.properties.systems.spec import SystemSpec, spec_of


def weights(spec: SystemSpec, rng: Generator, cell: Cell) -> Weights:
    """What inputs go through, recurrent matrices and offsets, by their shapes; a symbol other than
    n and d is n + 1."""
    layout = cell.layout(())
    known = defaultdict(lambda: spec.n + 1, n=spec.n, d=spec.d)
    found = {}
    for name, shape in layout.shaped(known).items():
        gate = name in cell.opens
        rows, columns = (*shape, 1)[:2]
        if len(shape) == 1:
            found[name] = offset(spec, rng, rows, gate=gate)
        elif layout.shapes[name].endswith(" d"):
            found[name] = fed(spec, rng, rows, columns, gate=gate)
        else:
            found[name] = recurrent(spec, rng, rows, columns)
    return found


def plain(cell: Cell) -> Kind:
    """The kind of systems that such cells are."""
    return program(spec_of(cell.name, CELL, regimes=MIXED), partial(weights, cell=cell))
