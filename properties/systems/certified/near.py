"""Hypothesis strategies of models near recorded inputs, from small and wide balls of starts and
from recorded pasts, and their extremal instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from rnnbounds.impl.cells.table import CELLS, STACK
from rnnbounds.properties.systems.certified.fields import check_cell
from rnnbounds.properties.systems.certified.near_route import BallRoute, CostlyNearRoute, NearRoute
from rnnbounds.properties.systems.certified.specs import (
    COMMON,
    RARE_CELLS,
    RARE_STACKS,
    column_cell,
    layer_count,
)
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.kind import DrawRequest, Draws, Instances, Kind, ListedCells
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, spec_of

FIELDS = "n d T K regime inputs lam scale bias epsilon distance start units layers cell dtype"
# Units that do not contract, too: what holds near the data asks for no λ < 1.
NearData, NearWide, NearPasts, NearBall = (
    spec_of(kind, fields, regimes=("driven", "signs", "gaussian", "shift"), check=check_cell)
    for kind, fields in (
        ("near", FIELDS), ("near-wide", FIELDS), ("near-pasts", f"{FIELDS} states"),
        ("near-ball", FIELDS.replace("start ", "")),
    )
)  # fmt: skip


@st.composite
def draw_near_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A model of 1 to 3 units, whether it contracts or not, perhaps its predictions, and inputs
    within δ."""
    cell = draw(pick((*COMMON, draw(pick(RARE_CELLS)), draw(pick(RARE_STACKS)))))
    T = draw(pick((3, 4, 2, 6, 1)))
    n = draw(pick((2, 1, 3)))
    regime = draw(pick(("gaussian", "driven", "signs", "shift")))
    return NearData(
        cell=cell,
        n=n,
        d=1 if regime == "driven" else min(draw(pick((1, 2))), n),
        T=T,
        K=min(T, 3),
        regime=regime,
        inputs=draw(pick(("gaussian", "constant", "alternating", "impulse"))),
        layers=layer_count(cell),
        dtype=draw(pick(("float32", "float64", "bfloat16", "float16"))),
        lam=draw(pick((0.75, 2.0, 1.0, 0.25))),
        scale=draw(pick((1.0, 0.25, 4.0))),
        bias=draw(pick((0.5, 0.0))),
        distance=draw(pick((2.0**-6, 2.0**-3, 2.0**-10, 0.5))),
        start=draw(pick((0.0, 2.0**-4, 0.5, 0.0))),
        units=draw(pick((0, 2, 0, 5))),
        epsilon=draw(pick((0.26, 0.57, 0.1, 0.01))),
        seed=draw(seeds()),
        batch=1,
        sequences=wanted.sequences,
    )


def worst_near_specs() -> Iterator[SystemSpec]:
    """Linear units that are alike, and inputs off by δ the same way; cells that inputs bend, and
    each cell so near its data that the first order is nearly all."""
    alike = NearData(
        cell="linear", regime="driven", inputs="constant", n=1, T=6, K=6, lam=0.75, distance=0.125,
        epsilon=0.57, dtype="float32",
    )  # fmt: skip
    yield alike
    yield replace(alike, start=0.25)
    for epsilon in (0.26, 0.4, 0.9, 1.5):
        yield replace(alike, n=2, lam=0.875, epsilon=epsilon, T=8, K=8, seed=4)
    for cell in ("rnn-softplus", "rnn-tanh", "lstm", "gru", "deep-silu"):
        yield replace(
            alike, cell=cell, layers=layer_count(cell), inputs="zero", n=2, lam=1.0, distance=0.5,
            bias=0.5, sequences=4, seed=1,
        )  # fmt: skip
    for cell in COMMON[2:]:
        yield replace(
            alike, cell=cell, layers=layer_count(cell), regime="gaussian", T=3, K=3, lam=1.0,
            bias=0.5,
            distance=2.0**-8, sequences=4, seed=6,
        )  # fmt: skip
    for units in (1, 3):
        yield replace(alike, n=2, units=units)
        yield replace(alike, cell="stacked-gru", layers=2, lam=1.0, units=units, sequences=4)


