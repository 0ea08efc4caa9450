"""What is seen on gated cells: enclosed in float64, in balls of one pair, and differentiable.

The norms are max |s_j|/w_j for weights w (B, N) of the units, and ‖·‖₂. Enclosures are (B, S, 1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from flint import arb

from impl.numbers.outward import underflow
from properties.measures.measure import around
from properties.measures.readings.balls import BallPair, column, entries, length
from properties.measures.readings.slack import norm_slack
from properties.measures.runs.rounded import UP, Rounded, step
from properties.systems.batch import Batch
from properties.systems.gated.cell import Gated
from theory.numbers.interval import Interval

Tensor = torch.Tensor
Weights = Callable[[Batch], Tensor]
Differences = Callable[[Batch], Rounded]
Balls = Callable[[BallPair], list[arb]]


def by_omega(batch: Batch) -> Tensor:
    """1 for the cells and ω for the outputs."""
    assert batch.gated is not None
    weights = torch.ones_like(batch.gated.box)
    if batch.gated.is_lstm:
        omega = torch.from_numpy(batch.gate_constants["omega"][:, :, 0])
        weights[:, batch.gated.cell.n :] = omega.to(weights)
    return weights


def by_unit(batch: Batch) -> Tensor:
    """The unit weights v."""
    assert batch.gated is not None
    return batch.gated.v


def blank(batch: Batch) -> Interval:
    """What is not measured on this kind of system."""
    nothing = np.full((batch.cell.batch, batch.x.shape[3], 1), np.nan)
    return Interval(nothing, nothing)


def orbit(batch: Batch, steps: int) -> Rounded:
    """After some steps on the first inputs: S runs from each of the pair, then from zero."""
    assert batch.gated is not None
    key = f"gated orbit of {steps}"
    if key not in batch.cache:
        starts = [batch.h, batch.h_other, torch.zeros_like(batch.h)]
        s = Rounded.exact(torch.cat(starts, dim=2))
        for t in range(steps):
            s = step(batch.gated.cell, s, batch.x[:, t].repeat(1, 1, 3))
        batch.cache[key] = s
    found = batch.cache[key]
    assert isinstance(found, Rounded)
    return found


def pair_after(steps: Callable[[Batch], int]) -> Differences:
    """s_t − s'_t after that many steps."""

    def read(batch: Batch) -> Rounded:
        s, S = orbit(batch, steps(batch)), batch.x.shape[3]
        gap = s.columns(0, S) - s.columns(S, 2 * S)
        # One state is two equal ones, to the last bit.
        differ = (batch.h != batch.h_other).any(1, keepdim=True)
        return Rounded(gap.value * differ, gap.error * differ)

    return read


def length_of(batch: Batch) -> int:
    """T."""
    return int(batch.spec.T)


one_step = pair_after(lambda batch: 1)
whole_run = pair_after(length_of)


def start(batch: Batch) -> Rounded:
    """s − s'."""
    return Rounded.exact(batch.h) - Rounded.exact(batch.h_other)


def wide_start(batch: Batch) -> Rounded:
    """The difference of the states that may lie outside of the box."""
    assert batch.gated is not None
    s, other = batch.gated.wide
    return Rounded.exact(s) - Rounded.exact(other)


def wide_step(batch: Batch) -> Rounded:
    """The same after one step."""
    assert batch.gated is not None
    s, S = Rounded.exact(torch.cat(batch.gated.wide, dim=2)), batch.x.shape[3]
    moved = step(batch.gated.cell, s, batch.x[:, 0].repeat(1, 1, 2))
    return moved.columns(0, S) - moved.columns(S, 2 * S)


def final(part: Callable[[Rounded, Gated], Rounded]) -> Differences:
    """A part of the state after T steps from zero."""

    def read(batch: Batch) -> Rounded:
        assert batch.gated is not None
        S = batch.x.shape[3]
        return part(orbit(batch, batch.spec.T).columns(2 * S, 3 * S), batch.gated)

    return read


