"""The carrier of batches: float64 with bounds on its rounding.

∇p = c for the linear loss, Cᵀ(C h − y) for the squared one, Σ_j s_j (C_j − C_0) with the softmax s
of C h for the cross-entropy.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rnnbounds.impl.gradients.loss import LABEL, CrossEntropy, LinearLoss, Loss, Squared
from rnnbounds.impl.numbers.outward import UNIT
from rnnbounds.properties.read.numbers import norms
from rnnbounds.properties.read.numbers.norms import operator_product, spectral_norm, vector_lengths
from rnnbounds.properties.read.numbers.rounded import Rounded, RoundedCells, join_parts
from rnnbounds.properties.read.numbers.seeds import (
    Directions,
    Names,
    Parameters,
    RoundedDirections,
    Tensor,
    Value,
)
from rnnbounds.theory.numbers.interval import Interval, exact, maximum

Array = NDArray[np.float64]


class FloatCarrier:
    """Batches of B systems with S columns each, in float64 with bounds on the rounding."""

    def arithmetic(self, parameters: Parameters) -> Any:
        """Arithmetic of rounded floats over the parameters of all systems."""
        return RoundedCells(parameters)

    def directions(
        self, parameters: Parameters, units: int, inputs: int, trained: Names
    ) -> Directions:
        """Directions of derivatives of all systems."""
        return RoundedDirections(parameters, units, inputs, trained)

    def column(self, tensor: Tensor) -> Rounded:
        """The vectors (B, N, S) with error 0."""
        return Rounded.exact(tensor)

    def matrix(self, tensor: Tensor) -> Rounded:
        """The operators, one column of them a system: (B, m, 1, N)."""
        return Rounded.exact(tensor[:, :, None])

    @staticmethod
    def number(value: Any) -> Any:
        """The rational itself."""
        return value

    @staticmethod
    def numbers(values: Array) -> Interval:
        """A number of each system, exactly, from (B, 1, 1)."""
        return Interval(values, values)

    @staticmethod
    def of_numbers(head: str, known: Sequence[Any], values: Sequence[Value]) -> Interval:
        """Integer powers; the largest or the modulus of sizes."""
        intervals = [v if isinstance(v, Interval) else exact(v) for v in values]
        if head == "^":
            return intervals[0] ** float(known[0])
        return reduce(maximum, intervals) if head == "Max" else abs(intervals[0])

    def times(self, A: Value, v: Value) -> Value:
        """The product of each column; one operator meets the vectors of all columns."""
        if isinstance(A, Interval):
            return A * v
        if isinstance(A, int | Fraction):
            if A == -1:
                return -v
            return v * Interval(*[np.asarray(1.0)] * 2) / Interval(*[np.asarray(float(1 / A))] * 2)
        if A.v.shape[2] == 1 and v.v.ndim == 3 and not A.e.any():
            return v.apply_matrix(A.value[:, :, 0])
        if v.v.ndim == 3:
            return operator_product(A, v[..., None])[..., 0]
        return operator_product(A, v)

    def divide_units(self, v: Rounded, weights: Tensor) -> Rounded:
        """v_j/w_j by a multiplication with the rounded 1/w_j."""
        w = (1 / weights)[:, :, None].expand(v.value.shape)
        return v * Rounded(w, 2 * UNIT * w)

    def cut(self, tangent: Rounded, columns: slice) -> Rounded:
        """Select some directions of a tangent."""
        return tangent[..., columns]

    def row(self, v: Rounded, before: int) -> Rounded:
        """(B, 1, M, N) of (B, n, M)."""
        zeros = Rounded.exact(v.value.new_zeros(len(v.value), before, v.value.shape[2]))
        padded = join_parts([zeros, v], dim=1) if before else v
        return Rounded(*(part.mT[:, None] for part in (padded.value, padded.error)))

    def gradient(self, loss: Loss, h: Rounded) -> Rounded:
        """∇p(h)."""
        return gradient(loss, h)

    def gradient_gap(self, loss: Loss, h: Rounded, gap: Rounded) -> Rounded:
        """∇p(h) − ∇p(h − gap)."""
        return gradient_gap(loss, h, gap)

    def euclidean(self, v: Rounded) -> Interval:
        """‖v‖₂ of vectors, or of operators with one row."""
        return norms.euclidean_norm(v) if v.v.ndim == 3 else norms.euclidean_norm(v[:, 0], 2)

    def spectral(self, A: Rounded) -> Interval:
        """‖A‖₂; the longest row's norm if rows share no column."""
        if (A.nonzero_array.sum(1) <= 1).all():
            return self.row_norm(A, torch.ones_like(A.value[:, :, 0, 0]))
        value, error = (part.permute(0, 2, 1, 3) for part in (A.value, A.error))
        low, high = (end.cpu().numpy()[:, :, None] for end in spectral_norm(value, error))
        return Interval(low, high)

    def largest(self, v: Rounded, weights: Tensor | None) -> Interval:
        """max |v_j|/w_j; exact where v is and all w are 1."""
        return norms.max_norm(v, torch.ones_like(v.value[:, :, 0]) if weights is None else weights)

    def row_norm(self, A: Rounded, weights: Tensor) -> Interval:
        """The rows' lengths over the weights."""
        return self.largest(Rounded(*vector_lengths(A, 3)), weights)

    def row_sum_norm(self, A: Rounded, weights: Tensor) -> Interval:
        """The rows' weighted sums over the weights."""
        w = weights[:, None, None].expand(A.value.shape)
        size = Rounded(A.value.abs(), A.error) * Rounded.exact(w)
        sums = reduce(Rounded.__add__, (size[..., i] for i in range(w.shape[3])))
        return self.largest(sums, weights)


