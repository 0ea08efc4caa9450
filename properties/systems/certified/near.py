"""Hypothesis strategy of models near recorded inputs, and the constants printed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import ClassVar

import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.cells.table import STACK
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.route import BoxRoute
from rnnbounds.properties.systems.certified.constants import or_infinite
from rnnbounds.properties.systems.certified.fields import check_cell
from rnnbounds.properties.systems.certified.near_batch import (
    build_near,
    input_response,
    member_tube,
    near_certificate,
    recorded_gaps,
)
from rnnbounds.properties.systems.certified.specs import (
    COMMON,
    FURTHER,
    RARE_CELLS,
    RARE_STACKS,
    SINGLE_CELLS,
    column_cell,
    layer_count,
)
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.kind import DrawRequest, Instances, Kind, ListedCells
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.supply.route import BatchParts

# Units that do not contract, too: what holds near the data asks for no λ < 1.
NearData = spec_of(
    "near",
    "n d T K regime inputs lam scale bias epsilon distance start units layers cell dtype",
    regimes=("driven", "signs", "gaussian", "shift"), check=check_cell,
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
    for cell in ("rnn-softplus", "rnn-tanh", "lstm", "gru", "deep-silu", "selective"):
        yield replace(
            alike, cell=cell, layers=layer_count(cell), inputs="zero", n=2, lam=1.0, distance=0.5,
            bias=0.5, sequences=4, seed=1,
        )  # fmt: skip
    for cell in (*COMMON[2:], *FURTHER):
        yield replace(
            alike, cell=cell, layers=layer_count(cell), regime="gaussian", T=3, K=3, lam=1.0,
            bias=0.5,
            distance=2.0**-8, sequences=4, seed=6,
        )  # fmt: skip
    for units in (1, 3):
        yield replace(alike, n=2, units=units)
        yield replace(alike, cell="stacked-min-gru", layers=2, lam=1.0, units=units, sequences=4)


NEAR_READERS: Mapping[str, Callable[[SystemSpec, int], float]] = {
    "near_delta": lambda spec, member: near_certificate(spec, member).delta,
    "near_states_told": lambda spec, member: near_certificate(spec, member).states,
    "near_width_told": lambda spec, member: near_certificate(spec, member).width,
    "near_width_before": lambda spec, member: float(
        member_tube(spec, member).widths[:, : spec.T].amax()
    ),
    "near_width_once": lambda spec, member: first_order_width(spec, member, spec.T - 1),
    "near_width_first": lambda spec, member: first_order_width(spec, member, 0),
    "near_eps_told": lambda spec, member: near_certificate(spec, member).windows_of[0][0],
    "near_k_told": lambda spec, member: or_infinite(
        near_certificate(spec, member).windows_of[0][1]
    ),
}
WINDOW_READERS: Mapping[str, Callable[[SystemSpec, int], list[float]]] = {
    "near_gap_told": lambda spec, member: printed_gaps(spec, member, range(spec.K + 1)),
    "near_gap_next": lambda spec, member: printed_gaps(spec, member, range(1, spec.K + 2)),
    "near_gap_recorded": recorded_gaps,
    "near_gap_largest": lambda spec, member: largest_gaps(spec, member),
}


def printed_gaps(spec: SystemSpec, member: int, ks: Iterable[int]) -> list[float]:
    """The gaps at these k, infinite where none is."""
    gaps = near_certificate(spec, member).gaps
    return [gaps.get(k, inf) for k in ks]


def largest_gaps(spec: SystemSpec, member: int) -> list[float]:
    """How far any unit may be off at each k, where no prediction is asked about."""
    ks = range(spec.K + 1)
    if spec.units:
        return [inf for _ in ks]
    found: list[float] = member_tube(spec, member).apart(*ks).amax((1, 2)).tolist()
    return found


def first_order_width(spec: SystemSpec, member: int, first_input: int) -> float:
    """How far δ from that input on moves the last state by Jacobians alone, with room for their
    rounding; infinite where runs start elsewhere than at 0."""
    if spec.start:
        return inf
    response_sum = input_response(spec, member)[:, first_input:].sum((1, 2)).max()
    return float(response_sum) * spec.distance * (1 + 2.0**-20)


class NearRoute(BoxRoute):
    """Models near recorded inputs."""

    max_size: ClassVar[tuple[int, int]] = (1, 4)

    def build_parts(self, spec: SystemSpec, device: str) -> BatchParts:
        """The models, and inputs near those that are recorded."""
        return build_near(spec)

    def constant(self, batch: Batch, name: str) -> Array:
        """Read a printed constant by member, (B, 1, 1), or by k, (B, 1, K+1); others are inf."""
        spec = batch.spec
        if name in NEAR_READERS:
            values = [[[NEAR_READERS[name](spec, member)]] for member in spec.members]
        elif name in WINDOW_READERS:
            values = [[WINDOW_READERS[name](spec, member)] for member in spec.members]
        else:
            values = [[[inf]] for _ in spec.members]
        return np.array(values, dtype=np.float64)


NEAR = Kind(
    NearData,
    draw_near_spec,
    NearRoute(),
    ListedCells(
        column_cell, tuple({"cell": cell, "layers": layer_count(cell)} for cell in COMMON),
        cells=(*SINGLE_CELLS, STACK),
    ),
    Instances(worst_near_specs),
)  # fmt: skip
