"""LSTMs and GRUs: what is said and drawn of them, their worst instances, and their records.

Source: Miller & Hardt, Proposition 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import log

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.systems.cells.kinds import CELL_FIELDS
from rnnbounds.properties.systems.cells.route import GatedRoute
from rnnbounds.properties.systems.drawing.choices import pick, seeds, spec_grid
from rnnbounds.properties.systems.gated.gated_weights import draw_gated_cell
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Instances,
    Kind,
    cell_named,
    specs_of_kind,
)
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, Values, spec_of
from rnnbounds.properties.systems.supply.route import draw_each_member

# How gated cells are drawn, the simplest first.
REGIMES = ("zero", "candidate", "driven", "signs", "gaussian", "stable")
Lstm, Gru, GruCho = (
    spec_of(
        kind,
        f"{CELL_FIELDS} values",
        regimes=REGIMES,
        stacked=(CELLS[kind].gates, CELLS[kind].width),
    )
    for kind in ("lstm", "gru", "gru-cho")
)


# torch's order of the gates.
GATE_ORDER = {"lstm": "ifgo", "gru": "rzn", "gru-cho": "rzn"}
Weights = Mapping[str, float]
CORNER = 1024.0


def one_unit_spec(
    make: SpecType, W: Weights, b: Weights, h: list[float], other_state: list[float],
    U: Weights | None = None, b_hh: Weights | None = None, x: float = 0.0, T: int = 1,
) -> SystemSpec:  # fmt: skip
    """One unit; gates that are not named have weight 0. States beyond the box are its corners."""
    u, c = U or {}, b_hh or {}
    order = GATE_ORDER[make.kind]
    values = Values(
        W=[[W.get(gate, 0.0)] for gate in order], U=[[u.get(gate, 0.0)] for gate in order],
        b=[b.get(gate, 0.0) for gate in order], b_hh=[c.get(gate, 0.0) for gate in order],
        C=[[1.0]], x=[[x]] * T, h=h, h_other=other_state,
    )  # fmt: skip
    return make(T=T, values=values)


THETA = 0.999
SMALL_STATE = [2.0**-12]
# A bias that opens the reset gate, and one that leaves the update gate a quarter open.
OPEN_RESET = {"r": 20.0, "z": -1.0}
GATED_SPECIAL: dict[str, SystemSpec] = {
    # ‖W_f‖ = θ(1 − f̄), but above θ(1 − f̄)²: cells of B_c = 8 are forgotten too fast or too slowly.
    # An input that the box must allow for, but that is not there, leaves the input gate half open.
    # The candidate stays short of 1, so that the proved box has room below 1/(1 − f̄).
    "forget-without-square": one_unit_spec(
        Lstm, {"i": THETA / 8, "f": THETA / 8, "g": THETA / 32, "o": THETA / 8},
        {"f": log(7) - THETA / 8, "g": 12.0, "o": 20.0}, [CORNER, CORNER], [7.99, 0.99],
        U={"i": 40.0},
    ),
    # A constant input that keeps the input gate open: c_T comes near B_c.
    "full-cell": one_unit_spec(
        Lstm, {}, {"i": 20.0, "f": 1.0, "g": 20.0, "o": 20.0}, [0.0, 0.0], [1.0, 0.5], T=48
    ),
    # As steep as θ = 0.9 of the stable set lets the candidate be.
    "stable-candidate": one_unit_spec(Gru, {"n": 0.45}, OPEN_RESET, SMALL_STATE, [-SMALL_STATE[0]]),
    # h = 1 against ν = −1, half way between them: what the update gate moves counts in full.
    "steep-update": one_unit_spec(Gru, {"z": 3.0}, {"z": -3.0, "n": -20.0}, [CORNER], [0.96875]),
    # A large bias inside of the reset gate's reach, and a candidate that it leaves in its middle: h
    # moves ν by the reset gate alone.
    "steep-reset": one_unit_spec(
        Gru, {"r": 2.0, "n": 0.5}, {"z": -10.0, "n": -4.0}, [2.0**-8], [-(2.0**-8)],
        b_hh={"n": 8.0},
    ),
    # Cho's reset gate half open beside a large state.
    "steep-reset-cho": one_unit_spec(
        GruCho, {"r": 2.0, "n": 2.0}, {"z": -10.0, "r": -2.0, "n": -0.875}, [0.96], [0.92]
    ),
}  # fmt: skip


def worst_gated_specs(make: SpecType) -> Iterator[SystemSpec]:
    """The named ones, every regime with and without biases, and long runs."""
    yield from specs_of_kind(make, GATED_SPECIAL).values()
    base = make(T=2, batch=4, sequences=8, seed=3)
    constant_base = replace(base, inputs="constant")
    yield from spec_grid(constant_base, {"regime": make.regimes}, {"n": (1, 2), "bias": (0.0, 1.0)})
    yield replace(base, regime="signs", T=24, lam=0.25, inputs="alternating", bias=0.5)


DRAWN_INPUTS = ("zero", "constant", "gaussian", "alternating", "impulse", "resonant")
FACTORS = (0.5, 0.25, 1.0, 0.9, 2.0, 0.0625, 0.99, 0.75)


@st.composite
def draw_gated_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A gated cell of 1 to 6 units, with runs of 1 to 8 steps."""
    n = draw(pick((1, 2, 3, 1, 2, 4, 6, 1)))
    regime = draw(pick(("candidate", "signs", "stable", *make.regimes)))
    batch, sequences = wanted.batch, wanted.sequences
    if regime in ("candidate", "zero"):
        # Bounds are met with equality: exact arithmetic decides those.
        batch, sequences = min(batch, 2), min(sequences, 4)
    return make(
        regime=regime,
        inputs=draw(pick(DRAWN_INPUTS)),
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


def gated_kind(make: SpecType) -> Kind:
    """The kind of gated cells of that struct."""
    return Kind(
        make,
        partial(draw_gated_spec, make),
        GatedRoute(draw_each_member(draw_gated_cell), cell_named(make.kind)),
        cell_named(make.kind),
        Instances(partial(worst_gated_specs, make), specs_of_kind(make, GATED_SPECIAL)),
    )


LSTM = gated_kind(Lstm)
GRUS = (gated_kind(Gru), gated_kind(GruCho))
