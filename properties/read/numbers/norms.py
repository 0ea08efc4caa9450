"""Norms and products of float64 numbers that carry bounds on their rounding.

u = 2⁻⁵³ and γ_m = m u/(1 − m u) (Higham, *Accuracy and Stability of Numerical Algorithms*,
Section 3.1). Enclosures are (B, S, K+1) with windows, else (B, S, 1).
"""

from __future__ import annotations

import numpy as np
import torch

from rnnbounds.impl.numbers.outward import TINY, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.properties.read.numbers.rounded import (
    NORM_FLOOR,
    ROUND_UP,
    Rounded,
    as_tensor,
    mask_times,
)
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def blank(batch: Batch, windows: int = 1) -> Interval:
    """[nan, nan] of each pair, at so many windows: nothing is read."""
    nothing = np.full((batch.cell.batch, batch.x.shape[3], windows), np.nan)
    return Interval(nothing, nothing)


def around(value: Tensor, error: Tensor) -> Interval:
    """value ± error, rounded outward and cut at 0 (norms are ≥ 0); exact where error is 0."""
    v, e = value.detach().cpu().numpy(), error.detach().cpu().numpy()
    exact = e == 0
    with np.errstate(invalid="ignore"):
        low, high = v - e, v + e
    for end, beyond in ((low, -np.inf), (high, np.inf)):
        np.nextafter(end, beyond, out=end)
        if exact.any():
            np.copyto(end, v, where=exact)
    return Interval(np.maximum(low, 0.0, out=low), high)


U = 2.0**-53


def gamma(m: int) -> float:
    """γ_m, rounded up."""
    return m * U / (1 - m * U) * (1 + 2.0**-50)


def windows_last(value: Tensor) -> Tensor:
    """(B, S) or (B, K+1, S) as (B, S, 1) or (B, S, K+1)."""
    return value[:, :, None] if value.ndim == 2 else value.transpose(1, 2)


def vector_lengths(v: Rounded, axis: int) -> tuple[Tensor, Tensor]:
    """‖v‖₂ along an axis, and its error."""
    value, error_norm = (torch.linalg.vector_norm(part, dim=axis) for part in (v.value, v.error))
    if axis == 1 and v.error_norm is not None:
        error_norm = torch.minimum(error_norm, as_tensor(v.error_norm)[:, 0])
    # A square that underflows hides a small number: nothing is hidden where all are 0.
    hidden = mask_times(v.nonzero_mask.any(axis), NORM_FLOOR)
    return value, (
        error_norm + gamma(v.value.shape[axis] + 4) * (value + error_norm) + hidden
    ) * ROUND_UP


def max_norm(v: Rounded, weights: Tensor) -> Interval:
    """Enclosures of max |v_j|/w_j along the second axis; exact where v is and all w are 1."""
    w = weights.reshape(*weights.shape, *[1] * (v.value.ndim - 2))
    value, error = (windows_last((part / w).amax(1)) for part in (v.value.abs(), v.error))
    slack = (error + value * 2.0**-50) * ROUND_UP + underflow(value + error)
    exact = (weights == 1).all(1)[:, None, None] & (error == 0)
    return around(value, torch.where(exact, 0.0, slack))


def euclidean_norm(v: Rounded, axis: int = 1) -> Interval:
    """Enclosures of ‖v‖₂ along an axis."""
    value, error = vector_lengths(v, axis)
    return around(windows_last(value), windows_last(error))


def spectral_norm(J: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
    """Ends around ‖J‖₂ of matrices (…, n, d) that are off by at most ``error``."""
    n, d = J.shape[-2:]
    low, high = spectral_norm_ends(J)
    error_norm = torch.linalg.matrix_norm(error) * (1 + gamma(n * d + 4))
    error_norm = error_norm + mask_times((error != 0).any(-1).any(-1), NORM_FLOOR)
    high = torch.nextafter(high + error_norm * ROUND_UP, torch.tensor(torch.inf).to(J))
    is_zero = ~((J != 0) | (error != 0)).any(-1).any(-1)
    return ((low - error_norm * ROUND_UP) * (1 - 2.0**-50)).clamp(min=0.0), torch.where(
        is_zero, 0.0, high
    )


def spectral_norm_ends(J: Tensor) -> tuple[Tensor, Tensor]:
    """Ends of ‖J‖₂ of matrices (…, n, d) of finite floats: the certified norm above, ‖J v‖/‖v‖ for
    the leading singular vector v below."""
    matrices, (n, d) = torch.nan_to_num(J).flatten(0, -3), J.shape[-2:]
    v = torch.linalg.svd(matrices, full_matrices=False).Vh[:, 0, :, None]
    image, size = (torch.linalg.vector_norm(a, dim=(1, 2)) for a in (matrices @ v, v))
    loss = gamma(2 * d + n + 8) * torch.linalg.matrix_norm(matrices) * (1 + 2.0**-50) + NORM_FLOOR
    ends = (image - loss) / (size * (1 + 2.0**-50)), certified_norm(matrices)
    low, high = (end.reshape(J.shape[:-2]) for end in ends)
    return low, high


def operator_product(a: Rounded, b: Rounded) -> Rounded:
    """The matrix products of each column: (B, l, M, m) and (B, m, M, n) give (B, l, M, n)."""
    (av, ae), (bv, be) = ([part.permute(0, 2, 1, 3) for part in (v.value, v.error)] for v in (a, b))
    error_sum = (
        av.abs() @ be + ae @ (bv.abs() + be) + gamma(av.shape[3] + 2) * (av.abs() @ bv.abs())
    )
    meets = a.nonzero_mask.permute(0, 2, 1, 3).to(av) @ b.nonzero_mask.permute(0, 2, 1, 3).to(bv)
    error = error_sum * ROUND_UP + mask_times(meets != 0, TINY)
    return Rounded((av @ bv).permute(0, 2, 1, 3), error.permute(0, 2, 1, 3))
