"""Projected gradient descent, what it ends at, and the projections on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flint import arb

from rnnbounds.properties.measures.measure import Error, Measure, OfCells, Value, around, blank
from rnnbounds.properties.measures.readings import exact_training as exact
from rnnbounds.properties.measures.readings import projections, training
from rnnbounds.properties.measures.readings.needs import NOTHING, Needs
from rnnbounds.properties.measures.runs import ball_descent, descent
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval


def trained(value: Value, error: Error) -> Callable[[Batch], Interval]:
    """The enclosure of what training gives; nothing is known of systems that are not trained."""

    def enclosure(batch: Batch) -> Interval:
        if batch.spec.kind == "training":
            found = value(batch)
            return around(found, error(batch, found))
        return blank(batch, batch.K + 1)

    return enclosure


def weights(name: str, before: int, value: Value, error: Error) -> Measure:
    """A distance of two weights: of both descents, or of the quadratic instance's."""

    def enclosure(batch: Batch) -> Interval:
        if batch.spec.kind != "quadratic":
            return trained(value, error)(batch)
        gap = exact.quadratic_gap(batch, max(batch.spec.steps - before, 0))
        return exact.interval(abs(arb(gap)), (batch.cell.batch, batch.x.shape[3], batch.K + 1))

    return Measure(
        name,
        enclosure=enclosure,
        balls=exact.w_gap_ball(before),
        square=exact.w_gap_square(before),
    )


def between(
    name: str, one: tuple[str, str], two: tuple[str, str], needs: Needs = NOTHING
) -> Measure:
    """The distance of what becomes of A or of B from what becomes of either."""
    return Measure(
        name, enclosure=projections.enclosure(one, two), balls=projections.ball(one, two),
        square=projections.square(one, two), needs=needs,
    )  # fmt: skip


FEW = Needs(most=(16, 1))

MEASURES = (
    replace(
        weights("w_gap", 0, training.w_gap, training.w_gap_slack),
        of_cells=OfCells(descent.w_gap, ball_descent.w_gap_ball),
        needs=replace(FEW, trained=True),
    ),
    weights("w_gap_before", 1, training.w_gap_before, training.w_gap_before_slack),
    Measure(
        "trained_gap",
        enclosure=trained(training.trained_gap, training.trained_gap_slack),
        balls=exact.trained_gap_ball,
        needs=FEW,
    ),
    between("proj_gap", ("projected", "A"), ("projected", "B"), FEW),
    between("matrix_gap", ("itself", "A"), ("itself", "B")),
    between("rescaled_gap", ("rescaled", "A"), ("rescaled", "B"), FEW),
    between("proj_distance", ("itself", "A"), ("projected", "A"), FEW),
    between("feasible_distance", ("itself", "A"), ("rescaled", "B")),
)  # fmt: skip
