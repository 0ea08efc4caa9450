"""Constant inputs under which a witness is worth seeking, all with ‖x‖₂ ≤ B."""

from collections.abc import Iterator

import numpy as np
import torch

from rnnbounds.impl.arithmetic.inputs.ends import inputs_of
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.numbers.spectra.krawczyk import Vector

Given = Vector | InputSet | None  # inputs (m, d) to try too, or the set of all that there are
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
        yield from (x for x in _evenly(given) if size(x) <= bound)
    yield from _along(U, bound, 0, 0.5)
    if min(U.shape) > 1:
        yield from _along(U, bound, 1, 1.0)


def chosen(U: Vector, given: InputSet) -> Iterator[Vector]:
    """Of a set: the least, the ends that move a cell most and half as far, and rows of a table."""
    inputs = inputs_of(given)
    rest = inputs.rest(given.d)
    yield rest.numpy()
    if np.isfinite(U).all():
        for way in torch.from_numpy(np.linalg.svd(U)[2][:2].copy()):
            for end in (inputs.furthest(way), inputs.furthest(-way)):
                yield from (end.numpy(), inputs.mixed(rest[None], end[None], 0.5)[0].numpy())
    if given.rows is not None:
        yield from _evenly(given.rows.numpy())


def size(x: Vector) -> float:
    """At least ‖x‖₂, at any scale; 0 for the zero input alone."""
    return float(norm_up(torch.from_numpy(x)))


def _along(U: Vector, bound: float, index: int, share: float) -> Iterator[Vector]:
    if bound > 0 and np.isfinite(U).all():
        x = share * largest(bound) * np.linalg.svd(U)[2][index]
        if 0 < size(x) <= bound:  # a subnormal one may have been rounded up, or away
            yield from (x, -x)


def _evenly(rows: Vector) -> Vector:
    found: Vector = rows[np.linspace(0, len(rows) - 1, min(len(rows), GIVEN)).round().astype(int)]
    return found
