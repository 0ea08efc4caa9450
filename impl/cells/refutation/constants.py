"""Constant inputs under which a witness is worth seeking, all with ‖x‖₂ ≤ B."""

from collections.abc import Iterator

import numpy as np
import torch

from impl.numbers.krawczyk import Vector
from impl.numbers.outward import norm_up

GIVEN = 64  # of those that are handed in, so many are tried


def largest(bound: float) -> float:
    """Short of B by more than any rounding."""
    return min(bound, 1e6) * (1 - 2.0**-30)


def across(U: Vector, bound: float) -> Iterator[Vector]:
    """The two of nearly the largest norm that move a cell most, by its input weights (·, d)."""
    yield from _along(U, bound, 0, 1.0)


def further(U: Vector, bound: float, given: Vector | None = None) -> Iterator[Vector]:
    """Those given, (m, d), that are within the bound, evenly taken; then half as large ones, and
    the two that move a cell next to most."""
    if given is not None:
        rows = given[np.linspace(0, len(given) - 1, min(len(given), GIVEN)).round().astype(int)]
        yield from (x for x in rows if size(x) <= bound)
    yield from _along(U, bound, 0, 0.5)
    if min(U.shape) > 1:
        yield from _along(U, bound, 1, 1.0)


def size(x: Vector) -> float:
    """At least ‖x‖₂, at any scale; 0 for the zero input alone."""
    return float(norm_up(torch.from_numpy(x)))


def _along(U: Vector, bound: float, index: int, share: float) -> Iterator[Vector]:
    if bound > 0 and np.isfinite(U).all():
        x = share * largest(bound) * np.linalg.svd(U)[2][index]
        if 0 < size(x) <= bound:  # a subnormal one may have been rounded up, or away
            yield from (x, -x)
