"""Shortcuts of norms that round up: hardly more than the long way, never less than the norm."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import (
    add_up,
    exponent,
    mul_up,
    norm_up,
    shift,
    shift_up,
    sqrt_up,
    sum_up,
)

EDGES = (
    0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.0**-1022, 2.0**-537, 2.0**-450,
    1.0, -1.0, 1 + 2.0**-52, 2.0**511.5, 2.0**1000, 1.7e308,
)  # fmt: skip


def numbers(*shape: int) -> Tensor:
    """Floats of all magnitudes, edges among them."""
    draw = torch.Generator().manual_seed(sum(shape))
    size = torch.randint(-1074, 1023, shape, generator=draw)
    x = torch.randn(shape, generator=draw, dtype=torch.float64)
    x = torch.ldexp(torch.ldexp(x, size // 2), size - size // 2)
    edges = torch.tensor(EDGES, dtype=torch.float64)
    pick = torch.randint(0, len(EDGES), shape, generator=draw)
    kept = torch.rand(shape, generator=draw) < 0.7
    return torch.where(kept, x, edges[pick])


def long_norm(x: Tensor) -> Tensor:
    """The norm by products, with what scaling may lose always added where it lost something."""
    largest = x.abs().amax(-1, keepdim=True)
    scale = exponent(largest)
    y = shift(x, -scale)
    norm = sqrt_up(sum_up(mul_up(y, y)))
    lossless = (shift(y, scale) == x).all(-1)
    lost = math.sqrt(x.shape[-1]) * 2.0**-1073
    bound = shift_up(torch.where(lossless, norm, add_up(norm, lost)), scale[..., 0])
    single = (x != 0).sum(-1) <= 1
    return torch.where(single & torch.isfinite(largest[..., 0]), largest[..., 0], bound)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_norms(size: int) -> None:
    """Of vectors of every size, at every scale, also of what is not finite."""
    for x in (
        numbers(4000, size),
        numbers(500, size).clamp(-4, 4),
        torch.ones(3, 2, size).double(),
    ):
        found, long = norm_up(x), long_norm(x)
        assert (found <= long * (1 + 2.0**-51)).all()
        usual = ((x.abs() > 2.0**-390) & (x.abs() < 2.0**390) | (x == 0)).all(-1)
        assert torch.equal(found[usual], long[usual])
        rows, bounds = x.reshape(-1, size)[:200].tolist(), found.flatten()[:200].tolist()
        for row, bound in zip(rows, bounds, strict=True):
            if math.isfinite(bound):
                assert Fraction(bound) ** 2 >= sum(Fraction(v) ** 2 for v in row)
