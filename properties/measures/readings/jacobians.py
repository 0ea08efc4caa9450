"""‖∂h_T/∂x_{T−k}‖₂ for all k: the float64 reading, its enclosure, and in balls."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from flint import arb

from rnnbounds.impl.gradients.jacobian import input_jacobians, jacobians_alone
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.measures.readings.slack import ROUND_UP
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.entry_carriers import BALLS
from rnnbounds.properties.read.numbers.norms import spectral_norm_ends
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def last_window(batch: Batch) -> int:
    """The largest k for which x_{T−k} exists."""
    return min(batch.K, batch.spec.T - 1)


def pad_windows(batch: Batch, values: Tensor) -> Tensor:
    """(B, k, S) to (B, S, K+1): no input before the first one, so a zero Jacobian there."""
    B, k, S = values.shape
    rest = values.new_zeros(B, batch.K + 1 - k, S)
    return torch.cat([values, rest], dim=1).transpose(1, 2)


def input_jacobian_norms(batch: Batch) -> Tensor:
    """Spectral norms of the Jacobians, (B, S, K+1); an estimate of the singular value."""
    J = jacobians_alone(batch.cell, batch.x, last_window(batch))
    return pad_windows(batch, torch.linalg.matrix_norm(J.permute(0, 1, 4, 2, 3), 2))


def enclose_input_jacobians(batch: Batch) -> Interval:
    """Certified norm above, ‖J v‖/‖v‖ for the leading singular vector v below."""
    with torch.no_grad():
        J, error = input_jacobians(batch.cell, batch.x, last_window(batch))
        J = J.permute(0, 1, 4, 2, 3)
        low_norm, high_norm = spectral_norm_ends(J)
        is_infinite = ~torch.isfinite(J).all(dim=(3, 4))
        error = torch.where(is_infinite, torch.inf, error * ROUND_UP)
        high, low = pad_windows(batch, high_norm + error), pad_windows(batch, low_norm - error)
    return Interval(
        np.maximum(np.nextafter(low.cpu().numpy(), -np.inf), 0.0),
        np.nextafter(high.cpu().numpy(), np.inf),
    )


def input_jacobian_ball(pair: BallPair, k: int) -> arb:
    """‖∂h_T/∂x_{T−k}‖₂ in balls: windows share the product of the steps after an input."""
    T, world = pair.batch.spec.T, quantity.cached_world(pair.batch, BALLS)
    if k >= T:
        return arb(0)
    products: list[tuple[Any, Any]] = pair.cache.setdefault("input jacobians", [])
    for t in range(T - len(products), T - k - 1, -1):
        s, x = (read(term, world) for term in (("state", ("x",), 0, t - 1), ("entry", ("x",), t)))
        A, B = world.d_state((), s, x), world.d_input((), s, x)
        if products:
            A, B = (world.times(products[-1][0], factor) for factor in (A, B))
        products.append((A, B))
    size: arb = world.size("norm", ("jacobian",), products[k][1]).ball
    return size
