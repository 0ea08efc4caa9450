"""The precisions at which exact arithmetic looks, in bits.

The first resolves λᵏ; the last is where nothing more is told apart, but that a saturated activation
is below its limit: 1 − tanh z is about e^{−2z}, which takes 2z/ln 2 bits; and what is below a bound
b of states of size 1, which takes log₂(1/b) bits more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, isfinite, log, log2

import torch

from rnnbounds.properties.systems.batch import Batch

LARGEST_PRECISION = 4096
LARGEST_LAST_PRECISION = (
    2**17
)  # of systems that are driven so far that λ, which has 1074 bits, is next to nothing


def precisions(pair: Batch, k: int, bound_bits: Callable[[], int]) -> Iterator[int]:
    """From 53 + k log₂(1/λ) + 20 bits on, doubled; `bound_bits` is asked for log₂(1/b) if that is
    not enough."""
    precision = first_precision(pair, k)
    while precision <= LARGEST_PRECISION:
        yield precision
        precision *= 2 if precision < 512 else 8
    if (last := last_precision(pair, bound_bits())) > LARGEST_PRECISION:
        yield last


def first_precision(pair: Batch, k: int) -> int:
    """The bits that resolve λᵏ, in words of 64; k + 73 where λ is not in (0, 1)."""
    lam = pair.spec.lam
    bits = 73 + (ceil(-k * log2(lam)) if 0 < lam < 1 else k)
    return min(max(128, 64 * ceil(bits / 64)), LARGEST_PRECISION)


def last_precision(pair: Batch, bound_bits: int) -> int:
    """The bits that tell tanh z and σ(z) from 1, and what is below a bound from 0, in words of 64.

    Where states are within [−1, 1], |z| is at most the largest rows of all weights together, times
    the largest input.
    """
    inputs = pair.x.abs().flatten().tolist()
    largest = max(1.0, pair.spec.scale, *inputs)
    drive = largest * sum(map(largest_row, pair.weights.values()))
    bits = 73 + 2 * drive / log(2) + bound_bits
    return 64 * ceil(min(bits, LARGEST_LAST_PRECISION) / 64) if isfinite(drive) else 0


def largest_row(weight: torch.Tensor) -> float:
    """The largest sum of absolute values along the last axis of a matrix, or entry of a vector."""
    sizes = weight.abs()
    rows = sizes.sum(-1) if weight.ndim > 2 else sizes
    return float(rows.max()) if rows.numel() else 0.0
