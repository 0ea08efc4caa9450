"""Hypothesis strategy of models near recorded inputs, and the constants printed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import ClassVar

import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.cells.table import CELLS, STACK
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.route import BoxRoute
from rnnbounds.properties.systems.certified.constants import known
from rnnbounds.properties.systems.certified.fields import check_cell
from rnnbounds.properties.systems.certified.near_batch import (
    around,
    near_parts,
    recorded_gaps,
    response,
    told,
)
from rnnbounds.properties.systems.certified.specs import COMMON, OTHERS, STACKS, column, layers
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.kind import Instances, Kind, ListedCells, Wanted
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.supply.route import Parts

# Units that do not contract, too: what holds near the data asks for no λ < 1.
NearData = spec_of(
    "near",
    "n d T K regime inputs lam scale bias epsilon distance start units layers cell dtype",
    regimes=("driven", "signs", "gaussian", "shift"), check=check_cell,
)  # fmt: skip


@st.composite
def near_specs(draw: st.DrawFn, wanted: Wanted) -> SystemSpec:
    """A model of 1 to 3 units, whether it contracts or not, perhaps its predictions, and inputs
    within δ."""
    cell = draw(pick((*COMMON, draw(pick(OTHERS)), draw(pick(STACKS)))))
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
        layers=layers(cell),
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


def extremal() -> Iterator[SystemSpec]:
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
            alike, cell=cell, layers=layers(cell), inputs="zero", n=2, lam=1.0, distance=0.5,
            bias=0.5, sequences=4, seed=1,
        )  # fmt: skip
    for cell in COMMON[2:]:
        yield replace(
            alike, cell=cell, layers=layers(cell), regime="gaussian", T=3, K=3, lam=1.0, bias=0.5,
            distance=2.0**-8, sequences=4, seed=6,
        )  # fmt: skip
    for units in (1, 3):
        yield replace(alike, n=2, units=units)
        yield replace(alike, cell="stacked-min-gru", layers=2, lam=1.0, units=units, sequences=4)


READ: Mapping[str, Callable[[SystemSpec, int], float]] = {
    "near_delta": lambda spec, member: told(spec, member).delta,
    "near_states_told": lambda spec, member: told(spec, member).states,
    "near_width_told": lambda spec, member: told(spec, member).width,
    "near_width_before": lambda spec, member: float(
        around(spec, member).widths[:, : spec.T].amax()
    ),
    "near_width_once": lambda spec, member: to_first_order(spec, member, spec.T - 1),
    "near_width_first": lambda spec, member: to_first_order(spec, member, 0),
    "near_eps_told": lambda spec, member: told(spec, member).windows_of[0][0],
    "near_k_told": lambda spec, member: known(told(spec, member).windows_of[0][1]),
}
AT_EACH_K: Mapping[str, Callable[[SystemSpec, int], list[float]]] = {
    "near_gap_told": lambda spec, member: printed(spec, member, range(spec.K + 1)),
    "near_gap_next": lambda spec, member: printed(spec, member, range(1, spec.K + 2)),
    "near_gap_recorded": recorded_gaps,
    "near_gap_largest": lambda spec, member: largest_gaps(spec, member),
}


def printed(spec: SystemSpec, member: int, ks: Iterable[int]) -> list[float]:
    """The gaps at these k, infinite where none is."""
    found = told(spec, member).gaps
    return [found.get(k, inf) for k in ks]


def largest_gaps(spec: SystemSpec, member: int) -> list[float]:
    """How far any unit may be off at each k, where no prediction is asked about."""
    ks = range(spec.K + 1)
    if spec.units:
        return [inf for _ in ks]
    found: list[float] = around(spec, member).apart(*ks).amax((1, 2)).tolist()
    return found


def to_first_order(spec: SystemSpec, member: int, first: int) -> float:
    """How far δ from that input on moves the last state by Jacobians alone, with room for their
    rounding; infinite where runs start elsewhere than at 0."""
    if spec.start:
        return inf
    moved = response(spec, member)[:, first:].sum((1, 2)).max()
    return float(moved) * spec.distance * (1 + 2.0**-20)


class NearRoute(BoxRoute):
    """Models near recorded inputs."""

    most: ClassVar[tuple[int, int]] = (1, 4)

    def parts(self, spec: SystemSpec, device: str) -> Parts:
        """The models, and inputs near those that are recorded."""
        return near_parts(spec)

    def constant(self, batch: Batch, name: str) -> Array:
        """Read a printed constant by member, (B, 1, 1), or by k, (B, 1, K+1); others are inf."""
        spec = batch.spec
        if name in READ:
            found = [[[READ[name](spec, member)]] for member in spec.members]
        elif name in AT_EACH_K:
            found = [[AT_EACH_K[name](spec, member)] for member in spec.members]
        else:
            found = [[[inf]] for _ in spec.members]
        return np.array(found, dtype=np.float64)


NEAR = Kind(
    NearData,
    near_specs,
    NearRoute(),
    ListedCells(
        column, tuple({"cell": cell, "layers": layers(cell)} for cell in COMMON),
        cells=(*CELLS, STACK),
    ),
    Instances(extremal),
)  # fmt: skip
