"""Gated cells: steps and runs from two states of the invariant box, and runs from zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from flint import arb

from rnnbounds.properties.measures.cells import own
from rnnbounds.properties.measures.measure import Measure, only_where
from rnnbounds.properties.measures.readings.needs import NOTHING, Needs
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.measures.runs.ball_runs import BallRuns
from rnnbounds.properties.measures.runs.readings import Seen, SeenBalls, Weights
from rnnbounds.properties.measures.runs.rounded import Rounded
from rnnbounds.properties.measures.runs.starts import Pair, apart, balls_apart, pair
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.gated.cell import Gated

Tensor = torch.Tensor
GATED = Needs(most=(12, 8))


def held(batch: Batch) -> Gated:
    """The gated cells of a batch."""
    assert batch.gated is not None
    return batch.gated


def ones(batch: Batch) -> Tensor:
    """1 for every unit."""
    return torch.ones_like(batch.h[:, :, 0])


def outputs(batch: Batch) -> Tensor:
    """1 for every unit of the output."""
    return ones(batch)[:, : held(batch).n]


def by_omega(batch: Batch) -> Tensor:
    """1 for the cells and ω for the outputs."""
    weights = ones(batch)
    if held(batch).is_lstm:
        omega = held(batch).constants["omega"][:, None]
        weights[:, held(batch).n :] = omega.to(weights)
    return weights


def wide(batch: Batch) -> tuple[Tensor, Tensor]:
    """The states that may lie outside of the box."""
    return held(batch).wide


def gated(name: str, seen: Seen, balls: SeenBalls, weights: Weights = ones) -> Measure:
    """max |s_j|/w_j of what only gated cells have."""
    read, exactly = of.unit_norm(seen, weights), of.unit_balls(balls, weights)
    return only_where(has_gates, Measure(name, enclosure=read, balls=exactly))


def has_gates(batch: Batch) -> bool:
    """Whether the systems are gated cells."""
    return batch.gated is not None


def after_step(name: str, start: Pair = pair, weights: Weights = ones) -> Measure:
    """Two states after one step."""
    return gated(name, apart(start, 1), balls_apart(start, 1), weights).needing(GATED)


def at_start(name: str, start: Pair = pair, weights: Weights = ones) -> Measure:
    """Two states."""
    return gated(name, apart(start, 0), balls_apart(start, 0), weights)


def euclidean(name: str, steps: int | None, needs: Needs = NOTHING) -> Measure:
    """‖s − s'‖₂ of two states after so many steps."""
    read, balls = of.lengths(apart(pair, steps)), of.ball_lengths(balls_apart(pair, steps))
    return only_where(has_gates, Measure(name, enclosure=read, balls=balls, needs=needs))


def final(name: str, part: Callable[[Batch], slice]) -> Measure:
    """A part of the state after T steps from zero, as large as the output; NaN if there is none."""

    def seen(batch: Batch) -> Rounded:
        last = of.runs(batch).states[-1]
        found, shown = last[:, part(batch)], last[:, output(batch)]
        return found if found.size else Rounded(shown.value * torch.nan, shown.error)

    def balls(runs: BallRuns, batch: Batch, k: int) -> list[arb]:
        found: list[arb] = runs.states[-1].matrix.entries()[part(batch)]
        return found or [arb("nan")] * held(batch).n

    return gated(name, seen, balls, outputs).needing(GATED)


def output(batch: Batch) -> slice:
    """h, the last of the state."""
    return slice(held(batch).units - held(batch).n, None)


def cells(batch: Batch) -> slice:
    """c of an LSTM's state; nothing of a GRU's is one."""
    return slice(0, held(batch).units - held(batch).n)


def climbed(batch: Batch) -> Tensor:
    """‖φ(s, x_1) − φ(s', x_1)‖_∞, differentiable, (B, S, 1)."""
    x, step = batch.x[:, 0], held(batch).cell.step
    gap: Tensor = step(batch.h, x) - step(batch.h_other, x)
    return gap.abs().amax(1)[:, :, None]


def begun(batch: Batch) -> Tensor:
    """‖s − s'‖_∞, differentiable, (B, S, 1)."""
    return (batch.h - batch.h_other).abs().amax(1)[:, :, None]


MEASURES = (
    replace(after_step("gate_gap"), value=climbed),
    replace(at_start("gate_state_gap"), value=begun),
    after_step("gate_gap_w", weights=by_omega),
    at_start("gate_state_gap_w", weights=by_omega),
    own("gate_gap_box", of.box_norm(apart(pair, 1)), of.box_balls(balls_apart(pair, 1))).needing(
        GATED
    ),
    own("gate_state_gap_box", of.box_norm(apart(pair, 0)), of.box_balls(balls_apart(pair, 0))),
    after_step("wide_gap", wide),
    at_start("wide_state_gap", wide),
    final("c_size", cells),
    final("h_size", output),
    euclidean("run_gap", None, GATED),
    euclidean("start_gap", 0),
)
