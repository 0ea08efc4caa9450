"""Fast paths of gradients in the weights: adjoints that all windows share, in every carrier."""

from __future__ import annotations

import torch

from rnnbounds.properties.measures.measure import FastPath, enclosed
from rnnbounds.properties.measures.readings.gradients import (
    READINGS,
    gap_ball,
    gap_square,
    weights_ball,
    weights_gap,
    weights_slack,
    weights_square,
    windowed_gap,
    windowed_slack,
)
from rnnbounds.properties.measures.readings.slack import norms
from rnnbounds.properties.measures.vanilla import vanilla
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor


def slopes(batch: Batch, h: Tensor) -> Tensor:
    """ρ′(W h + U x_1 + b), (B, n, S)."""
    before = torch.baddbmm(batch.cell.drive(batch.x[:, 0]), batch.cell.W, h)
    return batch.cell.activation.derivative(before)


def features(batch: Batch, h: Tensor) -> Tensor:
    """The trained parts of [h x_1 1], (B, m, S)."""
    parts = {"W": h, "U": batch.x[:, 0], "b": torch.ones_like(h[:, :1])}
    return torch.cat([parts[name] for name in batch.spec.trained], dim=1)


def dphi_w(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x)‖ = max_i |ρ′_i| ‖(h, x, 1)‖, (B, S, 1)."""
    steepest = slopes(batch, batch.h).abs().amax(dim=1)
    return (steepest * norms(features(batch, batch.h)))[:, :, None]


def dphi_w_gap(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x) − ∂_wφ(h', x)‖ = max_i ‖d_i (h, x, 1) − d'_i (h', x, 1)‖, (B, S, 1)."""
    one, two = (
        slopes(batch, h)[:, :, None] * features(batch, h)[:, None] for h in (batch.h, batch.h_other)
    )
    return norms(one - two, 2).amax(dim=1)[:, :, None]


def dphi_h_gap(batch: Batch) -> Tensor:
    """‖∂_hφ(h, x) − ∂_hφ(h', x)‖₂ = ‖(D − D')W‖₂, (B, S, 1)."""
    gap = (slopes(batch, batch.h) - slopes(batch, batch.h_other)).transpose(1, 2)
    size: Tensor = torch.linalg.matrix_norm(gap[..., None] * batch.cell.W[:, None], 2)
    return size[:, :, None]


def dp(batch: Batch) -> Tensor:
    """‖∇p(h)‖, (B, S, 1)."""
    return norms(batch.loss.gradient(batch.h))[:, :, None]


def dp_gap(batch: Batch) -> Tensor:
    """‖∇p(h) − ∇p(h')‖, (B, S, 1)."""
    gap = batch.loss.gradient(batch.h) - batch.loss.gradient(batch.h_other)
    return norms(gap)[:, :, None]


def weight_distance(batch: Batch) -> Tensor:
    """‖w − w'‖ over the trained weights, (B, S, 1)."""
    other, found = batch.other or batch.cell, []
    for name in batch.spec.trained:
        found.append((getattr(batch.cell, name) - getattr(other, name)).flatten(1))
    size: Tensor = torch.linalg.vector_norm(torch.cat(found, dim=1), dim=1)
    return size[:, None, None].expand(-1, batch.x.shape[3], -1)


def adjoint(name: str) -> FastPath:
    """A difference of the gradients of two runs, at all windows."""
    value = windowed_gap(name)
    enclosure = enclosed(value, windowed_slack(name))
    return FastPath(name, vanilla, value, enclosure, gap_ball(name), gap_square(name))


CLIMBED = {
    "dphi_w": dphi_w, "dphi_w_gap": dphi_w_gap, "dphi_h_gap": dphi_h_gap, "dp": dp,
    "dp_gap": dp_gap, "weight_distance": weight_distance,
}  # fmt: skip
FAST = (
    *map(adjoint, READINGS),
    FastPath(
        "grad_gap_weights", vanilla, weights_gap, enclosed(weights_gap, weights_slack),
        weights_ball, weights_square,
    ),
    *(FastPath(name, vanilla, value) for name, value in CLIMBED.items()),
)  # fmt: skip