def sup(differences: Differences, weights: Weights | None = None) -> Callable[[Batch], Interval]:
    """Enclosures of max |s_j|/w_j."""

    def read(batch: Batch) -> Interval:
        if batch.gated is None:
            return blank(batch)
        s = differences(batch)
        w = torch.ones_like(s.value[..., 0]) if weights is None else weights(batch)
        value, error = (part / w[:, :, None] for part in (s.value.abs(), s.error))
        top = value.amax(1)[:, :, None]
        exact = (error.amax(1)[:, :, None] == 0) & (w == 1).all()
        slack = (error.amax(1)[:, :, None] + top * 2.0**-50) * UP + underflow(top)
        return around(top, torch.where(exact, 0.0, slack))

    return read


def euclidean(differences: Differences) -> Callable[[Batch], Interval]:
    """Enclosures of ‖s‖₂."""

    def read(batch: Batch) -> Interval:
        if batch.gated is None:
            return blank(batch)
        s = differences(batch)
        value = torch.linalg.vector_norm(s.value, dim=1)[:, :, None]
        off = torch.linalg.vector_norm(s.error, dim=1)[:, :, None]
        return around(value, (off + norm_slack(s.value.shape[1], value)) * UP)

    return read


def climbed(batch: Batch) -> Tensor:
    """‖φ(s, x_1) − φ(s', x_1)‖_∞, differentiable, (B, S, 1)."""
    assert batch.gated is not None
    x = batch.x[:, 0]
    gap: Tensor = batch.gated.cell.step(batch.h, x) - batch.gated.cell.step(batch.h_other, x)
    return gap.abs().amax(1)[:, :, None]


def apart(batch: Batch) -> Tensor:
    """‖s − s'‖_∞, differentiable, (B, S, 1)."""
    return (batch.h - batch.h_other).abs().amax(1)[:, :, None]


def run_balls(pair: BallPair, s: Tensor, steps: int) -> list[arb]:
    """φ applied to one state (N,) along the first inputs."""
    assert pair.batch.gated is not None
    at = column(s.tolist())
    for x in pair.inputs[:steps]:
        at, _ = pair.batch.gated.cell.ball_step(at, x)
    return entries(at)


def ball_pair_after(steps: Callable[[Batch], int], wide: bool = False) -> Balls:
    """The difference of the pair after some steps; exactly 0 where the states are one."""

    def read(pair: BallPair) -> list[arb]:
        gated = pair.batch.gated
        assert gated is not None
        s, other = gated.wide if wide else (pair.batch.h, pair.batch.h_other)
        s, other = s[0, :, 0], other[0, :, 0]
        if torch.equal(s, other):
            return [arb(0)] * len(s)
        ends = (run_balls(pair, at, steps(pair.batch)) for at in (s, other))
        return [p - q for p, q in zip(*ends, strict=True)]

    return read


def ball_final(part: Callable[[list[arb], int], list[arb]]) -> Balls:
    """A part of the state after T steps from zero."""

    def read(pair: BallPair) -> list[arb]:
        zero = torch.zeros_like(pair.batch.h[0, :, 0])
        return part(run_balls(pair, zero, pair.batch.spec.T), pair.batch.cell.n)

    return read


def sup_balls(balls: Balls, weights: Weights | None = None) -> Callable[[BallPair, int], arb]:
    """max |s_j|/w_j of one pair."""

    def read(pair: BallPair, k: int) -> arb:
        if pair.batch.gated is None:
            return arb("nan")
        s = balls(pair)
        w = [1.0] * len(s) if weights is None else weights(pair.batch)[0].tolist()
        low, high = arb(0), arb(0)
        for value, weight in zip(s, w, strict=True):
            low = low.max(value.abs_lower() / weight)
            high = high.max(value.abs_upper() / weight)
        return low.union(high)

    return read


def euclidean_balls(balls: Balls) -> Callable[[BallPair, int], arb]:
    """‖s‖₂ of one pair."""

    def read(pair: BallPair, k: int) -> arb:
        return arb("nan") if pair.batch.gated is None else length(balls(pair))

    return read
