"""Gated cells: what is drawn of them, and their records."""

from __future__ import annotations

from functools import partial

from hypothesis import strategies as st

from rnnbounds.properties.systems.cells.route import GatedRoute
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.gated.ascent import GatedAscent, gated_starts
from rnnbounds.properties.systems.gated.drawn import drawn
from rnnbounds.properties.systems.gated.extremal import GATED_SPECIAL, cells
from rnnbounds.properties.systems.gated.fields import Gru, GruCho, Lstm
from rnnbounds.properties.systems.kind import STATE, Climb, Column, Kind, Wanted, cell_named, only
from rnnbounds.properties.systems.spec import Make, SystemSpec
from rnnbounds.properties.systems.supply.route import each

DRIVES = ("zero", "constant", "gaussian", "alternating", "impulse", "resonant")
FACTORS = (0.5, 0.25, 1.0, 0.9, 2.0, 0.0625, 0.99, 0.75)


@st.composite
def gated_specs(draw: st.DrawFn, make: Make, wanted: Wanted) -> SystemSpec:
    """A gated cell of 1 to 6 units, with runs of 1 to 8 steps."""
    n = draw(pick((1, 2, 3, 1, 2, 4, 6, 1)))
    regime = draw(pick(("candidate", "signs", "stable", *make.regimes)))
    batch, sequences = wanted.batch, wanted.sequences
    if regime in ("candidate", "zero"):
        # Bounds are met with equality: the referee decides those.
        batch, sequences = min(batch, 2), min(sequences, 4)
    return make(
        regime=regime,
        inputs=draw(pick(DRIVES)),
        n=n,
        d=min(draw(pick((1, 2, 3))), n),
        T=draw(pick((2, 1, 4, 8))),
        lam=draw(pick(FACTORS)),
        scale=draw(pick((1.0, 0.25, 4.0))),
        bias=draw(pick((0.5, 0.0, 1.0, 2.0))),
        seed=draw(seeds()),
        batch=batch,
        sequences=sequences,
    )


def gated(make: Make, title: str, assumption: str) -> Kind:
    """The kind of gated cells of that struct."""
    return Kind(
        make,
        partial(gated_specs, make),
        GatedRoute(each(drawn), cell_named(make.kind)),
        cell=cell_named(make.kind),
        columns={make.kind: Column(title, (*STATE, assumption))},
        family=True,
        extremal=partial(cells, make),
        special=only(make, GATED_SPECIAL),
        climb=Climb(partial(gated_starts, make), GatedAscent.start, slowness=3, fewer=2),
    )


LSTM = gated(Lstm, "LSTM", "cells")
GRU = gated(Gru, "GRU", "gru")
GRU_CHO = gated(GruCho, "GRU, Cho", "gru")
