"""Gradients of losses in the output, and their differences between two runs, with their rounding.

∇p = c for the linear loss, Cᵀ(C h − y) for the squared one, Σ_j s_j (C_j − C_0) with the softmax s
of C h for the cross-entropy.
"""

from __future__ import annotations

import torch

from rnnbounds.impl.gradients.loss import LABEL, CrossEntropy, LinearLoss, Loss, Squared
from rnnbounds.properties.read.numbers.rounded import Rounded, join_parts


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
