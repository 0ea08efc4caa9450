"""Runs near recorded inputs: against the state that is computed on these, and two of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.base import V
from rnnbounds.properties.measures.measure import Measure, only_where
from rnnbounds.properties.measures.readings.balls import Vector
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.measures.runs.ball_runs import BallRuns, column
from rnnbounds.properties.measures.runs.gaps import Gap
from rnnbounds.properties.measures.runs.rounded import Rounded, beside
from rnnbounds.properties.measures.runs.starts import rolled
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.near_batch import NearCells, computed


def path(of: Any, start: V, x: Sequence[V]) -> list[V]:
    """The states s_0 … s_T."""
    return [
        at.value for at in rolled(of, Gap(start, start - start), ((one, one - one) for one in x))
    ]


def parting(of: Any, path: Sequence[V], other: V, x: Sequence[V], k: int) -> V:
    """What the run and one from the other state k inputs before its end are apart then."""
    s, last = path[len(x) - k], x[len(x) - k :]
    *_, at = rolled(of, Gap(s, s - other), ((one, one - one) for one in last))
    return at.gap


def states(batch: Batch) -> list[Rounded]:
    """Those of the first run."""
    if "near path" not in batch.cache:
        x = list(map(Rounded.exact, batch.x.unbind(1)))
        batch.cache["near path"] = path(of.runs(batch), Rounded.exact(batch.h), x)
    found: list[Rounded] = batch.cache["near path"]
    return found


def off(batch: Batch) -> Rounded:
    """s_T − ŝ_T."""
    last = states(batch)[-1]
    there = computed(batch.spec)[:, :, None].expand_as(last.value)
    return last - Rounded.exact(there)


def gaps(batch: Batch) -> Rounded:
    """The outputs of both runs, or their predictions, at each k: (B, n, K+1, S)."""
    x, two = list(map(Rounded.exact, batch.x.unbind(1))), Rounded.exact(batch.h_other)
    each = (parting(of.runs(batch), states(batch), two, x, k) for k in range(batch.K + 1))
    found = [of.output(apart, batch) for apart in each]
    if batch.spec.units:
        found = [apart.mapped(batch.C) for apart in found]
    return beside([Rounded(p.value[:, :, None], p.error[:, :, None]) for p in found], dim=2)


def ball_path(runs: BallRuns, batch: Batch) -> list[Any]:
    """The states of one pair's first run."""
    if "near path" not in runs.cache:
        runs.cache["near path"] = path(runs, column(batch.h[0, :, 0].tolist()), runs.inputs)
    found: list[Any] = runs.cache["near path"]
    return found


def ball_off(runs: BallRuns, batch: Batch, k: int) -> Vector:
    """s_T − ŝ_T of one pair."""
    there, last = computed(batch.spec)[0].tolist(), ball_path(runs, batch)[-1]
    return [s - arb(c) for s, c in zip(last.matrix.entries(), there, strict=True)]


def ball_gap(runs: BallRuns, batch: Batch, k: int) -> Vector:
    """The outputs of one pair's runs, or their predictions."""
    other = column(batch.h_other[0, :, 0].tolist())
    apart = parting(runs, ball_path(runs, batch), other, runs.inputs, k)
    found: Vector = apart.matrix.entries()[-batch.its_cells.n :]
    if not batch.spec.units:
        return found
    return list((arb_mat(batch.C[0].tolist()) * arb_mat([[a] for a in found])).entries())


def ones(batch: Batch) -> torch.Tensor:
    """The maximum norm's weights."""
    return batch.x.new_ones(len(batch.x), batch.its_cells.units)


def own(measure: Measure) -> Measure:
    """What only models near recorded inputs have."""
    return only_where(lambda batch: isinstance(batch.cells, NearCells), measure)


MEASURES = (
    own(
        Measure("near_off", enclosure=of.unit_norm(off, ones), balls=of.unit_balls(ball_off, ones))
    ),
    own(Measure("near_gap", enclosure=of.lengths(gaps), balls=of.ball_lengths(ball_gap))),
)
