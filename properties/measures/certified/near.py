"""States of runs near recorded inputs against the one that is computed on these."""

from __future__ import annotations

import torch
from flint import arb

from properties.measures.measure import Measure, only_where
from properties.measures.readings.balls import Vector
from properties.measures.runs import readings as of
from properties.measures.runs.ball_runs import BallRuns
from properties.measures.runs.rounded import Rounded
from properties.systems.batch import Batch
from properties.systems.certified.near_batch import NearCells, computed


def off(batch: Batch) -> Rounded:
    """s_T − ŝ_T."""
    last = of.runs(batch).states[-1]
    there = computed(batch.spec)[:, :, None].expand_as(last.value)
    return last - Rounded.exact(there)


def ball_off(runs: BallRuns, batch: Batch, k: int) -> Vector:
    """The same of one pair."""
    there = computed(batch.spec)[0].tolist()
    last = runs.states[-1].matrix.entries()
    return [s - arb(c) for s, c in zip(last, there, strict=True)]


def ones(batch: Batch) -> torch.Tensor:
    """The maximum norm's weights."""
    return batch.x.new_ones(len(batch.x), batch.its_cells.units)


MEASURES = (
    only_where(
        lambda batch: isinstance(batch.cells, NearCells),
        Measure("near_off", enclosure=of.unit_norm(off, ones), balls=of.unit_balls(ball_off, ones)),
    ),
)
