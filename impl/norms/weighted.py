"""Weighted norms in which a system contracts: found in floats, certified with outward rounding.

The weights are float64 numbers that stand for themselves; only the factor is a bound. Inverses of
matrices come with a bound on how far they are from exact ones.
"""

from collections.abc import Callable
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
    sum_up,
    underflow,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

_DOUBLINGS = 64
_SQUARINGS = 16
_LEAK = 1e-9  # makes |W| irreducible
_SWEEPS = 40
_STEPS = 16
_SMALLEST = 2.0**-50  # of weights at most 1, so that underflow costs less than TINY


@dataclass(frozen=True, eq=False)
class WeightedNorm:
    """‖h‖ = ‖Q h‖₂ for (B, n, n) weights Q, or max |h_i|/v_i for (B, n) weights v.

    ``factor`` (B,) bounds the operator norm of W (of |W|, for v) in it from above and ``condition``
    (B,) the factor ‖Q‖₂‖Q⁻¹‖₂ (‖v‖₂/min v) lost on the way back to the Euclidean norm; both are
    infinite where nothing was certified.
    """

    weights: Tensor
    factor: Tensor
    condition: Tensor


def quadratic_norm(W: Tensor) -> WeightedNorm:
    """‖Q W Q⁻¹‖₂ for P = QᵀQ with (W/μ)ᵀP(W/μ) − P = −I, μ = (1 + ρ(W))/2: W (B, n, n).

    Certifies linear systems whose spectral radius ρ(W) is below 1; Q = I and an infinite factor
    for the others. Source: Miller & Hardt, Section 2 (Lyapunov).
    """
    finite = torch.isfinite(W).flatten(1).all(1)
    W = torch.where(finite[:, None, None], W.detach(), 0.0)
    radius = _search_each(_radius, W, torch.full_like(W[:, 0, 0], torch.inf))
    power = W / ((1 + radius) / 2)[:, None, None]
    eye = torch.eye(W.shape[1], dtype=W.dtype, device=W.device).expand_as(W)
    P = eye
    for _ in range(_DOUBLINGS):
        P = P + power.mT @ P @ power
        power = power @ power
        if not (power != 0).any():
            break
    P = P / P.abs().amax((1, 2), keepdim=True)
    factor, info = torch.linalg.cholesky_ex(P)
    positive = (factor.diagonal(dim1=1, dim2=2) > _SMALLEST).all(1)
    certified = finite & (radius < 1) & (info == 0) & positive
    Q = torch.where(certified[:, None, None], factor.mT, eye)
    bounds = (torch.where(certified, bound, torch.inf) for bound in _conjugation_bounds(Q, W))
    return WeightedNorm(Q, *bounds)


def diagonal_scaling(W: Tensor) -> WeightedNorm:
    """‖D W D⁻¹‖₂ for a positive diagonal D, sought by balancing, Perron's vectors and descent.

    W (B, n, n). A diagonal D commutes with diag(ρ′), so L_ρ ‖D W D⁻¹‖₂ certifies an RNN too; D = I
    where what is found is not positive and finite, is spread too far, or certifies no less than
    ‖W‖₂. Sources: Osborne (balancing); Miller & Hardt, Section 2.
    """
    W = W.detach()
    d = _search_each(_descend, W.nan_to_num(0.0, 0.0, 0.0), torch.ones_like(W[:, 0]))
    top = d.amax(1, keepdim=True)
    d = d / torch.where((top > 0) & torch.isfinite(top), top, 1.0)
    usable = ((d > _SMALLEST) & (d <= 1)).all(1, keepdim=True)  # NaN is neither
    d = torch.where(usable, d, 1.0)
    scaled = d[:, :, None] * W / d[:, None, :]
    size = norm_up(scaled.flatten(1))
    rounding = add_up(mul_up(3 * UNIT, size), underflow(W.abs().flatten(1).amax(1)))
    bound, unweighted = add_up(certified_norm(scaled), rounding), certified_norm(W)
    d = torch.where((bound < unweighted)[:, None], d, 1.0)
    condition = div_up(d.amax(1), d.amin(1))
    return WeightedNorm(torch.diag_embed(d), torch.minimum(bound, unweighted), condition)


