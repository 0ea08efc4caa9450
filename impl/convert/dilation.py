"""Orthogonal dilations of a contraction: W as the leading block of a larger V.

With the singular value decomposition W = P Σ Qᵀ and K = (I − Σ²)^½, which is computed as
√(1−σ)√(1+σ) so that nothing cancels near ‖W‖₂ = 1,

    V = ( W     P K )
        ( K Qᵀ  −Σ  ),

so that W₃ᵀW₃ = I − WᵀW. Where ‖W‖₂ < 1 no dilation has fewer than 2n rows.
Sources: Emami et al., Theorem 3.1; Halmos, Normal dilations (1950).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.errors import NotFiniteError, PrecisionError
from rnnbounds.impl.numbers.outward import UNIT, add_up, gamma, mul_up, norm_bound

_SPLIT = 1.5 * 2.0**26  # adding and subtracting it rounds to multiples of 2⁻²⁶


@dataclass(frozen=True, eq=False)
class Dilation:
    """V (2n, 2n) with leading block W bit for bit, and what is proved about it.

    defect: at least ‖VᵀV − I‖_F, so at least ‖VᵀV − I‖₂.
    """

    V: Tensor
    n: int
    defect: float

    @property
    def W3(self) -> Tensor:
        """The lower left block (n, n), with W₃ᵀW₃ = I − WᵀW."""
        return self.V[self.n :, : self.n]


def dilate(W: Tensor) -> Dilation:
    """The dilation with the fewest rows of W (n, n) in float64, where ‖W‖₂ < 1: 2n.

    One singular value decomposition. Source: Emami et al., Theorem 3.1.
    """
    P, sigma, Qh = torch.linalg.svd(W)
    s = sigma.clamp(max=1.0)
    K = torch.sqrt(1 - s) * torch.sqrt(1 + s)
    right, low = P * K, K[:, None] * Qh
    V = torch.cat([torch.cat([W, right], 1), torch.cat([low, torch.diag(-s)], 1)])
    return Dilation(V, len(W), orthogonality_defect(V))


def orthogonality_defect(V: Tensor) -> float:
    """At least ‖VᵀV − I‖_F of one matrix (m, k) in float64; infinity if V is not near.

    V = V₁ + V₂ with V₁ in multiples of 2⁻²⁶. The entries of V₁ᵀV₁ are then sums of multiples of
    2⁻⁵², and where its diagonal is below 2 all partial sums are, so that none is rounded, in any
    order. What is rounded is M = (V₁ + V₂/2)ᵀV₂, of which VᵀV − I = (V₁ᵀV₁ − I) + M + Mᵀ holds
    exactly, and M is tiny. Two products; only Strassen's are excluded. Source: Ozaki et al.,
    Error-free transformations of matrix multiplication (2012).
    """
    V = V.detach().cpu()
    if V.dtype != torch.float64:
        raise PrecisionError("V", V.dtype)
    if not V.abs().max() <= 2:
        return float("inf")
    high = (V + _SPLIT) - _SPLIT
    low = V - high
    gram = high.mT @ high
    if not gram.diagonal().max() < 2:
        return float("inf")
    middle = high + low / 2
    rest = middle.mT @ low
    both = rest + rest.mT
    residual = (gram - torch.eye(len(gram), dtype=V.dtype)) + both
    size = norm_bound(residual, (0, 1))
    product = mul_up(norm_bound(middle, (0, 1)), norm_bound(low, (0, 1)))
    lost = mul_up(2 * gamma(len(V) + 1), product)
    sums = mul_up(2 * UNIT, add_up(norm_bound(both, (0, 1)), size))
    return float(add_up(add_up(add_up(size, lost), sums), len(gram) ** 2 * len(V) * 2.0**-1000))


def polar(A: Tensor) -> Tensor:
    """PQᵀ of A = PΣQᵀ: the Frobenius-nearest orthogonal matrix, A (…, n, n).

    Raises NotFiniteError. Source: Fan & Hoffman (1955).
    """
    if not bool(torch.isfinite(A).all()):
        raise NotFiniteError("A")
    P, _, Qh = torch.linalg.svd(A)
    factor: Tensor = P @ Qh
    return factor
