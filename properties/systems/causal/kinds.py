"""Causal models: what is drawn of them, their worst instances, and their records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st

from rnnbounds.properties.systems.causal.fields import (
    MONOTONE_INPUTS,
    Attention,
    GatedConv,
    Monotone,
    Tcn,
    WaveNet,
    fit_length,
)
from rnnbounds.properties.systems.causal.model import CausalRoute, draw_causal_numbers
from rnnbounds.properties.systems.drawing.choices import pick, seeds, spec_grid
from rnnbounds.properties.systems.kind import (
    BY_REGIME,
    CellNames,
    DrawRequest,
    Instances,
    Kind,
    cell_named,
)
from rnnbounds.properties.systems.spec import SpecType, SystemSpec
from rnnbounds.properties.systems.supply.route import draw_each_member


def worst_causal_specs(make: SpecType) -> Iterator[SystemSpec]:
    """Every regime with one layer and with several, with one tap, and with holes."""
    sizes = {} if make is Monotone else {"n": 2, "d": 2}
    base = make(inputs="gaussian", **sizes, batch=2, sequences=2, seed=7)
    shapes = {"layers": (1, 1, 3, 2, 2), "taps": (1, 4, 2, 2, 3), "dilation": (1, 1, 2, 4, 3)}
    for spec in spec_grid(base, {"regime": make.regimes}, shapes):
        yield fit_length(spec, 3)


DRAWN_INPUTS = ("gaussian", "constant", "impulse", "alternating", "zero")


@st.composite
def draw_causal_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A model of 1 to 3 layers, on sequences longer than its receptive field."""
    monotone, regime = make is Monotone, draw(pick(make.regimes))
    rho = {"activation": draw(pick(("relu", "tanh")))} if make is Tcn else {}
    inputs = draw(pick(MONOTONE_INPUTS if monotone else DRAWN_INPUTS))
    sizes = {} if monotone else {"n": draw(pick((2, 1, 3, 4))), "d": draw(pick((1, 2)))}
    spec = make(
        **rho,
        **sizes,
        regime=regime,
        inputs=inputs,
        layers=draw(pick((2, 1, 3, 2))),
        taps=draw(pick((2, 3, 4, 1))),
        dilation=draw(pick((2, 1, 3, 4))),
        scale=draw(pick((1.0, 0.25) if monotone else (1.0, 0.25, 4.0))),
        bias=draw(pick((0.5, 0.0))),
        seed=draw(seeds()),
        batch=wanted.batch,
        sequences=wanted.sequences,
    )
    return fit_length(spec, draw(pick((1, 2, 4, 7))))


def causal_kind(make: SpecType, names: CellNames) -> Kind:
    """The kind of models of that struct."""
    return Kind(
        make,
        partial(draw_causal_spec, make),
        CausalRoute(draw_each_member(draw_causal_numbers)),
        names,
        Instances(partial(worst_causal_specs, make)),
    )


KINDS = (
    *(causal_kind(make, cell_named(make.kind)) for make in (Tcn, GatedConv, WaveNet, Attention)),
    causal_kind(Monotone, BY_REGIME),
)