def perron_vector(W: Tensor) -> WeightedNorm:
    """max_i (|W| v)_i / v_i, with v > 0 close to the right Perron vector of |W|: W (B, n, n).

    L_ρ times it certifies an RNN in max |h_i|/v_i. Source: Perron; Horn & Johnson, Section 8.
    """
    size = W.detach().abs()
    v = _perron_weights(size.nan_to_num(0.0, 0.0))
    rows = div_up(sum_up(mul_up(size, v[:, None, :])), v)
    return WeightedNorm(v, rows.amax(1), div_up(norm_up(v), v.amin(1)))


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


def _radius(W: Tensor) -> Tensor:
    """max |eigenvalue| of each matrix (B, n, n), approximately."""
    radius: Tensor = torch.linalg.eigvals(W).abs().amax(1)
    return radius


def _search_each(search: Callable[[Tensor], Tensor], W: Tensor, fallback: Tensor) -> Tensor:
    """search(W) of (B, n, n) matrices; ``underflow_error`` for those on which LAPACK gives up."""
    try:
        return search(W)
    except RuntimeError:  # torch.linalg.LinAlgError is one
        if len(W) == 1:
            return fallback
        items = [slice(i, i + 1) for i in range(len(W))]
        return torch.cat([_search_each(search, W[item], fallback[item]) for item in items])


def _conjugation_bounds(Q: Tensor, W: Tensor) -> tuple[Tensor, Tensor]:
    """Upper bounds on ‖Q W Q⁻¹‖₂ and ‖Q‖₂‖Q⁻¹‖₂."""
    n, inverse = W.shape[1], certified_inverse(Q)
    X = inverse.X
    slack = mul_up(gamma(4 * n), norm_up((Q.abs() @ W.abs() @ X.abs()).flatten(1)))
    underflow_error = mul_up(underflow(W.abs().flatten(1).amax(1)), norm_up(X.flatten(1)))
    norm = add_up(certified_norm(Q @ W @ X), add_up(slack, underflow_error))
    return div_up(norm, inverse.room), mul_up(certified_norm(Q), inverse.norm)


def _perron_weights(size: Tensor) -> Tensor:
    """The right Perron vector of size + ε 11ᵀ, by repeated squaring."""
    top = size.amax((1, 2), keepdim=True)
    power = size / torch.where(top > 0, top, 1.0) + _LEAK
    for _ in range(_SQUARINGS):
        power = power @ power
        power = power / power.amax((1, 2), keepdim=True)
    v = power.sum(2)
    return v / v.amax(1, keepdim=True)


def _descend(W: Tensor) -> Tensor:
    """A positive d (B, n) with small ‖D W D⁻¹‖₂, by subgradient steps on log d."""
    size = W.abs()
    perron = (
        torch.log(_perron_weights(size.mT) / _perron_weights(size)) / 2
    )  # optimal if W is non-negative
    balanced = _balance(size)
    at_perron, at_balanced = (
        torch.linalg.matrix_norm(_scaled(W, log_d), 2) for log_d in (perron, balanced)
    )
    log_d = torch.where((at_perron < at_balanced)[:, None], perron, balanced)
    best, least = log_d, torch.full_like(at_perron, torch.inf)
    for step in range(1, _STEPS + 1):
        left_vectors, norms, right_vectors = torch.linalg.svd(_scaled(W, log_d))
        better = norms[:, 0] < least
        best = torch.where(better[:, None], log_d, best)
        least = torch.where(better, norms[:, 0], least)
        log_d = log_d - (left_vectors[:, :, 0] ** 2 - right_vectors[:, 0] ** 2) / step**0.75
    return torch.exp(best - best.amax(1, keepdim=True))


def _balance(size: Tensor) -> Tensor:
    """log d for which the rows and columns of D |W| D⁻¹ have equal Euclidean norms, nearly."""
    log_d = torch.zeros_like(size[:, 0])
    for _ in range(_SWEEPS):
        scaled = _scaled(size, log_d)
        rows, columns = scaled.norm(dim=2), scaled.norm(dim=1)
        step = torch.log(columns / rows) / 4  # half of Osborne's, all coordinates at once
        log_d = log_d + torch.where(torch.isfinite(step), step, 0.0)
    return log_d


def _scaled(W: Tensor, log_d: Tensor) -> Tensor:
    return W * torch.exp(log_d[:, :, None] - log_d[:, None, :])
