"""Gradients in the weights, and the derivatives of single steps and losses."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from rnnbounds.properties.measures.measure import Error, Measure, OfCells, Value
from rnnbounds.properties.measures.readings.exact_steps import (
    Rows,
    Single,
    dphi_h_gap_ball,
    longest_ball,
    longest_square,
    steepest_square,
)
from rnnbounds.properties.measures.readings.gradients import (
    distance_ball,
    distance_slack,
    distance_square,
    gap_ball,
    gap_square,
    weight_distance,
    weights_ball,
    weights_gap,
    weights_slack,
    weights_square,
    windowed_gap,
    windowed_slack,
)
from rnnbounds.properties.measures.readings.needs import NOTHING, Needs
from rnnbounds.properties.measures.readings.steps import (
    dp,
    dp_gap,
    dp_gap_slack,
    dp_slack,
    dphi_h_gap,
    dphi_h_gap_enclosure,
    dphi_w,
    dphi_w_gap,
    dphi_w_gap_slack,
    dphi_w_slack,
)
from rnnbounds.properties.measures.runs import pairs
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.systems.batch import Batch

Squares = Callable[[Rows], Callable[[Batch, int], fmpq | None]]


def windowed(name: str, needs: Needs, of_cells: OfCells | None = None) -> Measure:
    """A difference of the gradients of two runs, one for each window."""
    return Measure(
        name, value=windowed_gap(name), error=windowed_slack(name), balls=gap_ball(name),
        square=gap_square(name), of_cells=of_cells, needs=needs,
    )  # fmt: skip


def in_rows(
    name: str,
    rows: Rows,
    value: Value,
    error: Error,
    square: Squares = longest_square,
    needs: Needs = NOTHING,
) -> Measure:
    """The length of the longest of the rows that one step gives."""
    balls, exact = longest_ball(rows), square(rows)
    return Measure(name, value=value, error=error, balls=balls, square=exact, needs=needs)


# One adjoint sweep reads many systems as fast as few.
SWEPT = Needs(room=(128, 1))

MEASURES = (
    windowed(
        "grad_gap",
        Needs(room=(448, 1)),
        OfCells(of.lengths(of.gradient_gaps, 3), of.ball_lengths(of.ball_gradient_gap)),
    ),
    windowed("grad_gap_mean", Needs(most=(16, 2), apart=True, slow=True, longest=64)),
    windowed(
        "tbptt_gap",
        SWEPT,
        OfCells(of.lengths(of.early_gradients, 3), of.ball_lengths(of.ball_early_gradient)),
    ),
    windowed("tb_gap", SWEPT),
    Measure(
        "grad_gap_weights", value=weights_gap, error=weights_slack, balls=weights_ball,
        square=weights_square,
        of_cells=OfCells(pairs.grad_gap_weights, pairs.grad_gap_weights_ball),
    ),
    Measure(
        "weight_distance", value=weight_distance, error=distance_slack, balls=distance_ball,
        square=distance_square,
        of_cells=OfCells(pairs.weight_distance, pairs.weight_distance_ball),
    ),
    in_rows("dphi_w", Single.weights, dphi_w, dphi_w_slack, steepest_square),
    in_rows(
        "dphi_w_gap", Single.weights_gap, dphi_w_gap, dphi_w_gap_slack, steepest_square,
        Needs(most=(16, 4)),
    ),
    Measure(
        "dphi_h_gap", value=dphi_h_gap, enclosure=dphi_h_gap_enclosure, balls=dphi_h_gap_ball,
        needs=Needs(most=(16, 2)),
    ),
    in_rows("dp", Single.loss, dp, dp_slack),
    in_rows("dp_gap", Single.loss_gap, dp_gap, dp_gap_slack),
)  # fmt: skip
