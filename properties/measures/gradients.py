"""Fast paths of gradients in the weights: adjoints that all windows share, in every carrier."""

from __future__ import annotations

import torch

from rnnbounds.properties.measures.measure import FastPath, enclose_with_error
from rnnbounds.properties.measures.readings.gradients import (
    WINDOW_READINGS,
    weight_gap,
    weight_gap_ball,
    weight_gap_rounding,
    weight_gap_square,
    window_gap_ball,
    window_gap_reading,
    window_gap_rounding,
    window_gap_square,
)
from rnnbounds.properties.measures.readings.slack import vector_norms
from rnnbounds.properties.measures.vanilla import is_vanilla
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor


def activation_slopes(batch: Batch, h: Tensor) -> Tensor:
    """ρ′(W h + U x_1 + b), (B, n, S)."""
    preactivation = torch.baddbmm(batch.cell.drive(batch.x[:, 0]), batch.cell.W, h)
    return batch.cell.activation.derivative(preactivation)


def trained_features(batch: Batch, h: Tensor) -> Tensor:
    """The trained parts of [h x_1 1], (B, m, S)."""
    parts = {"W": h, "U": batch.x[:, 0], "b": torch.ones_like(h[:, :1])}
    return torch.cat([parts[name] for name in batch.spec.trained], dim=1)


def weight_jacobian_norm(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x)‖ = max_i |ρ′_i| ‖(h, x, 1)‖, (B, S, 1)."""
    steepest = activation_slopes(batch, batch.h).abs().amax(dim=1)
    return (steepest * vector_norms(trained_features(batch, batch.h)))[:, :, None]


def weight_jacobian_gap(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x) − ∂_wφ(h', x)‖ = max_i ‖d_i (h, x, 1) − d'_i (h', x, 1)‖, (B, S, 1)."""
    first, second = (
        activation_slopes(batch, h)[:, :, None] * trained_features(batch, h)[:, None]
        for h in (batch.h, batch.h_other)
    )
    return vector_norms(first - second, 2).amax(dim=1)[:, :, None]


def state_jacobian_gap(batch: Batch) -> Tensor:
    """‖∂_hφ(h, x) − ∂_hφ(h', x)‖₂ = ‖(D − D')W‖₂, (B, S, 1)."""
    gap = (activation_slopes(batch, batch.h) - activation_slopes(batch, batch.h_other)).transpose(
        1, 2
    )
    size: Tensor = torch.linalg.matrix_norm(gap[..., None] * batch.cell.W[:, None], 2)
    return size[:, :, None]


def loss_gradient_norm(batch: Batch) -> Tensor:
    """‖∇p(h)‖, (B, S, 1)."""
    return vector_norms(batch.loss.gradient(batch.h))[:, :, None]


def loss_gradient_gap(batch: Batch) -> Tensor:
    """‖∇p(h) − ∇p(h')‖, (B, S, 1)."""
    gap = batch.loss.gradient(batch.h) - batch.loss.gradient(batch.h_other)
    return vector_norms(gap)[:, :, None]


def weight_distance(batch: Batch) -> Tensor:
    """‖w − w'‖ over the trained weights, (B, S, 1)."""
    other, differences = batch.other or batch.cell, []
    for name in batch.spec.trained:
        differences.append((getattr(batch.cell, name) - getattr(other, name)).flatten(1))
    size: Tensor = torch.linalg.vector_norm(torch.cat(differences, dim=1), dim=1)
    return size[:, None, None].expand(-1, batch.x.shape[3], -1)


def adjoint_path(name: str) -> FastPath:
    """A difference of the gradients of two runs, at all windows."""
    value = window_gap_reading(name)
    enclosure = enclose_with_error(value, window_gap_rounding(name))
    return FastPath(
        name, is_vanilla, value, enclosure, window_gap_ball(name), window_gap_square(name)
    )


ASCENT_VALUES = {
    "dphi_w": weight_jacobian_norm, "dphi_w_gap": weight_jacobian_gap,
    "dphi_h_gap": state_jacobian_gap, "dp": loss_gradient_norm,
    "dp_gap": loss_gradient_gap, "weight_distance": weight_distance,
}  # fmt: skip
FAST = (
    *map(adjoint_path, WINDOW_READINGS),
    FastPath(
        "grad_gap_weights", is_vanilla, weight_gap, enclose_with_error(weight_gap,
        weight_gap_rounding),
        weight_gap_ball, weight_gap_square,
    ),
    *(FastPath(name, is_vanilla, value) for name, value in ASCENT_VALUES.items()),
)  # fmt: skip
