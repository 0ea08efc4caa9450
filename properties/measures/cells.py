"""Cells of any kind: states, gaps and derivatives of runs that start at several times."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from rnnbounds.properties.measures.measure import Measure, only_where
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.measures.runs import single
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval


def own(
    name: str, seen: Callable[[Batch], Interval], balls: Callable[[BallPair, int], arb]
) -> Measure:
    """What only cells have."""
    return only_where(
        lambda batch: batch.cells is not None, Measure(name, enclosure=seen, balls=balls)
    )


MEASURES = (
    own(
        "h_norm_box",
        of.box_norm(lambda batch: of.runs(batch).states[-1]),
        of.box_balls(lambda runs, batch, k: runs.states[-1].matrix.entries()),
    ),
    own(
        "h_gap_box",
        of.box_norm(lambda batch: of.runs(batch).gaps),
        of.box_balls(lambda runs, batch, k: runs.gap(k).entries()),
    ),
    own("dphi_w_box", single.dphi_w, single.dphi_w_ball),
    own("dphi_w_gap_box", single.dphi_w_gap, single.dphi_w_gap_ball),
    own("dphi_h_gap_box", single.dphi_h_gap, single.dphi_h_gap_ball),
)
