"""Peak rates of a CUDA device, measured in the same run, and the share of them that a row attains.

Roofline model: so many floating-point operations that move so many bytes take at least the larger
of two times: at the rate of one large matrix product, and at that of one large copy (both ways).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch

from rnnbounds.bench.clock import Clock

SQUARE_ROWS = {"cpu": 768, "cuda": 8192}  # rows of a product that runs at the machine's rate
COPY_LENGTH = 2**28  # numbers: far more than caches hold


class Ceilings(NamedTuple):
    """Operations and bytes a second."""

    flops: float
    bytes: float


class Load(NamedTuple):
    """Work of any algorithm for a task: floating-point operations, and bytes past the caches."""

    flops: float
    bytes: float


def square_rows(device: str) -> int:
    """Rows of the product whose rate is the device's."""
    return SQUARE_ROWS[torch.device(device).type]


@cache
def measure_ceilings(device: str, dtype: torch.dtype = torch.float64) -> Ceilings:
    """Rates of products and copies in this precision, read once; float32 without TF32."""
    clock = Clock(device)
    rows = square_rows(device)
    square = torch.rand(rows, rows, dtype=dtype, device=device)
    numbers = torch.rand(COPY_LENGTH, dtype=dtype, device=device)
    other = torch.empty_like(numbers)
    timing = clock.time_interleaved([lambda: square @ square, lambda: other.copy_(numbers)])
    copied = 2.0 * dtype.itemsize * COPY_LENGTH
    return Ceilings(2.0 * rows**3 / timing.seconds(0), copied / timing.seconds(1))


def ceiling_shares(clock: Clock, load: Load, seconds: float) -> str:
    """The shares of both ceilings; nothing is told of the CPU, whose rows ask for one of them."""
    if clock.device == "cpu":
        return ""
    peak = measure_ceilings(clock.device)
    flops, bandwidth = load.flops / seconds, load.bytes / seconds
    return (
        f"{1e3 * seconds:.3g} ms, {flops / peak.flops:.2g} of a product's "
        f"{peak.flops / 1e12:.3g} TFLOP/s and {bandwidth / peak.bytes:.2g} of a copy's "
        f"{peak.bytes / 1e12:.3g} TB/s"
    )
