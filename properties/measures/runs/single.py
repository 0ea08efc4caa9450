"""The derivatives of one step of a cell, at a pair of states of the box and the first input.

Operators into ‖·‖_box have the largest row for a norm: ‖B_j‖₂/v_j from Euclidean weights, and
Σ_l |A_jl| v_l/v_j from ‖·‖_box itself.
"""

from __future__ import annotations

from flint import arb, arb_mat

from impl.arithmetic.balls import Columns
from properties.measures.readings.balls import BallPair, length
from properties.measures.runs.ball_runs import BallRuns, Step, column
from properties.measures.runs.gaps import Gap, Gaps
from properties.measures.runs.readings import ball_runs, largest, length_of, runs
from properties.measures.runs.rounded import Rounded
from properties.measures.runs.runs import Local
from properties.systems.batch import Batch
from theory.numbers.interval import Interval


def apart(batch: Batch) -> Rounded:
    """s − s′."""
    return Rounded.exact(batch.h) - Rounded.exact(batch.h_other)


def moved(batch: Batch) -> Rounded:
    """φ(s, x_1) − φ(s′, x_1)."""
    of, x = runs(batch), Rounded.exact(batch.x[:, 0])
    both = Gap(Rounded.exact(batch.h), apart(batch))
    found: Rounded = of.program(Gaps(of.plain), both, Gap(x, x - x)).gap
    return found


def ball_pair(of: BallRuns, batch: Batch) -> Gap[Columns]:
    """The pair, as one state and its difference from the other."""
    h, other = (column(s[0, :, 0].tolist()) for s in (batch.h, batch.h_other))
    return Gap(h, h - other)


def balls_apart(of: BallRuns, batch: Batch, k: int) -> list[arb]:
    """s − s′ of one pair."""
    return ball_pair(of, batch).gap.matrix.entries()


def balls_moved(of: BallRuns, batch: Batch, k: int) -> list[arb]:
    """φ(s, x_1) − φ(s′, x_1) of one pair."""
    x, both = of.inputs[0], ball_pair(of, batch)
    found: Columns = of.program(Gaps(of.plain), both, Gap(x, x - x)).gap
    return found.matrix.entries()


def steps(batch: Batch) -> tuple[Local, Local]:
    """The derivatives at the first state, and minus those at the other, S columns each."""
    key = "derivatives of one step"
    if key not in batch.cache:
        h, x = Rounded.exact(batch.h), Rounded.exact(batch.x[:, 0])
        batch.cache[key] = (runs(batch).at(h, x), runs(batch).gap_at(Gap(h, apart(batch)), x))
    found: tuple[Local, Local] = batch.cache[key]
    return found


def rows_of(B: Rounded, batch: Batch) -> Interval:
    """max_j ‖B_j‖₂/v_j of (B, N, S, P)."""
    assert batch.cells is not None
    return largest(Rounded(*length_of(B, 3)), batch.cells.v)


def dphi_w(batch: Batch) -> Interval:
    """‖∂_wφ(s, x)‖ from ‖·‖₂ to ‖·‖_box."""
    return rows_of(steps(batch)[0].B, batch)


def dphi_w_gap(batch: Batch) -> Interval:
    """‖∂_wφ(s, x) − ∂_wφ(s′, x)‖ from ‖·‖₂ to ‖·‖_box."""
    return rows_of(steps(batch)[1].B, batch)


def dphi_h_gap(batch: Batch) -> Interval:
    """‖∂_sφ(s, x) − ∂_sφ(s′, x)‖ from ‖·‖_box to itself."""
    assert batch.cells is not None
    A, v = steps(batch)[1].A, batch.cells.v
    size = Rounded(A.value.abs(), A.error) * Rounded.exact(v[:, None, None].expand(A.value.shape))
    total = size[..., 0]
    for unit in range(1, v.shape[1]):
        total = total + size[..., unit]
    return largest(total, v)


def ball_steps(pair: BallPair) -> tuple[Step, Step]:
    """The same derivatives of one pair."""
    if "steps" not in pair.cache:
        of, batch = ball_runs(pair), pair.batch
        at, x = ball_pair(of, batch), of.inputs[0]
        pair.cache["steps"] = (of.local(at.value, x), of.local_gap(at, x))
    found: tuple[Step, Step] = pair.cache["steps"]
    return found


def ball_rows(matrix: arb_mat, pair: BallPair) -> arb:
    """max_j ‖B_j‖₂/v_j of one pair."""
    return greatest([length(row) for row in matrix.tolist()], pair)


def greatest(values: list[arb], pair: BallPair) -> arb:
    """max_j a_j/v_j for a_j ≥ 0."""
    assert pair.batch.cells is not None
    low, high = arb(0), arb(0)
    for value, weight in zip(values, pair.batch.cells.v[0].tolist(), strict=True):
        low = low.max(value.abs_lower() / weight)
        high = high.max(value.abs_upper() / weight)
    return low.union(high)


def dphi_w_ball(pair: BallPair, k: int) -> arb:
    """‖∂_wφ‖ of one pair; k plays no part."""
    return ball_rows(ball_steps(pair)[0].B, pair)


def dphi_w_gap_ball(pair: BallPair, k: int) -> arb:
    """Its difference between the two states."""
    return ball_rows(ball_steps(pair)[1].B, pair)


def dphi_h_gap_ball(pair: BallPair, k: int) -> arb:
    """That of ∂_sφ."""
    assert pair.batch.cells is not None
    v = pair.batch.cells.v[0].tolist()
    sums = [
        sum((abs(a) * w for a, w in zip(row, v, strict=True)), arb(0))
        for row in ball_steps(pair)[1].A.tolist()
    ]
    return greatest(sums, pair)
