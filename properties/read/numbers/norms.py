"""Norms and products of float64 numbers that carry bounds on their rounding.

u = 2⁻⁵³ and γ_m = m u/(1 − m u) (Higham, *Accuracy and Stability of Numerical Algorithms*,
Section 3.1). Enclosures are (B, S, K+1) with windows, else (B, S, 1).
"""

from __future__ import annotations

import torch

from rnnbounds.impl.numbers.outward import TINY, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.properties.read.numbers.arrays import marked
from rnnbounds.properties.read.numbers.enclosures import around
from rnnbounds.properties.read.numbers.rounded import UP, Rounded
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
U = 2.0**-53
# A sum of squares below 2⁻¹⁰²² has lost bits; its root is then below 2⁻⁵¹¹ √n: added to every norm.
NORM_FLOOR = 2.0**-505


def gamma(m: int) -> float:
    """γ_m, rounded up."""
    return m * U / (1 - m * U) * (1 + 2.0**-50)


def by_sequence(value: Tensor) -> Tensor:
    """(B, S) or (B, K+1, S) as (B, S, 1) or (B, S, K+1)."""
    return value[:, :, None] if value.ndim == 2 else value.transpose(1, 2)


def length_of(v: Rounded, axis: int) -> tuple[Tensor, Tensor]:
    """‖v‖₂ along an axis, and its error."""
    value, off = (torch.linalg.vector_norm(part, dim=axis) for part in (v.value, v.error))
    # A square that underflows hides a small number: nothing is hidden where all are 0.
    hidden = marked(v.present.any(axis), NORM_FLOOR)
    return value, (off + gamma(v.value.shape[axis] + 4) * (value + off) + hidden) * UP


def largest(v: Rounded, weights: Tensor) -> Interval:
    """Enclosures of max |v_j|/w_j along the second axis; exact where v is and all w are 1."""
    w = weights.reshape(*weights.shape, *[1] * (v.value.ndim - 2))
    value, error = (by_sequence((part / w).amax(1)) for part in (v.value.abs(), v.error))
    slack = (error + value * 2.0**-50) * UP + underflow(value + error)
    exact = (weights == 1).all(1)[:, None, None] & (error == 0)
    return around(value, torch.where(exact, 0.0, slack))


def longest(v: Rounded, axis: int = 1) -> Interval:
    """Enclosures of ‖v‖₂ along an axis."""
    value, error = length_of(v, axis)
    return around(by_sequence(value), by_sequence(error))


def spectral(J: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
    """Ends around ‖J‖₂ of matrices (…, n, d) that are off by at most ``error``."""
    n, d = J.shape[-2:]
    low, high = spectral_ends(J)
    off = torch.linalg.matrix_norm(error) * (1 + gamma(n * d + 4))
    off = off + marked((error != 0).any(-1).any(-1), NORM_FLOOR)
    high = torch.nextafter(high + off * UP, torch.tensor(torch.inf).to(J))
    nothing = ~((J != 0) | (error != 0)).any(-1).any(-1)
    return ((low - off * UP) * (1 - 2.0**-50)).clamp(min=0.0), torch.where(nothing, 0.0, high)


def spectral_ends(J: Tensor) -> tuple[Tensor, Tensor]:
    """Ends of ‖J‖₂ of matrices (…, n, d) of finite floats: the certified norm above, ‖J v‖/‖v‖ for
    the leading singular vector v below."""
    matrices, (n, d) = torch.nan_to_num(J).flatten(0, -3), J.shape[-2:]
    v = torch.linalg.svd(matrices, full_matrices=False).Vh[:, 0, :, None]
    image, size = (torch.linalg.vector_norm(a, dim=(1, 2)) for a in (matrices @ v, v))
    loss = gamma(2 * d + n + 8) * torch.linalg.matrix_norm(matrices) * (1 + 2.0**-50) + NORM_FLOOR
    ends = (image - loss) / (size * (1 + 2.0**-50)), certified_norm(matrices)
    low, high = (end.reshape(J.shape[:-2]) for end in ends)
    return low, high


def product(a: Rounded, b: Rounded) -> Rounded:
    """The matrix products of each column: (B, l, M, m) and (B, m, M, n) give (B, l, M, n)."""
    (av, ae), (bv, be) = ([part.permute(0, 2, 1, 3) for part in (v.value, v.error)] for v in (a, b))
    carried = av.abs() @ be + ae @ (bv.abs() + be) + gamma(av.shape[3] + 2) * (av.abs() @ bv.abs())
    met = a.present.permute(0, 2, 1, 3).to(av) @ b.present.permute(0, 2, 1, 3).to(bv)
    error = carried * UP + marked(met != 0, TINY)
    return Rounded((av @ bv).permute(0, 2, 1, 3), error.permute(0, 2, 1, 3))


def repeated(v: Rounded, count: int) -> Rounded:
    """Repeat all columns and their error bounds `count` times."""
    shape = (1, 1, count, *[1] * (v.value.ndim - 3))
    return Rounded(v.value.repeat(shape), v.error.repeat(shape))
