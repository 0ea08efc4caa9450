"""Gradients in the weights, and the derivatives of single steps and losses."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from properties.measures.measure import Error, Measure, Value
from properties.measures.readings.exact_steps import (
    Rows,
    Single,
    dphi_h_gap_ball,
    longest_ball,
    longest_square,
    steepest_square,
)
from properties.measures.readings.gradients import (
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
from properties.measures.readings.steps import (
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
from properties.systems.batch import Batch

Squares = Callable[[Rows], Callable[[Batch, int], fmpq | None]]


def windowed(name: str) -> Measure:
    """A difference of the gradients of two runs, one for each window."""
    return Measure(
        name, value=windowed_gap(name), error=windowed_slack(name), balls=gap_ball(name),
        square=gap_square(name),
    )  # fmt: skip


def in_rows(
    name: str, rows: Rows, value: Value, error: Error, square: Squares = longest_square
) -> Measure:
    """The length of the longest of the rows that one step gives."""
    return Measure(name, value=value, error=error, balls=longest_ball(rows), square=square(rows))


GRADIENTS = (
    *(windowed(name) for name in ("grad_gap", "grad_gap_mean", "tbptt_gap", "tb_gap")),
    Measure(
        "grad_gap_weights", value=weights_gap, error=weights_slack, balls=weights_ball,
        square=weights_square,
    ),
    Measure(
        "weight_distance", value=weight_distance, error=distance_slack, balls=distance_ball,
        square=distance_square,
    ),
    in_rows("dphi_w", Single.weights, dphi_w, dphi_w_slack, steepest_square),
    in_rows(
        "dphi_w_gap", Single.weights_gap, dphi_w_gap, dphi_w_gap_slack, steepest_square
    ),
    Measure(
        "dphi_h_gap", value=dphi_h_gap, enclosure=dphi_h_gap_enclosure, balls=dphi_h_gap_ball
    ),
    in_rows("dp", Single.loss, dp, dp_slack),
    in_rows("dp_gap", Single.loss_gap, dp_gap, dp_gap_slack),
)  # fmt: skip
