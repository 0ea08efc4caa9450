"""Nearest points of norm balls with rigorous bounds of their errors, in float64 and in batch.

Over the ball {‖Z‖ ≤ ℓ} the greatest ⟨A − P, Z − P⟩ is ℓ ‖A − P‖_* − ⟨A − P, P⟩, ‖·‖_* the dual
norm, and a P of the ball is the Frobenius-nearest point ΠA if that is 0. So

- {‖Z‖₂ ≤ ℓ}: ΠB = U min(Σ, ℓ) Vᵀ for B = U Σ Vᵀ, since ℓ Σ(σ_i − ℓ)₊ is both terms. Computed Ũ, Ṽ
  are within ‖ŨᵀŨ − I‖_F of orthonormal ones, so A is near such a B, and ‖ΠA − ΠB‖ ≤ ‖A − B‖;
- {greatest row sum ≤ ℓ}: a row a goes to sign(a)(L − g)₊, g its gaps from max |a|, with
  Σ(L − g)₊ = ℓ, and L is off by at most the error of that sum, whose slope in L is at least 1;
- {‖Z‖_F ≤ ℓ}: A min(1, ℓ/‖A‖_F).

Sources: Moreau (1962) for the variational inequality; Fan & Hoffman (1955) for the nearest
orthonormal matrix; Higham, Accuracy and Stability, for the roundings.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.errors import PrecisionError
from rnnbounds.impl.numbers.outward import UNIT, add_up, gamma, norm_bound, norm_up, sum_up
from rnnbounds.impl.numbers.scaling import exponent, shift
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, is_norm_below
from rnnbounds.impl.training.projection import Ball, BallNorm

_UP = 1 + 64 * UNIT  # covers the roundings of one line of bounds
_LOST = 2.0**-500  # of squares and products that underflow


class Point(NamedTuple):
    """A matrix (B, m, n) found in float64, and a bound (B,) on its distance from the exact one."""

    value: Tensor
    error: Tensor


def itself(A: Tensor) -> Point:
    """A (B, m, n), exactly."""
    _check(A)
    return Point(A, torch.zeros_like(A[:, 0, 0]))


def projected(A: Tensor, ball: Ball) -> Point:
    """The nearest point of the ball, as `Ball.project` finds it: A (B, m, n)."""
    P = ball.project(A)
    return Point(P, projection_error(A, P, ball.norm, torch.full_like(A[:, 0, 0], ball.radius)))


def distance(p: Point, q: Point) -> tuple[Tensor, Tensor]:
    """Bounds below and above on the Frobenius distance of the exact matrices, (B,) each."""
    gap = p.value - q.value
    away = add_up(p.error, q.error)
    high = norm_up(gap.flatten(1))
    exact = (p.value == 0).flatten(1).all(1) | (q.value == 0).flatten(1).all(1)
    rounding = torch.where(exact, 0.0, 2 * UNIT * high)
    low = torch.linalg.matrix_norm(gap) * (1 - gamma(gap[0].numel() + 8)) - _LOST
    low = (low - (away + rounding) * _UP).nan_to_num(0.0, 0.0).clamp(min=0.0)
    high = add_up(high, add_up(away, rounding)).nan_to_num(math.inf, math.inf)
    return torch.where(high == 0, 0.0, low), high


def projection_error(A: Tensor, P: Tensor, norm: BallNorm, ell: Tensor) -> Tensor:
    """At least ‖P − ΠA‖_F, (B,), for any P (B, m, n) and the balls of radii ell (B,).

    Rigorous, and 0 where A certainly lies in the ball and P = A; infinity where something is not
    finite. Raises PrecisionError.
    """
    _check(A, P)
    radius = ell.to(A)
    inside, near = _ERRORS[norm](A.detach(), P.detach(), radius)
    moved = _size((P - A).detach()) * (1 + 2 * UNIT)
    found = torch.where(inside, moved, near + _LOST)
    return found.nan_to_num(math.inf, math.inf)


def _spectral(A: Tensor, P: Tensor, ell: Tensor) -> tuple[Tensor, Tensor]:
    inside = is_norm_below(A, ell)
    rest = (~inside).nonzero()[:, 0]
    if len(rest):
        inside[rest] = certified_norm(A[rest]) <= ell[rest]
    near = torch.zeros_like(ell)
    left = (~inside & torch.isfinite(A).flatten(1).all(1)).nonzero()[:, 0]
    if len(left):
        near[left] = _clip_error(A[left], P[left], ell[left])
    bad = ~inside & ~torch.isfinite(A).flatten(1).all(1)
    return inside, near.masked_fill(bad, math.inf)


def _clip_error(A: Tensor, P: Tensor, ell: Tensor) -> Tensor:
    """‖P − ΠA‖_F from one singular value decomposition, which may be as bad as it likes."""
    u, sigma, vh = torch.linalg.svd(A, full_matrices=False)
    q = sigma.shape[1]
    U_off, V_off = _defect(u), _defect(vh.mT)
    sizes = _size(u) * _size(vh)
    skewed = (U_off * (1 + V_off) + V_off) * _UP

    def away(M: Tensor, s: Tensor) -> Tensor:
        """‖M − U diag(s) Vᵀ‖_F for the orthonormal U, V next to the computed ones."""
        top = s.amax(1)
        computed = _size(M - (u * s[:, None, :]) @ vh)
        rounding = gamma(q + 3) * (_size(M) + top * sizes)
        return (computed + rounding + top * skewed) * _UP

    return (away(A, sigma) + away(P, sigma.minimum(ell[:, None]))) * _UP


def _defect(u: Tensor) -> Tensor:
    """At least ‖UᵀU − I‖_F."""
    eye = torch.eye(u.shape[2], dtype=u.dtype, device=u.device)
    size = _size(u)
    return (_size(u.mT @ u - eye) + gamma(u.shape[1] + 2) * (size * size + 1)) * _UP


def _infinity(A: Tensor, P: Tensor, ell: Tensor) -> tuple[Tensor, Tensor]:
    n, radius = A.shape[2], ell[:, None]
    size = A.abs()
    inside = sum_up(size) <= radius
    # The level that P stands for: any L ≥ 0 will do, its error is seen in the sum.
    level = P.abs().amax(2)
    gap = size.amax(2, keepdim=True) - size
    shrunk = (level[..., None] - gap).clamp(min=0.0)
    rounded = gamma(3) * level  # of a gap below the level, and of what is left of that
    total = shrunk.sum(2)
    off = (total - radius).abs() + gamma(n + 3) * (total + radius) + n * rounded
    away = norm_bound(P - A.sign() * shrunk, 2)
    rounding = 2 * UNIT * (norm_bound(shrunk, 2) + norm_bound(P, 2))
    row = (away + rounding + n**0.5 * (off + rounded)) * _UP
    row = torch.where(inside, norm_bound(P - A, 2) * (1 + 2 * UNIT), row)
    return inside.all(1), norm_bound(row, 1)


def _frobenius(A: Tensor, P: Tensor, ell: Tensor) -> tuple[Tensor, Tensor]:
    high = norm_up(A.flatten(1))
    low = _norm_below(A)
    least, most = _quotient(ell, high), _quotient(ell, low)
    away = _size(P - A * least[:, None, None])
    error = away + high * ((most - least) + 6 * UNIT * most) + 2 * UNIT * _size(P)
    return high <= ell, error * _UP


def _check(*matrices: Tensor) -> None:
    for A in matrices:
        if A.dtype != torch.float64:
            raise PrecisionError("a matrix", A.dtype)


def _size(A: Tensor) -> Tensor:
    return norm_bound(A, (1, 2))


def _quotient(ell: Tensor, g: Tensor) -> Tensor:
    """min(1, ℓ/g), and 1 for g = 0."""
    return torch.where(g <= ell, 1.0, ell / g).to(g)


def _norm_below(A: Tensor) -> Tensor:
    """A lower bound on ‖A‖_F, (B,)."""
    m, n = A.shape[1:]
    scale = exponent(A.abs().flatten(1).amax(1)).clamp(min=0)  # else squares may overflow
    size: Tensor = torch.linalg.matrix_norm(shift(A, -scale[:, None, None]))
    least = ((size - _LOST) * (1 - gamma(m * n + 4))).clamp(min=0.0)
    back: Tensor = shift(least, scale)
    return back


_ERRORS = {"spectral": _spectral, "infinity": _infinity, "frobenius": _frobenius}
