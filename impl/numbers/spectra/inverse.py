"""Inverses of matrices with a certificate of how far they are from exact ones."""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import (
    UNIT,
    add_up,
    div_up,
    gamma,
    mul_up,
    norm_up,
    subtract_down,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


@dataclass(frozen=True, eq=False)
class Inverse:
    """X (B, n, n) ≈ Q⁻¹ and room (B,) ≤ 1 − ‖QX − I‖₂, zero where Q may be singular.

    Q⁻¹ = X (QX)⁻¹, so ‖A Q⁻¹‖₂ ≤ ‖A X‖₂/room for every A.
    """

    X: Tensor
    room: Tensor

    @property
    def norm(self) -> Tensor:
        """At least ‖Q⁻¹‖₂, infinite if Q may be singular: (B,)."""
        return div_up(certified_norm(self.X), self.room)


def certified_inverse(Q: Tensor) -> Inverse:
    """The inverse of Q (B, n, n), certified by its residual. Source: Rump; Higham."""
    X, info = torch.linalg.inv_ex(Q)
    eye = torch.eye(Q.shape[1], dtype=Q.dtype, device=Q.device)
    rounding = mul_up(gamma(2 * Q.shape[1]), norm_up((Q.abs() @ X.abs()).flatten(1)))
    residual = add_up(mul_up(norm_up((Q @ X - eye).flatten(1)), 1 + 4 * UNIT), rounding)
    room = subtract_down(1.0, residual).clamp(min=0.0)
    return Inverse(X, torch.where(info == 0, room, 0.0))
