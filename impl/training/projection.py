"""Exact Euclidean projections onto sets of stable weights, and membership with a certificate.

Each set is closed and convex, so its Frobenius-nearest point exists and the map to it is
non-expansive in the Frobenius norm. Rescaling W·min(1, ℓ/‖W‖) also lands in the set but is
*not* non-expansive, and the theory of projected descent does not cover it.

Sources: Miller & Hardt, section 4; Duchi et al. (2008) for the ℓ1 ball.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from rnnbounds.impl.errors import (
    InputError,
    NotFiniteError,
    PrecisionError,
    RangeError,
    ShapeError,
    UnknownNameError,
    number,
)
from rnnbounds.impl.models.surroundings import isolated, spread_work
from rnnbounds.impl.numbers.outward import UNIT, gamma, norm_up, sum_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, is_norm_below

BallNorm = Literal["spectral", "infinity", "frobenius"]


def _clipped(W: Tensor, ell: float) -> Tensor:
    """U·min(Σ, ℓ)·Vᵀ."""
    u, sigma, vh = torch.linalg.svd(W, full_matrices=False)
    clipped = (u * sigma.clamp(max=ell).unsqueeze(-2)) @ vh
    return torch.where((sigma <= ell).all(-1)[..., None, None], W, clipped)


def _shortened(W: Tensor, ell: float) -> Tensor:
    """W·min(1, ℓ/‖W‖_F)."""
    largest = W.abs().amax((-2, -1), keepdim=True)
    unit = W / torch.where(largest > 0, largest, torch.ones_like(largest))  # squares stay finite
    norm = torch.linalg.matrix_norm(unit, keepdim=True)
    return torch.where(norm * largest > ell, unit * (ell / norm), W)


@dataclass(frozen=True)
class Ball:
    """{‖W‖ ≤ radius} in the spectral, the infinity (greatest row sum) or the Frobenius norm."""

    norm: BallNorm
    radius: float

    def __post_init__(self) -> None:
        if self.norm not in _NEAREST:
            raise UnknownNameError("norm", self.norm, _NEAREST)

    def project(self, W: Tensor) -> Tensor:
        """The Frobenius-nearest point of the ball, up to rounding: (..., m, n) -> (..., m, n).

        Raises an InputError for NaN, infinity or a radius < 0.
        """
        _check(W, self.radius)
        return _NEAREST[self.norm](W, self.radius)

    def bound(self, W: Tensor) -> Tensor:
        """A rigorous upper bound on the ball's norm of W (..., m, n): (...) float64."""
        exact = W.detach().to(torch.float64)
        if self.norm == "infinity":
            return sum_up(exact.abs()).amax(-1)
        if self.norm == "frobenius":
            return norm_up(exact.flatten(-2))
        batch = exact.reshape(-1, *exact.shape[-2:])
        return certified_norm(batch).reshape(exact.shape[:-2])

    def contains(self, W: Tensor) -> Tensor:
        """True where W (..., m, n) is *certified* to lie in the ball: (...) booleans."""
        return self.bound(W) <= self.radius


@isolated()
def stable(W: Tensor, ell: float, norm: BallNorm = "spectral") -> Tensor:
    """The projection of W (..., m, n), shrunk by units in the last place until *certified* ≤ ℓ.

    A matrix that is certified as it stands, by more than rounding, comes back unchanged. The
    certificate is of the returned floats, in W's own dtype. Raises an InputError for NaN, infinity
    or ℓ < 0.

    >>> rnn.weight_hh_l0.copy_(rnnbounds.stable(rnn.weight_hh_l0, 0.9))  # under torch.no_grad()
    """
    ball = Ball(norm, ell)
    _check(W, ell)
    spread_work([W])
    if bool(_quickly(ball, W).all()):
        return W
    nearest = ball.project(W)
    inside = (nearest == W).flatten(-2).all(-1)
    if bool(inside.any()):
        inside &= ball.contains(W)
    shrink = max(torch.finfo(W.dtype).eps, _slack(W) / 4)
    while not bool((inside := inside | _quickly(ball, nearest)).all()):
        shorter = nearest * max(0.0, 1.0 - shrink)
        nearest = torch.where(inside[..., None, None], nearest, shorter)
        shrink *= 2
    return nearest


