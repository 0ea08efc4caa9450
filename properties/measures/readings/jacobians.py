"""‖∂h_T/∂x_{T−k}‖₂ for all k: the float64 reading, its enclosure, and in balls."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from flint import arb

from rnnbounds.impl.gradients.jacobian import input_jacobians, jacobians_alone
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.measures.readings.slack import UP
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.entries import BALLS
from rnnbounds.properties.read.numbers.norms import spectral_ends
from rnnbounds.properties.read.reader import read
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


def dh_dx_ball(pair: BallPair, k: int) -> arb:
    """‖∂h_T/∂x_{T−k}‖₂ in balls: windows share the product of the steps after an input."""
    T, here = pair.batch.spec.T, quantity.world(pair.batch, BALLS)
    if k >= T:
        return arb(0)
    found: list[tuple[Any, Any]] = pair.cache.setdefault("input jacobians", [])
    for t in range(T - len(found), T - k - 1, -1):
        s, x = (read(term, here) for term in (("state", ("x",), 0, t - 1), ("entry", ("x",), t)))
        A, B = here.d_state((), s, x), here.d_input((), s, x)
        if found:
            A, B = (here.times(found[-1][0], factor) for factor in (A, B))
        found.append((A, B))
    size: arb = here.size("norm", ("jacobian",), found[k][1]).ball
    return size