@st.composite
def draw_wide_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A model of one or two units from starts so wide beside its weights that sets of first order
    grow to twice as much."""
    spec = draw(draw_near_spec(wanted))
    T, n = draw(pick((4, 2, 6, 3))), min(spec.n, 2)
    return NearWide(
        **asdict(spec)
        | {"T": T, "K": min(T, 3), "n": n, "d": min(spec.d, n), "lam": draw(pick((4.0, 3.0, 6.0))),
           "start": draw(pick((0.25, 0.125, 0.5)))}
    )  # fmt: skip


@st.composite
def draw_past_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A model whose runs start near the ends of two to four recordings, for so long that some of
    them may be merged."""
    spec = draw(draw_near_spec(wanted))
    T = draw(pick((5, 3, 8, 4)))
    return NearPasts(
        **asdict(spec)
        | {"T": T, "K": T, "states": draw(pick((3, 2, 4))), "start": draw(pick((0.125, 0.0, 0.5)))}
    )


@st.composite
def draw_ball_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A model of one or two units and few inputs, since many balls are tried of it."""
    fields = asdict(draw(draw_near_spec(wanted)))
    del fields["start"]
    T, n = min(fields["T"], 3), min(fields["n"], 2)
    return NearBall(**fields | {"T": T, "K": T, "n": n, "d": min(fields["d"], n)})


def worst_wide_specs() -> Iterator[SystemSpec]:
    """Linear units that grow."""
    alike = NearWide(
        cell="linear", regime="driven", inputs="constant", n=1, T=4, K=4, lam=3.0, start=1.0,
        distance=0.125, dtype="float32",
    )  # fmt: skip
    yield alike
    for cell in ("rnn-softplus", "rnn-tanh", "lstm", "gru", "deep-silu"):
        yield replace(
            alike, cell=cell, layers=layer_count(cell), lam=6.0, bias=0.5, start=0.25, sequences=4,
            seed=1,
        )  # fmt: skip


def worst_past_specs() -> Iterator[SystemSpec]:
    """Linear units from pasts, of which some forget so fast that enclosures are merged."""
    alike = NearPasts(
        cell="linear", regime="driven", inputs="constant", n=1, T=3, K=3, lam=0.75, start=0.25,
        distance=0.5, epsilon=0.57, states=3, sequences=4, dtype="float32",
    )  # fmt: skip
    for epsilon in (0.26, 0.4, 0.57, 0.9):
        yield replace(alike, epsilon=epsilon)
    yield replace(alike, T=4, K=4, lam=1.5, epsilon=4.0, seed=1)  # whose gap grows with k
    yield replace(alike, T=8, K=8, lam=0.5)
    yield replace(alike, T=8, K=8, lam=0.5, n=2)
    for cell in ("rnn-softplus", "rnn-tanh", "lstm", "gru"):
        yield replace(alike, cell=cell, n=2, lam=1.0, bias=0.5, regime="gaussian", T=5, K=5, seed=1)


def worst_ball_specs() -> Iterator[SystemSpec]:
    """Linear units, and cells of two parts."""
    alike = NearBall(
        cell="linear", regime="driven", inputs="constant", n=1, T=2, K=2, lam=0.75, distance=0.125,
        epsilon=0.57, dtype="float32", sequences=3,
    )  # fmt: skip
    for epsilon in (0.57, 0.66, 0.75):
        yield replace(alike, epsilon=epsilon)
    for cell in ("lstm", "rnn-tanh"):
        yield replace(alike, cell=cell, T=1, K=1, lam=2.0, bias=0.5)


def near_kind(
    make: SpecType,
    draws: Draws,
    worst: Callable[[], Iterator[SystemSpec]],
    route: NearRoute,
) -> Kind:
    """The kind of these models."""
    columns = tuple({"cell": cell, "layers": layer_count(cell)} for cell in COMMON)
    cells = ListedCells(column_cell, columns, cells=(*CELLS, STACK))
    return Kind(make, draws, route, cells, Instances(worst))


KINDS = (
    near_kind(NearData, draw_near_spec, worst_near_specs, NearRoute()),
    near_kind(NearWide, draw_wide_spec, worst_wide_specs, CostlyNearRoute()),
    near_kind(NearPasts, draw_past_spec, worst_past_specs, CostlyNearRoute()),
    near_kind(NearBall, draw_ball_spec, worst_ball_specs, BallRoute()),
)
