"""Gated cells: steps and runs from two states of the invariant box, and runs from zero."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from properties.measures.measure import Measure, OfCells
from properties.measures.readings.needs import Needs
from properties.measures.runs import readings as of
from properties.measures.runs import single
from properties.measures.runs.rounded import Rounded
from properties.systems.gated.cell import Gated
from properties.systems.gated.readings import (
    Weights,
    apart,
    ball_final,
    ball_pair_after,
    by_omega,
    by_unit,
    climbed,
    euclidean,
    euclidean_balls,
    final,
    length_of,
    one_step,
    start,
    sup,
    sup_balls,
    whole_run,
    wide_start,
    wide_step,
)

GATED = Needs(most=(12, 8))


def steps_of(count: int) -> Callable[[object], int]:
    """That many steps, whatever the batch."""
    return lambda batch: count


def after_step(suffix: str, weights: Weights, of_cells: OfCells | None = None) -> Measure:
    """Two states after one step, in max |s_j|/w_j."""
    return Measure(
        f"gate_gap{suffix}",
        enclosure=sup(one_step, weights),
        balls=sup_balls(ball_pair_after(steps_of(1)), weights),
        of_cells=of_cells,
        needs=GATED,
    )


def at_start(suffix: str, weights: Weights, of_cells: OfCells | None = None) -> Measure:
    """Two states, in max |s_j|/w_j."""
    return Measure(
        f"gate_state_gap{suffix}",
        enclosure=sup(start, weights),
        balls=sup_balls(ball_pair_after(steps_of(0)), weights),
        of_cells=of_cells,
    )


def cells(s: Rounded, gated: Gated) -> Rounded:
    """c of an LSTM's state; nothing of a GRU's is one."""
    found = s.part(0, gated.n)
    return found if gated.is_lstm else Rounded(found.value * float("nan"), found.error)


def output(s: Rounded, gated: Gated) -> Rounded:
    """h, the last of the state."""
    return s.part(s.size - gated.n, s.size)


def cell_balls(s: list[arb], n: int) -> list[arb]:
    """c of an LSTM's state; nothing of a GRU's is one."""
    return s[:n] if len(s) > n else [arb("nan")]


MEASURES = (
    Measure(
        "gate_gap",
        value=climbed,
        enclosure=sup(one_step),
        balls=sup_balls(ball_pair_after(steps_of(1))),
        needs=GATED,
    ),
    Measure(
        "gate_state_gap",
        value=apart,
        enclosure=sup(start),
        balls=sup_balls(ball_pair_after(steps_of(0))),
    ),
    after_step("_w", by_omega),
    at_start("_w", by_omega),
    after_step(
        "_box", by_unit, OfCells(of.box_norm(single.moved), of.box_balls(single.balls_moved))
    ),
    at_start("_box", by_unit, OfCells(of.box_norm(single.apart), of.box_balls(single.balls_apart))),
    Measure(
        "wide_gap",
        enclosure=sup(wide_step),
        balls=sup_balls(ball_pair_after(steps_of(1), True)),
        needs=GATED,
    ),
    Measure(
        "wide_state_gap",
        enclosure=sup(wide_start),
        balls=sup_balls(ball_pair_after(steps_of(0), True)),
    ),
    Measure(
        "c_size",
        enclosure=sup(final(cells)),
        balls=sup_balls(ball_final(cell_balls)),
        needs=GATED,
    ),
    Measure(
        "h_size",
        enclosure=sup(final(output)),
        balls=sup_balls(ball_final(lambda s, n: s[-n:])),
        needs=GATED,
    ),
    Measure(
        "run_gap",
        enclosure=euclidean(whole_run),
        balls=euclidean_balls(ball_pair_after(length_of)),
        needs=GATED,
    ),
    Measure(
        "start_gap", enclosure=euclidean(start), balls=euclidean_balls(ball_pair_after(steps_of(0)))
    ),
)
