"""The derivatives of one step of a cell, at a pair of states of the box and the first input.

Operators into ‖·‖_box have the largest row for a norm: ‖B_j‖₂/v_j from Euclidean weights, and
Σ_l |A_jl| v_l/v_j from ‖·‖_box itself.
"""

from __future__ import annotations

from flint import arb, arb_mat

from rnnbounds.properties.measures.readings.balls import BallPair, length
from rnnbounds.properties.measures.readings.balls import largest as greatest
from rnnbounds.properties.measures.runs.ball_runs import Step, column
from rnnbounds.properties.measures.runs.gaps import Gap
from rnnbounds.properties.measures.runs.readings import ball_runs, by_unit, largest, length_of, runs
from rnnbounds.properties.measures.runs.rounded import Rounded
from rnnbounds.properties.measures.runs.runs import Local
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval


def steps(batch: Batch) -> tuple[Local, Local]:
    """The derivatives at the first state, and minus those at the other, S columns each."""
    key = "derivatives of one step"
    if key not in batch.cache:
        h, x = Rounded.exact(batch.h), Rounded.exact(batch.x[:, 0])
        batch.cache[key] = (
            runs(batch).at(h, x),
            runs(batch).gap_at(Gap(h, h - Rounded.exact(batch.h_other)), x),
        )
    found: tuple[Local, Local] = batch.cache[key]
    return found


def rows_of(B: Rounded, batch: Batch) -> Interval:
    """max_j ‖B_j‖₂/v_j of (B, N, S, P)."""
    return largest(Rounded(*length_of(B, 3)), by_unit(batch))


def dphi_w(batch: Batch) -> Interval:
    """‖∂_wφ(s, x)‖ from ‖·‖₂ to ‖·‖_box."""
    return rows_of(steps(batch)[0].B, batch)


def dphi_w_gap(batch: Batch) -> Interval:
    """‖∂_wφ(s, x) − ∂_wφ(s′, x)‖ from ‖·‖₂ to ‖·‖_box."""
    return rows_of(steps(batch)[1].B, batch)


def dphi_h_gap(batch: Batch) -> Interval:
    """‖∂_sφ(s, x) − ∂_sφ(s′, x)‖ from ‖·‖_box to itself."""
    A, v = steps(batch)[1].A, by_unit(batch)
    size = Rounded(A.value.abs(), A.error) * Rounded.exact(v[:, None, None].expand(A.value.shape))
    total = size[..., 0]
    for unit in range(1, v.shape[1]):
        total = total + size[..., unit]
    return largest(total, v)


def ball_steps(pair: BallPair) -> tuple[Step, Step]:
    """The same derivatives of one pair."""
    if "steps" not in pair.cache:
        of, batch = ball_runs(pair), pair.batch
        h, other = (column(s[0, :, 0].tolist()) for s in (batch.h, batch.h_other))
        at, x = Gap(h, h - other), of.inputs[0]
        pair.cache["steps"] = (of.local(h, x), of.local_gap(at, x))
    found: tuple[Step, Step] = pair.cache["steps"]
    return found


def ball_rows(matrix: arb_mat, pair: BallPair) -> arb:
    """max_j ‖B_j‖₂/v_j of one pair."""
    return greatest([length(row) for row in matrix.tolist()], by_unit(pair.batch)[0].tolist())


def dphi_w_ball(pair: BallPair, k: int) -> arb:
    """‖∂_wφ‖ of one pair; k plays no part."""
    return ball_rows(ball_steps(pair)[0].B, pair)


def dphi_w_gap_ball(pair: BallPair, k: int) -> arb:
    """Its difference between the two states."""
    return ball_rows(ball_steps(pair)[1].B, pair)


def dphi_h_gap_ball(pair: BallPair, k: int) -> arb:
    """That of ∂_sφ."""
    v = by_unit(pair.batch)[0].tolist()
    sums = [
        sum((abs(a) * w for a, w in zip(row, v, strict=True)), arb(0))
        for row in ball_steps(pair)[1].A.tolist()
    ]
    return greatest(sums, v)
