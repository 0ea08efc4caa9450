"""Orthogonal and unitary dilations of a contraction: W as the leading block of a larger V.

With the singular value decomposition W = P Σ Q* and K = (I − Σ²)^½, which is computed as
√(1−σ)√(1+σ) so that nothing cancels near ‖W‖₂ = 1,

    V = ( W       P_q K_q )
        ( K_q Q_q*  −Σ_q  ),

where q = rank(I − W*W) keeps the singular values below 1: W₃*W₃ = I − W*W, and no dilation has
fewer than n + q rows. Sources: Emami et al., Theorem 3.1; Halmos, Normal dilations (1950).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, PrecisionError, ShapeError, at_least
from rnnbounds.impl.numbers.outward import UNIT, add_up, gamma, mul_up, norm_bound
from rnnbounds.impl.numbers.rationals import defect_rank, real_form
from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

EXACT = 64  # rows up to which a norm of exactly 1 is decided in rationals

_SPLIT = 1.5 * 2.0**26  # adding and subtracting it rounds to multiples of 2⁻²⁶


class NotContractionError(InputError):
    """A matrix of which ‖W‖₂ ≤ 1 is not proved."""

    def __init__(self, norm: float) -> None:
        super().__init__(
            f"‖W‖₂ ≤ {at_least(norm, 17)} is all that is proved; a dilation needs ‖W‖₂ ≤ 1; "
            f"project it with rnnbounds.stable"
        )


@dataclass(frozen=True, eq=False)
class Dilation:
    """V (n+q, n+q) with leading block W bit for bit, and what is proved about it.

    defect: at least ‖V*V − I‖_F, so at least ‖V*V − I‖₂. norm: an upper bound on ‖W‖₂.
    """

    V: Tensor
    n: int
    norm: float
    defect: float

    @property
    def q(self) -> int:
        """How many rows were added."""
        return len(self.V) - self.n

    @property
    def W3(self) -> Tensor:
        """The lower left block (q, n), with W₃*W₃ = I − W*W."""
        return self.V[self.n :, : self.n]


def dilate(W: Tensor, norm: float | None = None) -> Dilation:
    """The dilation with the fewest rows, n + rank(I − W*W), of W (n, n), float64 or complex128.

    The rank is n where the certified norm is below 1; else it and ‖W‖₂ ≤ 1 are decided in exact
    rationals for n ≤ EXACT (a complex W counts twice). ``norm`` is a certified bound on ‖W‖₂, if
    one is known. One singular value decomposition.
    Raises NotContractionError where ‖W‖₂ ≤ 1 is not proved, ShapeError, PrecisionError.
    Source: Emami et al., Theorem 3.1.
    """
    norm, q = _rank(W, norm)
    n = len(W)
    P, sigma, Qh = torch.linalg.svd(W)
    kept = slice(n - q, None)  # singular values come in descending order
    s = sigma[kept].clamp(max=1.0)
    K = _cosine(s)
    right, low = P[:, kept] * K, K[:, None] * Qh[kept]
    V = torch.cat([torch.cat([W, right], 1), torch.cat([low, torch.diag(-s).to(W.dtype)], 1)])
    return Dilation(V, n, norm, orthogonality_defect(V))


def orthogonality_defect(V: Tensor) -> float:
    """At least ‖V*V − I‖_F of one matrix (m, k), float64 or complex128; infinity if V is not near.

    V = V₁ + V₂ with V₁ in multiples of 2⁻²⁶. The entries of V₁ᵀV₁ are then sums of multiples of
    2⁻⁵², and where its diagonal is below 2 all partial sums are, so that none is rounded, in any
    order. What is rounded is M = (V₁ + V₂/2)ᵀV₂, of which VᵀV − I = (V₁ᵀV₁ − I) + M + Mᵀ holds
    exactly, and M is tiny. Two products; only Strassen's are excluded. Source: Ozaki et al.,
    Error-free transformations of matrix multiplication (2012).
    """
    real = (real_form(V) if V.is_complex() else V).detach().cpu()
    if real.dtype != torch.float64:
        raise PrecisionError("V", V.dtype)
    if not real.abs().max() <= 2:
        return float("inf")
    high = (real + _SPLIT) - _SPLIT
    low = real - high
    gram = high.mT @ high
    if not gram.diagonal().max() < 2:
        return float("inf")
    middle = high + low / 2
    rest = middle.mT @ low
    both = rest + rest.mT
    residual = (gram - torch.eye(len(gram), dtype=real.dtype)) + both
    size = norm_bound(residual, (0, 1))
    product = mul_up(norm_bound(middle, (0, 1)), norm_bound(low, (0, 1)))
    lost = mul_up(2 * gamma(len(real) + 1), product)
    sums = mul_up(2 * UNIT, add_up(norm_bound(both, (0, 1)), size))
    return float(add_up(add_up(add_up(size, lost), sums), len(gram) ** 2 * len(real) * 2.0**-1000))


def _cosine(sigma: Tensor) -> Tensor:
    return torch.sqrt(1 - sigma) * torch.sqrt(1 + sigma)


def _rank(W: Tensor, norm: float | None = None) -> tuple[float, int]:
    """An upper bound on ‖W‖₂ ≤ 1 and rank(I − W*W)."""
    if W.ndim != 2 or W.shape[0] != W.shape[1] or not len(W):
        raise ShapeError("W", "(n, n) with n ≥ 1", W)
    if W.dtype not in (torch.float64, torch.complex128):
        raise PrecisionError("W", W.dtype)
    real = real_form(W) if W.is_complex() else W
    norm = float(certified_norm(real[None])) if norm is None else norm
    if norm < 1:
        return norm, len(W)
    if len(real) > EXACT or not rational_norm_at_most(real, 1.0):
        raise NotContractionError(norm)
    return 1.0, defect_rank(W)