def _quickly(ball: Ball, W: Tensor) -> Tensor:
    """True where a fast test certifies W (..., m, n) in the ball, so far inside that
    `certified_norm` certifies it too: (...) booleans."""
    if ball.norm != "spectral":
        return ball.contains(W)
    _check(W, ball.radius)
    batch = W.detach().double().reshape(-1, *W.shape[-2:])
    short = ball.radius * (1 - _slack(W))
    proved = is_norm_below(batch, batch.new_full((len(batch),), short))
    return (proved | (batch == 0).flatten(1).all(1)).reshape(W.shape[:-2])


def _slack(W: Tensor) -> float:
    """Estimate the largest relative excess of `certified_norm` over the norm in practice."""
    return 0.7 * UNIT * (max(W.shape[-2:]) + 4) * (min(W.shape[-2:]) + 1)


def nearest_rows(W: Tensor, radii: Tensor, *, certify: bool) -> Tensor:
    """W (m, n) with each row in the ℓ1 ball of its own radius (m,), the nearest point up to
    rounding; with `certify`, shrunk by units in the last place until it is *certified* to be so."""
    if bool((inside := _summed(W) <= radii).all()):
        return W
    W = torch.where(inside[:, None], W, _thresholded(W, radii.to(W.dtype)[:, None]))
    shrink = torch.finfo(W.dtype).eps
    while certify and not bool((inside := _summed(W) <= radii).all()):
        W = torch.where(inside[:, None], W, W * max(0.0, 1.0 - shrink))
        shrink *= 4
    return W


def _summed(W: Tensor) -> Tensor:
    """At least the ℓ1 norms of the rows, and within γ of them."""
    return W.double().abs().sum(-1) * (1 + gamma(2 * W.shape[-1]))


def _thresholded(W: Tensor, ell: float | Tensor) -> Tensor:
    """sign(w)(|w| − θ)₊ row by row, as (level − gap)₊ with gaps from the largest |w|: these lose
    nothing near it, where |w| − θ cancels."""
    size, ell = W.abs(), torch.as_tensor(ell, dtype=W.dtype, device=W.device)
    gap = size.amax(-1, keepdim=True) - size
    ordered = gap.sort(dim=-1).values.clamp(max=ell)  # beyond ℓ all go to 0
    part = 2.0 ** -W.shape[-1].bit_length()  # exact, and no sum overflows
    count = part * torch.arange(1, W.shape[-1] + 1, dtype=W.dtype, device=W.device)
    level = ((part * ordered).cumsum(-1) + part * ell) / count
    last = (level > ordered).sum(-1, keepdim=True).clamp(min=1) - 1
    shrunk = W.sign() * (level.gather(-1, last) - gap).clamp(min=0).minimum(size)
    return torch.where(size.sum(-1, keepdim=True) <= ell, W, shrunk)


def _check(W: Tensor, ell: float) -> None:
    if not isinstance(W, Tensor):
        raise InputError(f"W is a {type(W).__name__}, no matrix; pass a weight as a tensor")
    if W.ndim < 2 or W.numel() == 0:
        raise ShapeError("W", "(..., m, n) with m, n ≥ 1", W)
    if W.dtype not in (torch.float32, torch.float64):
        raise PrecisionError("W", W.dtype, "float32 or float64")
    if not number("the radius ℓ", ell, "at least 0") >= 0:
        raise RangeError("the radius ℓ", ell, "at least 0")
    if not bool(torch.isfinite(W).all()):
        raise NotFiniteError("W")


_NEAREST: Mapping[str, Callable[[Tensor, float], Tensor]] = {
    "spectral": _clipped,
    "infinity": _thresholded,  # each row goes to the ℓ1 ball of radius ℓ
    "frobenius": _shortened,
}
