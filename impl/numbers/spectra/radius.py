"""A rigorous upper bound on the spectral radius, by squaring."""

import torch
from torch import Tensor

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.outward import TINY, add_up, gamma, norm_up, sqrt_up
from rnnbounds.impl.numbers.scaling import exponent, shift, shift_up

_SQUARINGS = 10


def spectral_radius_bound(W: Tensor) -> Tensor:
    """min over p of ‖W^(2^p)‖_F^(1/2^p), an upper bound on max |eigenvalue|: W (B, n, n) -> (B,).

    Above the radius by a factor of at most (‖V‖‖V⁻¹‖√n)^(1/1024), V the eigenvectors, and by what
    rounding adds, which matters for nilpotent matrices: about (n u)^(1/2) ‖W‖_F there.
    Infinity where W is not finite. Raises ShapeError. Source: Gelfand.
    """
    if W.ndim != 3 or W.shape[1] != W.shape[2]:
        raise ShapeError("W", "(batch, n, n)", W)
    # W^(2^p) = 2^e (power + Δ) with |Δ| ≤ error entry by entry, both scaled by a power of two.
    n, W = W.shape[1], W.detach()
    bound = norm_up(W.flatten(1))
    power, error, e = W, torch.zeros_like(W), torch.zeros_like(exponent(bound))
    for p in range(_SQUARINGS + 1):
        size = norm_up(add_up(power.abs(), error).flatten(1))
        scale = exponent(size)
        size, e = shift(size, -scale), e + scale
        power, error = (shift(M, -scale[:, None, None]) for M in (power, error))
        root = sqrt_up(shift(size, e % 2**p), times=p)
        bound = torch.minimum(bound, shift_up(root, torch.div(e, 2**p, rounding_mode="floor")))
        P = power.abs()
        spread = P @ error + error @ (P + error) + gamma(n + 1) * (P @ P)
        error = spread * (1 + gamma(4 * n + 16)) + TINY
        power, e = power @ power, 2 * e
    return torch.where(torch.isfinite(W).flatten(1).all(1), bound, torch.inf)
