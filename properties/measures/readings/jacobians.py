"""‖∂h_T/∂x_{T−k}‖₂ for all k: the float64 reading and its enclosure."""

from __future__ import annotations

import numpy as np
import torch

from rnnbounds.impl.gradients.jacobian import input_jacobians, jacobians_alone
from rnnbounds.properties.measures.readings.slack import UP
from rnnbounds.properties.read.numbers.norms import spectral_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def last(batch: Batch) -> int:
    """The largest k for which x_{T−k} exists."""
    return min(batch.K, batch.spec.T - 1)


def padded(batch: Batch, values: Tensor) -> Tensor:
    """(B, k, S) to (B, S, K+1): no input before the first one, so a zero Jacobian there."""
    B, k, S = values.shape
    rest = values.new_zeros(B, batch.K + 1 - k, S)
    return torch.cat([values, rest], dim=1).transpose(1, 2)


def dh_dx(batch: Batch) -> Tensor:
    """Spectral norms of the Jacobians, (B, S, K+1); an estimate of the singular value."""
    J = jacobians_alone(batch.cell, batch.x, last(batch))
    return padded(batch, torch.linalg.matrix_norm(J.permute(0, 1, 4, 2, 3), 2))


def dh_dx_enclosure(batch: Batch) -> Interval:
    """Certified norm above, ‖J v‖/‖v‖ for the leading singular vector v below."""
    with torch.no_grad():
        J, error = input_jacobians(batch.cell, batch.x, last(batch))
        J = J.permute(0, 1, 4, 2, 3)
        below, above = spectral_ends(J)
        bad = ~torch.isfinite(J).all(dim=(3, 4))
        error = torch.where(bad, torch.inf, error * UP)
        high, low = padded(batch, above + error), padded(batch, below - error)
    return Interval(
        np.maximum(np.nextafter(low.cpu().numpy(), -np.inf), 0.0),
        np.nextafter(high.cpu().numpy(), np.inf),
    )
