"""Fast paths of vanilla networks in float64: the gaps of all windows in one sweep.

Of hundreds of sequences a sweep without running errors takes a tenth of the time. Vectors are (B,
n, K+1, S) with windows k = 0 … K, norms (B, S, K+1). Values are differentiable, for ascent.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from rnnbounds.impl.gradients.windows.rollout import jacobians_alone, truncations
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.properties.measures.measure import FastPath, enclose_with_error
from rnnbounds.properties.measures.slack import (
    ROUND_UP,
    norm_rounding,
    product_rounding,
    state_rounding,
    vector_norms,
    zero_full_window,
)
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.exact.networks import is_vanilla

Tensor = torch.Tensor
Vectors = Callable[[Batch], Tensor]


def gap_vectors(batch: Batch) -> Tensor:
    """h_T − h_T^k, (B, n, K+1, S), which gaps of states and of outputs share."""
    if "gaps" not in batch.cache:
        full, short = truncations(batch.cell, batch.x, batch.K)
        batch.cache["gaps"] = full[:, :, None] - short
    gaps: Tensor = batch.cache["gaps"]
    return gaps


def norm_at_each_window(vectors: Vectors) -> Vectors:
    """The norms of (B, n, K+1, S) vectors as (B, S, K+1)."""
    return lambda batch: vector_norms(vectors(batch)).transpose(1, 2)


def gap_rounding(batch: Batch, value: Tensor) -> Tensor:
    """Bound the error of ‖h_T − h_T^k‖: rounding of both rollouts, and the norm's."""
    return zero_full_window(
        batch, 2 * state_rounding(batch) + norm_rounding(batch.spec.n + 1, value)
    )


def output_rounding(batch: Batch, value: Tensor) -> Tensor:
    """Bound the error of ‖C(h_T − h_T^k)‖: rounding of both rollouts through C, then C's own."""
    gaps = vector_norms(gap_vectors(batch)).transpose(1, 2)
    rollouts = mul_up(batch.constants["L_f"][:, None, None], 2 * state_rounding(batch))
    product_error = product_rounding(batch.C, gaps, value)
    return zero_full_window(batch, (rollouts + product_error) * ROUND_UP)


def input_jacobian_norms(batch: Batch) -> Tensor:
    """‖∂h_T/∂x_{T−k}‖₂ for ascent, (B, S, K+1); 0 where there is no such input."""
    J = jacobians_alone(batch.cell, batch.x, min(batch.K, batch.spec.T - 1))
    size: Tensor = torch.linalg.matrix_norm(J.permute(0, 4, 1, 2, 3), 2)
    return torch.nn.functional.pad(size, (0, batch.K + 1 - size.shape[2]))


def swept_path(name: str, value: Vectors, error: Callable[[Batch, Tensor], Tensor]) -> FastPath:
    """A fast path of a value in float64 and the bound on its error."""
    return FastPath(name, is_vanilla, value, enclose_with_error(value, error))


FAST = (
    swept_path("h_gap", norm_at_each_window(gap_vectors), gap_rounding),
    swept_path(
        "y_gap",
        norm_at_each_window(lambda b: torch.einsum("bpn,bn...->bp...", b.C, gap_vectors(b))),
        output_rounding,
    ),
    FastPath("dh_dx", is_vanilla, input_jacobian_norms),
)