FLOATS = FloatCarrier()


def gradient(loss: Loss, h: Rounded) -> Rounded:
    """∇p(h), (B, n, M)."""
    if isinstance(loss, Squared):
        return h.apply_matrix(loss.C, -loss.y).apply_matrix(loss.C.mT)
    if isinstance(loss, CrossEntropy):
        return weighted_rows(loss, softmax(h.apply_matrix(loss.C)))
    assert isinstance(loss, LinearLoss)
    return Rounded.exact(loss.C[:, 0, :, None].expand(h.value.shape))


def gradient_gap(loss: Loss, h: Rounded, delta: Rounded) -> Rounded:
    """∇p(h) − ∇p(h − δ), exactly 0 where δ is."""
    if isinstance(loss, Squared):
        return delta.apply_matrix(loss.C).apply_matrix(loss.C.mT)
    if isinstance(loss, CrossEntropy):
        parts = softmax(h.apply_matrix(loss.C)) - softmax((h - delta).apply_matrix(loss.C))
        return weighted_rows(loss, parts).zero_unless(delta.nonzero_mask.any(1, keepdim=True))
    return Rounded.exact(torch.zeros_like(delta.value))


def softmax(z: Rounded) -> Rounded:
    """1/Σ_i exp(z_i − z_j), (B, p, M)."""
    columns = []
    for j in range(z.size):
        terms = (z - z.part(j, j + 1)).exp()
        total = terms.part(0, 1)
        for i in range(1, z.size):
            total = total + terms.part(i, i + 1)
        columns.append(total.reciprocal())
    return join_parts(columns, dim=1)


def weighted_rows(loss: Loss, s: Rounded) -> Rounded:
    """Σ_j s_j (C_j − C_0)."""
    C = Rounded.exact(loss.C)
    differences = C - Rounded.exact(loss.C[:, LABEL, None].expand_as(loss.C))
    total = differences[:, 0, :, None] * s.part(0, 1)
    for j in range(1, s.size):
        total = total + differences[:, j, :, None] * s.part(j, j + 1)
    return total
