"""The constants that are printed of models near recorded inputs, and those of false variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import ClassVar

import numpy as np

from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.route import BoxRoute
from rnnbounds.properties.systems.certified.constants import or_infinite
from rnnbounds.properties.systems.certified.near_batch import (
    gaps_for,
    last_slopes,
    member_tube,
    near_certificate,
    recorded_exponent,
)
from rnnbounds.properties.systems.certified.near_moves import build_near
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import BatchParts

NEAR_READERS: Mapping[str, Callable[[SystemSpec, int], float]] = {
    "near_delta": lambda spec, member: near_certificate(spec, member).delta,
    "near_states_told": lambda spec, member: near_certificate(spec, member).states,
    "near_width_told": lambda spec, member: near_certificate(spec, member).width,
    "near_width_before": lambda spec, member: float(
        member_tube(spec, member).widths[:, : spec.T].amax()
    ),
    "near_width_once": lambda spec, member: first_order_width(spec, member, spec.T - 1),
    "near_width_first": lambda spec, member: first_order_width(spec, member, 0),
    "near_exponent_told": lambda spec, member: near_certificate(spec, member).exponent,
    "near_exponent_recorded": recorded_exponent,
    "near_eps_told": lambda spec, member: near_certificate(spec, member).windows_of[0][0],
    "near_k_told": lambda spec, member: or_infinite(
        near_certificate(spec, member).windows_of[0][1]
    ),
}
WINDOW_READERS: Mapping[str, Callable[[SystemSpec, int], list[float]]] = {
    "near_gap_told": lambda spec, member: printed_gaps(spec, member, range(spec.K + 1)),
    "near_gap_next": lambda spec, member: printed_gaps(spec, member, range(1, spec.K + 2)),
    "near_gap_recorded": lambda spec, member: gaps_for(spec, member, distance=0.0),
    "near_gap_half": lambda spec, member: gaps_for(spec, member, start=spec.start / 2),
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
    """How far δ from that input on, and starts, move the last state by Jacobians alone, with room
    for their rounding."""
    of_inputs, of_starts = last_slopes(spec, member)
    moved = of_inputs[:, first_input:].sum((1, 2)) * spec.distance
    return float((moved + of_starts.sum(1) * spec.start).max()) * (1 + 2.0**-20)


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


class CostlyNearRoute(NearRoute):
    """Models of which few are drawn: from wide starts, or from several pasts."""

    share: ClassVar[float] = 0.25
