"""Constant inputs under which a witness is worth seeking, all with ‖x‖₂ ≤ B."""

from collections.abc import Iterator

import numpy as np
import torch

from rnnbounds.impl.arithmetic.inputs.maximisers import input_set_of
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.numbers.spectra.krawczyk import Vector

CandidateInputs = Vector | InputSet | None  # inputs (m, d) to try too, or the set of all
MOST_CANDIDATES = 64  # of those that are handed in, so many are tried


def largest_norm(bound: float) -> float:
    """A norm below B by more than any rounding, at which inputs are tried."""
    return min(bound, 1e6) * (1 - 2.0**-30)


def steepest_inputs(U: Vector, bound: float) -> Iterator[Vector]:
    """The two of nearly the largest norm that move a cell most, by its input weights (·, d)."""
    yield from _singular_inputs(U, bound, 0, 1.0)


def further_inputs(U: Vector, bound: float, given: Vector | None = None) -> Iterator[Vector]:
    """Further constant inputs: an even sample of the given ones (m, d) within the bound, the two
    steepest at half size, and the two along the second singular vector."""
    if given is not None:
        yield from (x for x in _sample_rows(given) if norm_bound(x) <= bound)
    yield from _singular_inputs(U, bound, 0, 0.5)
    if min(U.shape) > 1:
        yield from _singular_inputs(U, bound, 1, 1.0)


def inputs_of_set(U: Vector, given: InputSet) -> Iterator[Vector]:
    """Of a set: the least, the ends that move a cell most and half as far, and rows of a table."""
    inputs = input_set_of(given)
    smallest = inputs.smallest_input(given.d)
    yield smallest.numpy()
    if np.isfinite(U).all():
        for direction in torch.from_numpy(np.linalg.svd(U)[2][:2].copy()):
            for endpoint in (inputs.maximiser(direction), inputs.maximiser(-direction)):
                yield from (
                    endpoint.numpy(),
                    inputs.interpolate(smallest[None], endpoint[None], 0.5)[0].numpy(),
                )
    if given.rows is not None:
        yield from _sample_rows(given.rows.numpy())


def norm_bound(x: Vector) -> float:
    """At least ‖x‖₂, at any scale; 0 for the zero input alone."""
    return float(norm_up(torch.from_numpy(x)))


def _singular_inputs(U: Vector, bound: float, index: int, scale: float) -> Iterator[Vector]:
    if bound > 0 and np.isfinite(U).all():
        x = scale * largest_norm(bound) * np.linalg.svd(U)[2][index]
        if 0 < norm_bound(x) <= bound:  # a subnormal one may have been rounded up, or away
            yield from (x, -x)


def _sample_rows(rows: Vector) -> Vector:
    sample: Vector = rows[
        np.linspace(0, len(rows) - 1, min(len(rows), MOST_CANDIDATES)).round().astype(int)
    ]
    return sample
