"""Peak rates of a CUDA device, measured in the same run, and the share of them that a row attains.

Roofline model: so many floating-point operations that move so many bytes take at least the larger
of two times: at the rate of one large matrix product, and at that of one large copy (both ways).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch

from rnnbounds.bench.clock import Clock

SQUARE = {"cpu": 768, "cuda": 8192}  # rows of a product that runs at the machine's rate
COPIED = 2**28  # float64 numbers: far more than caches hold


class Ceilings(NamedTuple):
    """Operations and bytes a second."""

    flops: float
    bytes: float


class Load(NamedTuple):
    """Work of any algorithm for a task: floating-point operations, and bytes past the caches."""

    flops: float
    bytes: float


def rows_of_square(device: str) -> int:
    """Rows of the product whose rate is the device's."""
    return SQUARE[torch.device(device).type]


@cache
def ceilings(device: str) -> Ceilings:
    """Read once."""
    clock = Clock(device)
    rows = rows_of_square(device)
    square = torch.rand(rows, rows, dtype=torch.float64, device=device)
    numbers = torch.rand(COPIED, dtype=torch.float64, device=device)
    other = torch.empty_like(numbers)
    timing = clock.interleaved([lambda: square @ square, lambda: other.copy_(numbers)])
    return Ceilings(2.0 * rows**3 / timing.seconds(0), 16.0 * COPIED / timing.seconds(1))


def reached(clock: Clock, load: Load, seconds: float) -> str:
    """The shares of both ceilings; nothing is told of the CPU, whose rows ask for one of them."""
    if clock.device == "cpu":
        return ""
    most = ceilings(clock.device)
    flops, moved = load.flops / seconds, load.bytes / seconds
    return (
        f"{1e3 * seconds:.3g} ms, {flops / most.flops:.2g} of a product's "
        f"{most.flops / 1e12:.3g} TFLOP/s and {moved / most.bytes:.2g} of a copy's "
        f"{most.bytes / 1e12:.3g} TB/s"
    )
