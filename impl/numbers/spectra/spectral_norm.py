"""Certified upper bounds on ‖W‖₂ from floating-point Cholesky factorisations, in batch.

If ‖W‖₂ ≤ s then s²I − WᵀW is positive semidefinite. Conversely let A = fl(s²I − WᵀW), with W of m
rows and n columns, and let the Cholesky factorisation of A − cI run to completion in float64. Then

- R̂ᵀR̂ = A − cI + Δ with ‖Δ‖₂ ≤ γ/(1−γ) tr(A − cI), γ = γ_{n+2} (Demmel; Higham, Theorem 10.3;
  one rounding more than there, for libraries that multiply by reciprocals of pivots),
- fl(WᵀW) is off by at most γ_m |W|ᵀ|W|, so by γ_m ‖W‖_F² in the 2-norm, whatever the order of
  summation (fused or not; only Strassen's products are excluded),
- the squaring of s and the two subtractions on the diagonal are off by at most 4u s²,

so that s²I − WᵀW ⪰ (c − (n+3)u tr A − (m+1)u ‖W‖_F² − 4u s²) I. With
c = (n+4)u tr A + (m+2)u ‖W‖_F² + 5u s² the bracket is positive: the surplus u (tr A + ‖W‖_F² + s²)
covers the rounding of c itself, as long as (m+n+10)² u ≤ 1, and the underflow, as long as s is near
1, to which W is scaled by a power of two. So a completed factorisation proves ‖W‖₂ < s.

The factorisation is done on the CPU, whatever the device, since the inverted blocks of some GPU
libraries do not obey the first bound. Sources: Rump, Verification of positive definiteness (2006);
Higham, Accuracy and Stability of Numerical Algorithms.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.outward import (
    UNIT,
    add_up,
    apply_to_arrays,
    mul_up,
    norm_up,
    sqrt_up,
    sum_up,
    underflow,
)
from rnnbounds.impl.numbers.scaling import exponent, shift, shift_up

_DOUBLINGS = 12
_MODERATE = 400  # exponents of s at which neither overflow nor underflow matters
_SMALL, _KEPT = 2**14, 256  # entries of matrices whose norms are kept, and of how many batches

Array = Any  # of NumPy's, of float64 or of booleans


def certified_norm(W: Tensor) -> Tensor:
    """An upper bound on ‖W‖₂ for each matrix, at any scale: W (B, m, n) -> (B,) float64.

    Rigorous, and above the norm by at most 0.7 (m+4)(n+1) u of it in practice, m ≥ n; exact for
    zero and 1×1 matrices, rounded outward for a row or column; infinity if W is not finite.
    Raises ShapeError. Source: Rump; Higham.
    """
    V = np.ascontiguousarray(_tall_array(W))
    if V.shape[2] == 1:
        return norm_up(torch.from_numpy(V[:, :, 0])).to(W.device)
    bounds = (
        _spectral_norm_bounds(V) if V.size > _SMALL else _cached_bounds(V.shape, V.tobytes()).copy()
    )
    return torch.from_numpy(bounds).to(W.device)


def scaled_norm(d: Tensor, W: Tensor) -> Tensor:
    """At least ‖diag(d) W‖₂ for d ≥ 0 (B, m), with the rounding of the product: W (B, m, n)."""
    product = d[:, :, None] * W.detach()
    lost = add_up(mul_up(2 * UNIT, norm_up(product.flatten(1))), underflow(d.amax(1)))
    return add_up(certified_norm(product), lost)


@lru_cache(maxsize=_KEPT)
def _cached_bounds(shape: tuple[int, ...], entries: bytes) -> Array:
    """`_spectral_norm_bounds`, cached: many constants of one cell ask for norms of the same
    weights."""
    return _spectral_norm_bounds(np.frombuffer(entries).reshape(shape))


def _spectral_norm_bounds(V: Array) -> Array:
    """Upper bounds on ‖V‖₂ of each matrix (B, m, n), infinite where an entry is."""
    with np.errstate(all="ignore"):
        largest = np.abs(V).max((1, 2))
        finite = np.isfinite(largest)
        if not finite.all():
            V = np.where(finite[:, None, None], V, 0.0)
        scale = exponent(largest)
        bound = shift_up(_search(shift(V, -scale[:, None, None])), scale)
    return np.where(finite, bound, np.inf)


def is_norm_below(W: Tensor, s: Tensor) -> Tensor:
    """True where ‖W‖₂ < s is proved for each matrix: W (B, m, n), s (B,) -> (B,) booleans.

    False is no refutation. About a quarter of the cost of the singular values.
    Raises ShapeError. Source: Rump; Higham.
    """
    V, target = _tall_array(W), s.detach().cpu().numpy()
    with np.errstate(all="ignore"):
        scale = exponent(target)
        if np.abs(scale).max() > _MODERATE:
            V, target = shift(V, -scale[:, None, None]), shift(target, -scale)
        gram, square = _gram(V), target * target
        c = _diagonal_shift(gram, square, V.shape[1])
        passed = _factorises(np.negative(gram, out=gram), square, c) & (target > 0)
    return torch.from_numpy(passed).to(W.device)


def frobenius_bound(W: Tensor) -> Tensor:
    """min(‖W‖_F, √(‖W‖₁ ‖W‖_∞)) rounded up, an upper bound on ‖W‖₂: W (B, m, n) -> (B,)."""
    frobenius = norm_up(W.flatten(1))
    scale = exponent(W.abs().flatten(1).amax(1))
    size = shift(W.abs(), -scale[:, None, None])
    lost = size.shape[1] * 2.0**-1000
    rows, columns = sum_up(size).amax(1), sum_up(size.mT).amax(1)
    schur = sqrt_up((rows + lost) * (columns + lost) * (1 + 4 * UNIT))
    return torch.minimum(frobenius, shift_up(schur, scale))


def _search(V: Array) -> Array:
    """A bound for each matrix, scaled so that its greatest entry is near 1."""
    gram, rows = _gram(V), V.shape[1]
    top = torch.linalg.eigvalsh(torch.from_numpy(gram)).numpy()[:, -1]
    top = np.maximum(top, 0.0)
    excess = 1.25 * _diagonal_shift(gram, top, rows)
    square = top + excess
    passed = _proves_bounds(gram, square, rows) | ~V.any(
        (1, 2)
    )  # and 0 passes for the norm of zeros
    for _ in range(_DOUBLINGS):
        unproved = np.flatnonzero(~passed)
        if not len(unproved):
            break
        excess = 2 * excess
        square[unproved] = (top + excess)[unproved]
        passed[unproved] = _proves_bounds(gram[unproved], square[unproved], rows)
    bound: Array = apply_to_arrays(lambda up, s: up.root(s), square)
    if passed.all():
        return bound
    return np.where(passed, bound, frobenius_bound(torch.from_numpy(V)).numpy())


def _proves_bounds(gram: Array, square: Array, rows: int) -> Array:
    """True where the factorisation of fl(s²I − WᵀW) − cI completes: (B,) booleans."""
    return _factorises(-gram, square, _diagonal_shift(gram, square, rows))


def _diagonal_shift(gram: Array, square: Array, rows: int) -> Array:
    """c = (n+4)u tr A + (m+2)u ‖W‖_F² + 5u s², the shift that covers all rounding errors."""
    diagonal = gram.diagonal(0, 1, 2)
    trace = np.abs(square[:, None] - diagonal).sum(1)
    n = gram.shape[1]
    return UNIT * ((n + 4) * trace + (rows + 2) * diagonal.sum(1) + 5 * square)


def _factorises(negated: Array, square: Array, c: Array) -> Array:
    """True where fl(s²I − WᵀW) − cI is factorised, given −fl(WᵀW), which it overwrites: (B,)."""
    n = negated.shape[1]
    diagonal = negated.reshape(len(negated), n * n)[:, :: n + 1]
    diagonal += square[:, None]
    diagonal -= c[:, None]
    # The upper triangle of the transpose lies in memory as LAPACK wants it: nothing is moved.
    factor, info = torch.linalg.cholesky_ex(torch.from_numpy(negated).mT, upper=True)
    pivots = factor.numpy().diagonal(0, 1, 2)
    return (info.numpy() == 0) & ((pivots > 0) & (pivots < np.inf)).all(1)


def _gram(V: Array) -> Array:
    """VᵀV: of a matrix and its own transpose NumPy's library computes one triangle alone."""
    return V.swapaxes(1, 2) @ V


def _tall_array(W: Tensor) -> Array:
    """W on the CPU in float64, at least as tall as wide."""
    if W.ndim != 3:
        raise ShapeError("W", "(batch, m, n)", W)
    return _tall(W.detach().to("cpu", torch.float64).resolve_neg().numpy())


def _tall(V: Array) -> Array:
    return V.swapaxes(1, 2) if V.shape[1] < V.shape[2] else V
