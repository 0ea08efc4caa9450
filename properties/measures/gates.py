"""Gated cells: steps and runs from two states of the invariant box, and runs from zero."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from properties.measures.measure import Measure
from properties.measures.runs.rounded import Rounded
from properties.systems.gated.cell import Gated
from properties.systems.gated.readings import (
    Balls,
    Differences,
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


def steps_of(count: int) -> Callable[[object], int]:
    """That many steps, whatever the batch."""
    return lambda batch: count


def weighed(suffix: str, weights: Weights) -> tuple[Measure, Measure]:
    """Both gaps in max |s_j|/w_j."""
    return (
        seen(f"gate_gap{suffix}", one_step, ball_pair_after(steps_of(1)), weights),
        seen(f"gate_state_gap{suffix}", start, ball_pair_after(steps_of(0)), weights),
    )


def seen(name: str, differences: Differences, balls: Balls, weights: Weights) -> Measure:
    """One gap in max |s_j|/w_j."""
    return Measure(name, enclosure=sup(differences, weights), balls=sup_balls(balls, weights))


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


GATES = (
    Measure(
        "gate_gap",
        value=climbed,
        enclosure=sup(one_step),
        balls=sup_balls(ball_pair_after(steps_of(1))),
    ),
    Measure(
        "gate_state_gap",
        value=apart,
        enclosure=sup(start),
        balls=sup_balls(ball_pair_after(steps_of(0))),
    ),
    *weighed("_w", by_omega),
    *weighed("_box", by_unit),
    Measure(
        "wide_gap", enclosure=sup(wide_step), balls=sup_balls(ball_pair_after(steps_of(1), True))
    ),
    Measure(
        "wide_state_gap",
        enclosure=sup(wide_start),
        balls=sup_balls(ball_pair_after(steps_of(0), True)),
    ),
    Measure("c_size", enclosure=sup(final(cells)), balls=sup_balls(ball_final(cell_balls))),
    Measure(
        "h_size", enclosure=sup(final(output)), balls=sup_balls(ball_final(lambda s, n: s[-n:]))
    ),
    Measure(
        "run_gap", enclosure=euclidean(whole_run), balls=euclidean_balls(ball_pair_after(length_of))
    ),
    Measure(
        "start_gap", enclosure=euclidean(start), balls=euclidean_balls(ball_pair_after(steps_of(0)))
    ),
)
