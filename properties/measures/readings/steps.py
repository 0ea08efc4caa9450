"""Single steps of a cell and of its loss: the derivatives whose sizes the constants bound."""

from __future__ import annotations

import numpy as np
import torch

from rnnbounds.impl.gradients.rounding import absolute_norms, pre_activation_bound, summation_error
from rnnbounds.properties.measures.readings.slack import (
    NORM_FLOOR,
    UP,
    U,
    norm_slack,
    norms,
    spectral_ends,
)
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def drive(batch: Batch) -> Tensor:
    """x_1, (B, d, S)."""
    return batch.x[:, 0]


def before(batch: Batch, h: Tensor) -> Tensor:
    """W h + U x_1 + b, (B, n, S)."""
    return torch.baddbmm(batch.cell.drive(drive(batch)), batch.cell.W, h)


def slopes(batch: Batch, h: Tensor) -> Tensor:
    """ρ′(W h + U x_1 + b), (B, n, S)."""
    return batch.cell.activation.derivative(before(batch, h))


def slope_slack(batch: Batch, h: Tensor) -> Tensor:
    """A bound on the error of every computed slope, (B, S); infinite next to a kink."""
    rho, x = batch.cell.activation, drive(batch)
    sizes = [torch.linalg.vector_norm(v, dim=1) * UP + NORM_FLOOR for v in (h, x)]
    off = summation_error(batch.cell, pre_activation_bound(absolute_norms(batch.cell), *sizes))
    if rho.curvature < float("inf"):
        return (rho.derivative_error + rho.curvature * off) * UP
    clear = before(batch, h).abs().amin(dim=1) > off
    return torch.where(clear, rho.derivative_error, torch.inf)


def features(batch: Batch, h: Tensor) -> Tensor:
    """The trained parts of [h x_1 1], (B, m, S)."""
    one = torch.ones_like(h[:, :1])
    parts = {"W": h, "U": drive(batch), "b": one}
    return torch.cat([parts[name] for name in batch.spec.trained], dim=1)


def dphi_w(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x)‖ = max_i |ρ′_i| ‖(h, x, 1)‖, (B, S, 1)."""
    steepest = slopes(batch, batch.h).abs().amax(dim=1)
    return (steepest * norms(features(batch, batch.h)))[:, :, None]


def dphi_w_slack(batch: Batch, value: Tensor) -> Tensor:
    """Its error: the slopes', then that of the norm and of the product."""
    size = norms(features(batch, batch.h)) * UP + NORM_FLOOR
    slope = (slope_slack(batch, batch.h) * size)[:, :, None]
    return slope * UP + norm_slack(batch.cell.n + batch.cell.d + 3, value) * UP


def dphi_w_gap(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x) − ∂_wφ(h', x)‖ = max_i ‖d_i (h, x, 1) − d'_i (h', x, 1)‖, (B, S, 1)."""
    one, two = (
        slopes(batch, h)[:, :, None] * features(batch, h)[:, None] for h in (batch.h, batch.h_other)
    )
    return norms(one - two, 2).amax(dim=1)[:, :, None]


def dphi_w_gap_slack(batch: Batch, value: Tensor) -> Tensor:
    """Its error: both slopes', both products', the difference's and the norm's."""
    slope = batch.cell.activation.slope
    total = torch.zeros_like(value[:, :, 0])
    for h in (batch.h, batch.h_other):
        each = slope_slack(batch, h) + 4 * U * slope
        total = total + each * (norms(features(batch, h)) * UP + NORM_FLOOR)
    return total[:, :, None] * UP + norm_slack(batch.cell.n + batch.cell.d + 3, value)


def dphi_h_gap(batch: Batch) -> Tensor:
    """‖∂_hφ(h, x) − ∂_hφ(h', x)‖₂ = ‖(D − D')W‖₂, (B, S, 1); an estimate."""
    size: Tensor = torch.linalg.matrix_norm(bent(batch), 2)
    return size[:, :, None]


def bent(batch: Batch) -> Tensor:
    """(D − D')W, (B, S, n, n)."""
    gap = (slopes(batch, batch.h) - slopes(batch, batch.h_other)).transpose(1, 2)
    return gap[..., None] * batch.cell.W[:, None]


def dphi_h_gap_enclosure(batch: Batch) -> Interval:
    """Certified norm above, ‖J v‖/‖v‖ for the leading singular vector v below."""
    with torch.no_grad():
        J = bent(batch)
        below, above = spectral_ends(J)
        size = norms(batch.cell.W.flatten(1))[:, None] * UP + NORM_FLOOR
        slope = batch.cell.activation.slope
        inner = sum(slope_slack(batch, h) + 2 * U * slope for h in (batch.h, batch.h_other)) * size
        nothing = (J == 0).all(dim=(2, 3)) & (inner == 0)
        bad = ~torch.isfinite(J).all(dim=(2, 3))
        inner = torch.where(bad, torch.inf, inner * UP)
        high = torch.where(nothing, 0.0, above + inner * UP).cpu().numpy()[:, :, None]
        low = torch.where(nothing, 0.0, below - inner).cpu().numpy()[:, :, None]
    return Interval(
        np.maximum(np.nextafter(low, -np.inf), 0.0),
        np.where(high == 0, 0.0, np.nextafter(high, np.inf)),
    )


def dp(batch: Batch) -> Tensor:
    """‖∇p(h)‖, (B, S, 1)."""
    return norms(batch.loss.gradient(batch.h))[:, :, None]


def dp_gap(batch: Batch) -> Tensor:
    """‖∇p(h) − ∇p(h')‖, (B, S, 1)."""
    gap = batch.loss.gradient(batch.h) - batch.loss.gradient(batch.h_other)
    return norms(gap)[:, :, None]


def one_loss_slack(batch: Batch, h: Tensor) -> Tensor:
    """The error of ∇p at a given float64 state, (B, S, 1)."""
    sizes = norms(h) * UP + NORM_FLOOR
    return batch.loss.gradient_error(sizes, torch.zeros_like(sizes))[:, :, None]


def dp_slack(batch: Batch, value: Tensor) -> Tensor:
    """The error of a computed ‖∇p(h)‖."""
    return one_loss_slack(batch, batch.h) * UP + norm_slack(batch.cell.n + 1, value)


def dp_gap_slack(batch: Batch, value: Tensor) -> Tensor:
    """The error of a computed ‖∇p(h) − ∇p(h')‖."""
    inner = sum(one_loss_slack(batch, h) for h in (batch.h, batch.h_other))
    return inner * UP + norm_slack(batch.cell.n + 1, value)
