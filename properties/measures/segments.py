"""Gradients of runs that start anywhere on a segment of states, enclosed in float64.

A run from θh, 0 ≤ θ ≤ 1, starts within |h|/2 of h/2, entry by entry; its states and the product of
its steps' derivatives are carried with bounds on how far they are from those of the run from h/2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from flint import arb

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.impl.numbers.outward import TINY
from rnnbounds.properties.measures.measure import Opaque
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.numbers.arrays import mask_times
from rnnbounds.properties.read.numbers.rounded import ROUND_UP, Rounded, RoundedCells, join_parts
from rnnbounds.properties.read.numbers.seeds import RoundedDirections
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.theory.numbers.interval import Interval

SLACK = 1 + 2.0**-40


def segment(h: Rounded) -> Rounded:
    """θh for all 0 ≤ θ ≤ 1."""
    around = (h.value.abs() / 2 + h.error) * ROUND_UP + mask_times(h.nonzero_mask, TINY)
    return Rounded(h.value / 2, around)


@torch.no_grad()
def lag_gradients(batch: Batch) -> Array:
    """J_k ≥ ‖∂h_T/∂h_{T−k}‖ at θh_{T−k}, 0 ≤ θ ≤ 1, for each pair and window: (B, S, K+1)."""
    cell, x, K, (_, T, d, S) = batch.cell, batch.x, batch.K, batch.x.shape
    plain, seeds = RoundedCells(cell.parameters), RoundedDirections(cell.parameters, cell.n, d, ())
    along: Any = seeds  # has all of an arithmetic that a step of duals asks for
    h = Rounded.exact(x.new_zeros(len(x), cell.n, S))
    runs: Dual[Rounded] | None = None  # of all windows that have begun, the longest first
    for t, now in enumerate(x.unbind(1)):
        if t >= T - K:
            start = segment(h)
            begun = Dual(start, seeds.unit(start, 0))
            runs = begun if runs is None else joined(runs, begun)
            columns = now.repeat(1, 1, runs.value.v.shape[2] // S)
            runs = cell.program(DualArithmetic(plain, along), runs, seeds.still(columns))
        h = cell.program(plain, h, Rounded.exact(now))
    found = np.ones((len(x), S, K + 1))  # the identity, of no step
    if runs is not None:
        high = FLOATS.spectral(runs.tangent[..., : cell.n]).hi
        found[:, :, :0:-1] = high.reshape(len(x), K, S).transpose(0, 2, 1)
    return found


def joined(one: Dual[Rounded], two: Dual[Rounded]) -> Dual[Rounded]:
    """All columns of both."""
    return Dual(join_parts([one.value, two.value], 2), join_parts([one.tangent, two.tangent], 2))


def enclosure(batch: Batch) -> Interval:
    """J_k, whose last digits depend on how many columns are multiplied at once: up to `SLACK`."""
    if not batch.is_vanilla:
        return Interval(*[np.full((len(batch.x), 1, batch.K + 1), np.nan)] * 2)
    found = lag_gradients(batch)
    return Interval(found, found * SLACK)


def ball(pair: BallPair, k: int) -> arb:
    """J_k of one pair, within the same slack."""
    low, high = (float(end[0, 0, k]) for end in enclosure(pair.batch).ends)
    return arb(low).union(arb(high))


FAST = (
    Opaque(
        "lag_gradient", enclosure=enclosure, balls=ball,
        reason="it is a bound on all of a segment of states",
    ),
)  # fmt: skip
