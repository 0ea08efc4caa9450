"""Gated cells beside torch's LSTM and GRU: peepholes, other activations, one gate. The regime names
the cell; `driven` is an LSTM with peepholes whose units are all alike."""

from __future__ import annotations

from functools import partial

import numpy as np

from rnnbounds.impl.cells.gated.li_gru import VARIANCE
from rnnbounds.impl.cells.gated.lstm_variant import PEEPHOLES
from rnnbounds.impl.cells.gated.variants import PLUS
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.properties.systems.cells.cell_weights import Generator, Weights, draw_cell
from rnnbounds.properties.systems.cells.kinds import CELL_FIELDS, draw_cell_spec, draw_weights
from rnnbounds.properties.systems.cells.route import ProgramRoute
from rnnbounds.properties.systems.kind import STATE, CellNames, Column, Kind
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.supply.route import draw_each_member

DRIVEN = "driven"
CELLS = (
    "lstm-peephole", "mgu", "mgu-zhou", "lstm+hard-sigmoid+tanh+relu",
    "gru+hard-sigmoid-0.2-0.5+tanh", "gru-cho+sigmoid+relu", "li-gru-relu", "li-gru-leaky-relu",
    "li-gru-tanh",
)  # fmt: skip
GatedVariant = spec_of("gated-variant", CELL_FIELDS, regimes=(DRIVEN, *CELLS))


def variant_name(spec: SystemSpec) -> str:
    """The name of the cell that the regime says."""
    return CELLS[0] if spec.regime == DRIVEN else spec.regime


def draw_variant(spec: SystemSpec, rng: Generator, cell: str | None = None) -> Weights:
    """The weights of that cell, or of the one that is named: peepholes that are small, and
    variances that are positive."""
    weights = draw_weights(spec, rng, kind_of(cell or variant_name(spec)))
    if VARIANCE in weights:
        weights[VARIANCE] = np.abs(weights[VARIANCE]) + 0.25
    peephole = spec.lam / 8
    for name in weights.keys() & set(PEEPHOLES):
        is_driven = spec.regime == DRIVEN
        weights[name] = np.full(spec.n, peephole) if is_driven else peephole * weights[name]
    return weights


def is_variant(cell: str) -> bool:
    """True for the name of one of these cells, with any activations."""
    return cell in CELLS or PLUS in cell


GATED_VARIANT = Kind(
    GatedVariant,
    partial(draw_cell_spec, GatedVariant),
    ProgramRoute(
        draw_each_member(partial(draw_cell, name=variant_name, draw=draw_variant)), variant_name
    ),
    CellNames(variant_name, tuple({"regime": cell} for cell in CELLS)),
    columns={GatedVariant.kind: Column("gated, other", STATE)},
)
