"""Float64 readings of a batch, with bounds on their errors, and ball readings of one pair.

Vectors are (B, n, S), or (B, n, K+1, S) with windows k = 0 … K; norms are (B, S, 1) or (B, S, K+1).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from flint import arb, arb_mat

from rnnbounds.impl.gradients.windows.rollout import states, truncations
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.properties.measures.readings.balls import (
    BallPair,
    entries,
    largest,
    length,
    matrix_of,
)
from rnnbounds.properties.measures.readings.slack import (
    UP,
    local_slack,
    map_slack,
    norm_slack,
    norms,
    state_slack,
)
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor
Vectors = Callable[[Batch], Tensor]


def windowed(values: Tensor) -> Tensor:
    """(B, K+1, S) to (B, S, K+1)."""
    return values.transpose(1, 2)


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


def readout(batch: Batch, vectors: Tensor) -> Tensor:
    """C v for columns (B, n, …)."""
    return torch.einsum("bpn,bn...->bp...", batch.C, vectors)


def single(vectors: Vectors) -> Vectors:
    """The norms of (B, n, S) vectors as (B, S, 1)."""
    return lambda batch: norms(vectors(batch))[:, :, None]


def each_window(vectors: Vectors) -> Vectors:
    """The norms of (B, n, K+1, S) vectors as (B, S, K+1)."""
    return lambda batch: windowed(norms(vectors(batch)))


def weighted(weights: str, vectors: Vectors) -> Vectors:
    """Q v, with Q one of the exact float weights that the certificate of a norm uses."""
    return lambda batch: torch.einsum(
        "bmn,bns->bms", getattr(batch.constants, weights), vectors(batch)
    )


def weighted_error(
    weights: str, vectors: Vectors, inner: Vectors
) -> Callable[[Batch, Tensor], Tensor]:
    """The error of a computed ‖Q v‖, v itself off by at most ``inner``."""
    return lambda batch, value: map_slack(
        getattr(batch.constants, weights), norms(vectors(batch))[:, :, None], inner(batch), value
    )


def exact_vectors(batch: Batch) -> Tensor:
    """No error before the norm, (B, S, 1)."""
    return torch.zeros_like(norms(batch.h))[:, :, None]


def relative_sup(vectors: Vectors) -> Vectors:
    """max_i |v_i| / weight_i, (B, S, 1)."""
    return lambda batch: (vectors(batch).abs() / batch.constants.v[:, :, None]).amax(dim=1)[
        :, :, None
    ]


def step_sup_error(batch: Batch, value: Tensor) -> Tensor:
    """The error of φ(h, x) − φ(h', x) in the weighted maximum norm."""
    return local_slack(batch) / batch.constants.v.amin(1)[:, None, None] * UP + value * 2.0**-50


def before_start(batch: Batch, value: Tensor) -> Tensor:
    """A gap or its error where k < T; at k = T the truncated model is the full one: both are 0."""
    k = torch.arange(batch.K + 1, device=batch.x.device)
    return torch.where(k < batch.spec.T, value, 0.0)


def gap_error(batch: Batch, value: Tensor) -> Tensor:
    """Both rollouts' rounding, and the norm's."""
    return before_start(batch, 2 * state_slack(batch) + norm_slack(batch.spec.n + 1, value))


def output_error(batch: Batch, value: Tensor) -> Tensor:
    """Both rollouts' rounding through C, then C's own."""
    gaps = windowed(norms(gap_vectors(batch)))
    rollouts = mul_up(batch.constants["L_f"][:, None, None], 2 * state_slack(batch))
    own = map_slack(batch.C, gaps, torch.zeros_like(gaps), value)
    return before_start(batch, (rollouts + own) * UP)


def mapped(Q: Tensor, vector: list[arb]) -> list[arb]:
    """Q v of one pair, in balls."""
    return entries(matrix_of(Q) * arb_mat([[v] for v in vector]))


def weighted_ball(pair: BallPair, weights: str, vector: list[arb]) -> arb:
    """‖Q v‖₂ of one pair."""
    return length(mapped(getattr(pair.batch.constants, weights)[0], vector))


def sup_ball(pair: BallPair, vector: list[arb]) -> arb:
    """max |v_i| / weight_i of one pair."""
    return largest(vector, pair.batch.constants.v[0].tolist())


def rounding_ball(pair: BallPair) -> arb:
    """‖fl(h_T) − h_T‖: what the batched engine computed against the exact state."""
    key = "last states"  # the same at each precision
    if key not in pair.batch.cache:
        pair.batch.cache[key] = last_states(pair.batch)[0, :, 0].tolist()
    computed, true = pair.batch.cache[key], entries(pair.path[0][-1])
    return length([arb(c) - t for c, t in zip(computed, true, strict=True)])
