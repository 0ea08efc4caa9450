"""Fast paths of vanilla networks in float64: all windows of a batch in one sweep.

Vectors are (B, n, S), or (B, n, K+1, S) with windows k = 0 … K; norms are (B, S, 1) or (B, S, K+1).
Values are differentiable, for ascent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from flint import arb, arb_mat, fmpq

from rnnbounds.impl.arithmetic.entries.rationals import IrrationalError, RationalColumns
from rnnbounds.impl.gradients.windows.rollout import states, truncations
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.properties.measures.measure import FastPath, enclosed
from rnnbounds.properties.measures.readings.balls import BallPair, matrix_of
from rnnbounds.properties.measures.readings.jacobians import dh_dx, dh_dx_ball, dh_dx_enclosure
from rnnbounds.properties.measures.readings.slack import (
    UP,
    before_start,
    map_slack,
    norm_slack,
    norms,
    state_slack,
)
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.entries import RATIONALS
from rnnbounds.properties.read.numbers.enclosures import blank
from rnnbounds.properties.read.numbers.sizes import length
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.supply.lazy import once
from rnnbounds.properties.systems.supply.other_inputs import other_inputs

Tensor = torch.Tensor
Vectors = Callable[[Batch], Tensor]


def vanilla(batch: Batch) -> bool:
    """True if the systems are vanilla networks in float64."""
    return batch.cells is None and not batch.exact


def last_states(batch: Batch) -> Tensor:
    """h_T, (B, n, S)."""
    return states(batch.cell, batch.x)[:, -1]


def gap_vectors(batch: Batch) -> Tensor:
    """h_T − h_T^k, (B, n, K+1, S), which gaps of states and of outputs share."""
    if "gaps" not in batch.cache:
        full, short = truncations(batch.cell, batch.x, batch.K)
        batch.cache["gaps"] = full[:, :, None] - short
    found: Tensor = batch.cache["gaps"]
    return found


def start_vectors(batch: Batch) -> Tensor:
    """h_{T−k}, (B, n, K+1, S)."""
    T = batch.spec.T
    path = states(batch.cell, batch.x)[:, T - batch.K : T + 1].flip(1)
    return path.transpose(1, 2)


def step_vectors(batch: Batch) -> Tensor:
    """φ(h, x_1) − φ(h', x_1), (B, n, S)."""
    x = batch.x[:, 0]
    return batch.cell.step(batch.h, x) - batch.cell.step(batch.h_other, x)


def pair_vectors(batch: Batch) -> Tensor:
    """h − h', (B, n, S)."""
    return batch.h - batch.h_other


def response_vectors(two: bool) -> Vectors:
    """h_T − h′_T under two input sequences, from one state or from two, (B, n, S)."""

    def vectors(batch: Batch) -> Tensor:
        h = torch.cat([batch.h, batch.h_other if two else batch.h], dim=2)
        for x in torch.cat([batch.x, other_inputs(batch)], dim=3).unbind(1):
            h = batch.cell.step(h, x)
        one, other = h.chunk(2, dim=2)
        return one - other

    return vectors


def readout(batch: Batch, vectors: Tensor) -> Tensor:
    """C v for columns (B, n, …)."""
    return torch.einsum("bpn,bn...->bp...", batch.C, vectors)


def single(vectors: Vectors) -> Vectors:
    """The norms of (B, n, S) vectors as (B, S, 1)."""
    return lambda batch: norms(vectors(batch))[:, :, None]


def each_window(vectors: Vectors) -> Vectors:
    """The norms of (B, n, K+1, S) vectors as (B, S, K+1)."""
    return lambda batch: norms(vectors(batch)).transpose(1, 2)


def weighted(weights: str, vectors: Vectors) -> Vectors:
    """‖Q v‖, with Q one of the exact float weights that the certificate of a norm uses."""
    return single(
        lambda batch: torch.einsum(
            "bmn,bns->bms", getattr(batch.constants, weights), vectors(batch)
        )
    )


def relative_sup(vectors: Vectors) -> Vectors:
    """max_i |v_i| / weight_i, (B, S, 1)."""
    return lambda batch: (vectors(batch).abs() / batch.constants.v[:, :, None]).amax(dim=1)[
        :, :, None
    ]


def state_error(batch: Batch, value: Tensor) -> Tensor:
    """A run's rounding, and the norm's."""
    return state_slack(batch) + norm_slack(batch.spec.n, value)


def gap_error(batch: Batch, value: Tensor) -> Tensor:
    """Both rollouts' rounding, and the norm's."""
    return before_start(batch, 2 * state_slack(batch) + norm_slack(batch.spec.n + 1, value))


def output_error(batch: Batch, value: Tensor) -> Tensor:
    """Both rollouts' rounding through C, then C's own."""
    gaps = norms(gap_vectors(batch)).transpose(1, 2)
    rollouts = mul_up(batch.constants["L_f"][:, None, None], 2 * state_slack(batch))
    own = map_slack(batch.C, gaps, torch.zeros_like(gaps), value)
    return before_start(batch, (rollouts + own) * UP)


def changed(batch: Batch, other: Tensor) -> Tensor:
    """h_T of the full model, inputs at times ≤ T − k taken from ``other``, (B, n, K+1, S)."""
    times = torch.arange(batch.spec.T, device=batch.x.device)[None, :, None, None]
    found = [
        states(batch.cell, torch.where(times < batch.spec.T - k, other, batch.x))[:, -1]
        for k in range(batch.K + 1)
    ]
    return torch.stack(found, dim=2)


def padded(batch: Batch) -> Tensor:
    """The full model whose inputs are zero before the window, less the truncated one."""
    short = truncations(batch.cell, batch.x, batch.K)[1]
    return changed(batch, torch.zeros_like(batch.x)) - short


def recurred(batch: Batch) -> Tensor:
    """The full model whose inputs have other signs before the window, less itself."""
    return changed(batch, -batch.x) - last_states(batch)[:, :, None]


def both_error(batch: Batch, value: Tensor) -> Tensor:
    """Two runs' rounding, and the norm's."""
    return 2 * state_slack(batch) + norm_slack(batch.spec.n + 1, value)


def ball_gap(pair: BallPair, k: int) -> arb_mat:
    """h_T − h_T^k: the difference of two states from that before it, δ ↦ ρ(a) − ρ(a − W δ), which
    is exactly 0 where W δ is."""
    W, before, starts = ball_run(pair)
    T, rho = pair.batch.spec.T, pair.batch.cell.activation
    delta = starts[T - k]
    for a in before[T - k :]:
        shift = (W * delta).entries()
        moved = (
            s if s.is_zero() or rho.name == "identity" else rho.ball(z) - rho.ball(z - s)
            for z, s in zip(a, shift, strict=True)
        )
        delta = arb_mat([[v] for v in moved])
    return delta


def ball_run(pair: BallPair) -> tuple[arb_mat, list[list[arb]], list[arb_mat]]:
    """W, the pre-activations a_1 … a_T of the full run and its states h_0 … h_T, made once."""
    if "run of differences" not in pair.cache:
        cell, rho = pair.batch.cell, pair.batch.cell.activation
        W, U, b = (matrix_of(part) for part in (cell.W[0], cell.U[0], cell.b[0][:, None]))
        states, before = [0 * b], []
        for x in pair.batch.x[0, :, :, 0]:
            before.append((W * states[-1] + U * matrix_of(x[:, None]) + b).entries())
            states.append(arb_mat([[rho.ball(a)] for a in before[-1]]))
        pair.cache["run of differences"] = W, before, states
    found: tuple[arb_mat, list[list[arb]], list[arb_mat]] = pair.cache["run of differences"]
    return found


def ball_start(pair: BallPair, k: int) -> arb:
    """‖h_{T−k}‖, of the run that gaps start from."""
    return length(ball_run(pair)[2][pair.batch.spec.T - k].entries())


def ball_readout(pair: BallPair, k: int) -> arb:
    """‖C (h_T − h_T^k)‖."""
    return length((matrix_of(pair.batch.C[0]) * ball_gap(pair, k)).entries())


@once
def rational_gaps(pair: Batch) -> list[fmpq] | None:
    """‖h_T − h_T^k‖² for k = 0 … K, all windows side by side; None where one is irrational."""
    here, T = quantity.world(pair, RATIONALS), pair.spec.T
    short = RationalColumns([[] for _ in range(pair.cell.n)])
    try:
        full = read(("state", ("x",), 0, T), here)
        for x in pair.x[:, T - pair.K :].unbind(1):
            short = here.phi((), with_zero(short), RATIONALS.column(x))
    except IrrationalError:
        return None
    gap = with_zero(short).map_pairs(full, lambda a, b: (a - b) ** 2)
    return [sum(column, fmpq(0)) for column in zip(*gap.units, strict=True)][::-1]


def with_zero(columns: RationalColumns) -> RationalColumns:
    """The columns, and one of zeros."""
    return RationalColumns([[*row, fmpq(0)] for row in columns.units])


def gap_square(pair: Batch, k: int) -> fmpq | None:
    """‖h_T − h_T^k‖², in rationals."""
    known = rational_gaps(pair)
    return quantity.rational_square("h_gap", pair, k) if known is None else known[k]


def swept(name: str, value: Vectors, error: Callable[[Batch, Tensor], Tensor]) -> FastPath:
    """A value and the bound on its error."""
    return FastPath(name, vanilla, value, enclosed(value, error))


h_norm, h_gap = single(last_states), each_window(gap_vectors)
CLIMBED = {
    "step_gap": single(step_vectors),
    "state_gap": single(pair_vectors),
    **{f"step_gap_{name}": weighted(Q, step_vectors) for name, Q in (("P", "P_root"), ("D", "D"))},
    **{f"state_gap_{name}": weighted(Q, pair_vectors) for name, Q in (("P", "P_root"), ("D", "D"))},
    "step_gap_v": relative_sup(step_vectors),
    "state_gap_v": relative_sup(pair_vectors),
    "forced_gap": single(response_vectors(False)),
    "forced_gap_y": single(lambda batch: readout(batch, response_vectors(False)(batch))),
    "response_gap": single(response_vectors(True)),
}
FAST = (
    swept("h_norm", h_norm, state_error),
    replace(swept("h_start", each_window(start_vectors), state_error), balls=ball_start),
    replace(
        swept("h_gap", h_gap, gap_error),
        balls=lambda pair, k: length(ball_gap(pair, k).entries()),
        square=gap_square,
    ),
    replace(
        swept("y_gap", each_window(lambda b: readout(b, gap_vectors(b))), output_error),
        balls=ball_readout,
    ),
    replace(swept("padding_gap", each_window(padded), both_error), value=None),
    replace(swept("recurrent_gap", each_window(recurred), both_error), value=None),
    FastPath(
        "dh_dx",
        vanilla,
        dh_dx,
        dh_dx_enclosure,
        dh_dx_ball,
        at_most=partial(quantity.at_most, "dh_dx"),
    ),
    # Floats enclose ‖W‖₂ by the certified norm, which is what claims about it judge: exactly alone.
    FastPath("W_norm_exact", vanilla, enclosure=blank),
    *(FastPath(name, vanilla, value) for name, value in CLIMBED.items()),
)
