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
from rnnbounds.properties.measures.receptive_field import HUGE, replacement_inputs
from rnnbounds.properties.read.numbers.enclosures import blank
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.causal.model import batch_modules
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
LARGE, SUBNORMAL = 1e300, 5e-324
LATER_INPUTS = 3  # inputs after time T, at most


def replacement_sequences(batch: Batch) -> Iterator[Tensor]:
    """Inputs of x's shape: others of its size; huge ones of both signs; −0 and subnormal ones."""
    noise = replacement_inputs(batch)
    is_even = (torch.arange(batch.spec.T, device=batch.x.device) % 2 == 0)[None, :, None, None]
    yield noise
    yield torch.where(is_even, noise.sign() * LARGE, noise * HUGE)
    yield torch.where(is_even, -0.0, torch.full_like(batch.x, SUBNORMAL))


def replace_outside(batch: Batch) -> Iterator[Tensor]:
    """For every window k, the inputs at times ≤ T − k and > T replaced: (K+1, B, T', d, S)."""
    times, edges = time_indices(batch)
    for other in replacement_sequences(batch):
        yield append_later_inputs(torch.where(times < edges, other, batch.x), other)


def change_oldest(batch: Batch) -> Iterator[Tensor]:
    """For every window k, the input at time T − k + 1 alone made larger by 1."""
    times, edges = time_indices(batch)
    yield append_later_inputs(torch.where(times == edges, batch.x + 1, batch.x), batch.x)


def append_later_inputs(inputs: Tensor, other: Tensor) -> Tensor:
    """The inputs (K+1, B, T, d, S), then the first few of the others (B, T, d, S) after them."""
    after = other[:, :LATER_INPUTS].expand(len(inputs), *other[:, :LATER_INPUTS].shape)
    return torch.cat([inputs, after], dim=2)


def time_indices(batch: Batch) -> tuple[Tensor, Tensor]:
    """Times 0 … T−1 along the inputs, and where each window begins."""
    times = torch.arange(batch.spec.T, device=batch.x.device)[None, None, :, None, None]
    windows = torch.arange(batch.K + 1, device=batch.x.device)
    return times, (batch.spec.T - windows)[:, None, None, None, None]


def last_module_outputs(batch: Batch, inputs: Tensor) -> Tensor:
    """y_T of every member's module, (K+1, B, T', d, S) -> (B, S, K+1, m)."""
    last_outputs = []
    for i, module in enumerate(batch_modules(batch)):
        x = inputs[:, i].permute(3, 0, 1, 2)
        y: Tensor = module(x.flatten(0, 1).clone(memory_format=torch.contiguous_format))
        last_outputs.append(y[:, batch.spec.T - 1].reshape(*x.shape[:2], -1))
    return torch.stack(last_outputs)


def changed_output_gap(changes: Callable[[Batch], Iterator[Tensor]]) -> Callable[[Batch], Interval]:
    """[0, 0] where no change of the inputs changes a bit of y_T; else the first finite gap."""

    def read(batch: Batch) -> Interval:
        shape = (batch.cell.batch, batch.x.shape[3], batch.K + 1)
        if not kind_of_spec(batch.spec).route.causal:
            return blank(batch, batch.K + 1)
        with torch.no_grad():
            x = batch.x.expand(batch.K + 1, *batch.x.shape)
            y = last_module_outputs(batch, append_later_inputs(x, batch.x))
            gaps = torch.zeros(shape, dtype=y.dtype, device=y.device)
            is_changed = torch.zeros(shape, dtype=torch.bool, device=y.device)
            for inputs in changes(batch):
                changed_output = last_module_outputs(batch, inputs)
                distance = scaled_norms(changed_output - y)
                is_changed |= (
                    (changed_output != y) | (changed_output.signbit() != y.signbit())
                ).any(3)
                gaps = torch.where((gaps == 0) & distance.isfinite(), distance, gaps)
            # A change that is seen in infinities or NaN alone decides nothing.
            is_unknown = ~y.isfinite().all(3) | (is_changed & (gaps == 0))
            gaps = torch.where(is_unknown, torch.nan, gaps)
        value, is_equal = gaps.cpu().numpy(), ~is_changed.cpu().numpy()
        low, high = value * (1 - 2.0**-40), value * (1 + 2.0**-40)
        return Interval(np.where(is_equal, value, low), np.where(is_equal, value, high))

    return read


def scaled_norms(vectors: Tensor) -> Tensor:
    """‖v‖₂ along the last axis, where no square underflows; NaN of 0 and of what is not finite."""
    largest = vectors.abs().amax(3)
    size: Tensor = torch.linalg.vector_norm(vectors / largest[..., None], dim=3)
    return largest * size


def exclude_empty_window(read: Callable[[Batch], Interval]) -> Callable[[Batch], Interval]:
    """Restrict a reading to k ≥ 1, with NaN at k = 0: an empty window has no oldest input."""

    def restricted(batch: Batch) -> Interval:
        enclosure = read(batch)
        low, high = np.array(enclosure.lo), np.array(enclosure.hi)
        low[..., 0] = high[..., 0] = np.nan
        return Interval(low, high)

    return restricted


REASON = "what the module computes is compared bit by bit, and on numbers of all sizes"

FAST = (
    Opaque("causal_gap", enclosure=changed_output_gap(replace_outside), reason=REASON),
    Opaque(
        "causal_edge_gap",
        enclosure=exclude_empty_window(changed_output_gap(change_oldest)),
        reason=REASON,
    ),
)
