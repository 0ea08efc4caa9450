"""Dependence of a causal model's output y_T on its inputs, compared bit by bit.

At every window the inputs outside of it, or the oldest one inside, are replaced, and the module is
run again on tensors of the same shape. A few inputs follow the T ones: they are outside of every
window. Shapes (B, S, K+1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from rnnbounds.properties.measures.measure import Opaque
from rnnbounds.properties.measures.receptive_field import HUGE, foreign
from rnnbounds.properties.read.numbers.enclosures import blank
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.causal.model import models
from rnnbounds.properties.systems.kind import about
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
LARGE, SUBNORMAL = 1e300, 5e-324
AHEAD = 3  # inputs after time T, at most


def others(batch: Batch) -> Iterator[Tensor]:
    """Inputs of x's shape: others of its size; huge ones of both signs; −0 and subnormal ones."""
    noise = foreign(batch)
    even = (torch.arange(batch.spec.T, device=batch.x.device) % 2 == 0)[None, :, None, None]
    yield noise
    yield torch.where(even, noise.sign() * LARGE, noise * HUGE)
    yield torch.where(even, -0.0, torch.full_like(batch.x, SUBNORMAL))


def outside(batch: Batch) -> Iterator[Tensor]:
    """For every window k, the inputs at times ≤ T − k and > T replaced: (K+1, B, T', d, S)."""
    times, edges = ages(batch)
    for other in others(batch):
        yield followed(torch.where(times < edges, other, batch.x), other)


def edge(batch: Batch) -> Iterator[Tensor]:
    """For every window k, the input at time T − k + 1 alone made larger by 1."""
    times, edges = ages(batch)
    yield followed(torch.where(times == edges, batch.x + 1, batch.x), batch.x)


def followed(inputs: Tensor, other: Tensor) -> Tensor:
    """The inputs (K+1, B, T, d, S), then the first few of the others (B, T, d, S) after them."""
    after = other[:, :AHEAD].expand(len(inputs), *other[:, :AHEAD].shape)
    return torch.cat([inputs, after], dim=2)


def ages(batch: Batch) -> tuple[Tensor, Tensor]:
    """Times 0 … T−1 along the inputs, and where each window begins."""
    times = torch.arange(batch.spec.T, device=batch.x.device)[None, None, :, None, None]
    windows = torch.arange(batch.K + 1, device=batch.x.device)
    return times, (batch.spec.T - windows)[:, None, None, None, None]


def outputs(batch: Batch, inputs: Tensor) -> Tensor:
    """y_T of every member's module, (K+1, B, T', d, S) -> (B, S, K+1, m)."""
    found = []
    for i, module in enumerate(models(batch)):
        x = inputs[:, i].permute(3, 0, 1, 2)
        y: Tensor = module(x.flatten(0, 1).clone(memory_format=torch.contiguous_format))
        found.append(y[:, batch.spec.T - 1].reshape(*x.shape[:2], -1))
    return torch.stack(found)


def gap(changes: Callable[[Batch], Iterator[Tensor]]) -> Callable[[Batch], Interval]:
    """[0, 0] where no change of the inputs changes a bit of y_T; else the first finite gap."""

    def read(batch: Batch) -> Interval:
        shape = (batch.cell.batch, batch.x.shape[3], batch.K + 1)
        if not about(batch.spec).route.causal:
            return blank(batch, batch.K + 1)
        with torch.no_grad():
            x = batch.x.expand(batch.K + 1, *batch.x.shape)
            y = outputs(batch, followed(x, batch.x))
            found = torch.zeros(shape, dtype=y.dtype, device=y.device)
            differs = torch.zeros(shape, dtype=torch.bool, device=y.device)
            for inputs in changes(batch):
                changed = outputs(batch, inputs)
                size = length(changed - y)
                differs |= ((changed != y) | (changed.signbit() != y.signbit())).any(3)
                found = torch.where((found == 0) & size.isfinite(), size, found)
            # A change that is seen in infinities or NaN alone decides nothing.
            unknown = ~y.isfinite().all(3) | (differs & (found == 0))
            found = torch.where(unknown, torch.nan, found)
        value, exact = found.cpu().numpy(), ~differs.cpu().numpy()
        low, high = value * (1 - 2.0**-40), value * (1 + 2.0**-40)
        return Interval(np.where(exact, value, low), np.where(exact, value, high))

    return read


def length(vectors: Tensor) -> Tensor:
    """‖v‖₂ along the last axis, where no square underflows; NaN of 0 and of what is not finite."""
    top = vectors.abs().amax(3)
    size: Tensor = torch.linalg.vector_norm(vectors / top[..., None], dim=3)
    return top * size


def inside(read: Callable[[Batch], Interval]) -> Callable[[Batch], Interval]:
    """Restrict a reading to k ≥ 1, with NaN at k = 0: an empty window has no oldest input."""

    def later(batch: Batch) -> Interval:
        found = read(batch)
        low, high = np.array(found.lo), np.array(found.hi)
        low[..., 0] = high[..., 0] = np.nan
        return Interval(low, high)

    return later


WHY = "what the module computes is compared bit by bit, and on numbers of all sizes"

FAST = (
    Opaque("causal_gap", enclosure=gap(outside), reason=WHY),
    Opaque("causal_edge_gap", enclosure=inside(gap(edge)), reason=WHY),
)
