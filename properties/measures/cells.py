"""Cells of any kind: states, gaps and derivatives of runs that start at several times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb

from properties.measures.measure import Measure
from properties.measures.readings import receptive_field as field
from properties.measures.readings.balls import BallPair
from properties.measures.runs import ball_descent, descent, pairs, single
from properties.measures.runs import readings as of
from properties.systems.batch import Batch
from theory.numbers.interval import Interval


def own(
    name: str,
    seen: Callable[[Batch], Interval],
    balls: Callable[[BallPair, int], arb],
    windowed: bool = False,
) -> Measure:
    """What only cells have, NaN on other systems."""

    def enclosure(batch: Batch) -> Interval:
        if batch.cells is not None:
            return seen(batch)
        windows = batch.K + 1 if windowed else 1
        nothing = np.full((batch.cell.batch, batch.x.shape[3], windows), np.nan)
        return Interval(nothing, nothing)

    def ball(pair: BallPair, k: int) -> arb:
        return arb("nan") if pair.batch.cells is None else balls(pair, k)

    return Measure(name, enclosure=enclosure, balls=ball)


CELLS = (
    own(
        "h_norm_box",
        of.box_norm(lambda batch: of.runs(batch).states[-1]),
        of.box_balls(lambda runs, batch, k: runs.states[-1].matrix.entries()),
    ),
    own(
        "h_gap_box",
        of.box_norm(lambda batch: of.runs(batch).gaps),
        of.box_balls(lambda runs, batch, k: runs.gap(k).entries()),
        windowed=True,
    ),
    own("dphi_w_box", single.dphi_w, single.dphi_w_ball),
    own("dphi_w_gap_box", single.dphi_w_gap, single.dphi_w_gap_ball),
    own("dphi_h_gap_box", single.dphi_h_gap, single.dphi_h_gap_ball),
)
# What other systems have too, under the same name.
ALSO = {
    measure.name: measure
    for measure in (
        Measure(
            "h_gap",
            enclosure=of.lengths(of.output_gaps),
            balls=of.ball_lengths(of.ball_output_gap),
        ),
        Measure(
            "y_gap",
            enclosure=of.lengths(lambda batch: of.output_gaps(batch).mapped(batch.C)),
            balls=of.ball_lengths(of.predicted),
        ),
        Measure(
            "gate_gap_box",
            enclosure=of.box_norm(single.moved),
            balls=of.box_balls(single.balls_moved),
        ),
        Measure(
            "gate_state_gap_box",
            enclosure=of.box_norm(single.apart),
            balls=of.box_balls(single.balls_apart),
        ),
        Measure("forward_gap", enclosure=field.forward_gap_of_cells),
        Measure("dh_dx", enclosure=of.input_jacobians, balls=of.ball_jacobian),
        Measure(
            "grad_gap",
            enclosure=of.lengths(of.gradient_gaps, 3),
            balls=of.ball_lengths(of.ball_gradient_gap),
        ),
        Measure(
            "grad_gap_weights",
            enclosure=pairs.grad_gap_weights,
            balls=pairs.grad_gap_weights_ball,
        ),
        Measure(
            "weight_distance",
            enclosure=pairs.weight_distance,
            balls=pairs.weight_distance_ball,
        ),
        Measure("w_gap", enclosure=descent.w_gap, balls=ball_descent.w_gap_ball),
        Measure(
            "tbptt_gap",
            enclosure=of.lengths(of.early_gradients, 3),
            balls=of.ball_lengths(of.ball_early_gradient),
        ),
    )
}
