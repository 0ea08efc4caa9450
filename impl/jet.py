"""Jets: Lipschitz constants of a map of a state h and of weights w, and of its two derivatives.

A jet is carried through a network layer by layer. Where layer l maps u ↦ ρ(W u + U x + b), the
directions δw of the layers before l and of l itself are orthogonal, so the affine part has

    a_h = ‖W‖ℓ_h,  a_w = √((‖W‖ℓ_w)² + R²),  a_hh = ‖W‖s_hh,  a_hw = √((‖W‖s_hw)² + ℓ_h²),
    a_ww = ½(m + √(m² + 4ℓ_w²)),  m = ‖W‖s_ww, the norm of the form (m, ℓ_w; ℓ_w, 0),

with R² = sup‖u‖² + [l = 1]‖x‖² + 1, and the activation adds β_ρ times products of a_h and a_w. All
in Euclidean norms and rounded up. Source: Miller & Hardt, Section 3 (chain rule of second order).
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from impl.activation import Activation
from impl.outward import add_up, mul_up, norm_up


@dataclass(frozen=True, eq=False)
class Jet:
    """Upper bounds (B,) for u(h, w): ``h`` and ``w`` on ‖∂_h u‖ and ‖∂_w u‖, the others on ∂²u.

    ``hh``, ``hw`` and ``ww`` are Lipschitz constants: of ∂_h u in h, of ∂_h u in w (and of ∂_w u in
    h), of ∂_w u in w.
    """

    h: Tensor
    w: Tensor
    hh: Tensor
    hw: Tensor
    ww: Tensor

    @classmethod
    def of_state(cls, like: Tensor) -> Self:
        """The jet of u = h, for as many systems as ``like`` (B,) has entries."""
        zero = torch.zeros_like(like)
        return cls(zero + 1, zero, zero, zero, zero)

    def affine(self, W_norm: Tensor, R: Tensor, *, trained: bool = True) -> Self:
        """Through W u + U x + b with ‖W‖₂ ≤ W_norm, R as above; W itself trained or not."""
        own_h, own_w = (mul_up(float(trained), part) for part in (self.h, self.w))
        m = mul_up(W_norm, self.ww)
        return type(self)(
            h=mul_up(W_norm, self.h),
            w=_hypotenuse(mul_up(W_norm, self.w), R),
            hh=mul_up(W_norm, self.hh),
            hw=_hypotenuse(mul_up(W_norm, self.hw), own_h),
            ww=mul_up(0.5, add_up(m, _hypotenuse(m, mul_up(2.0, own_w)))),
        )

    def activated(self, rho: Activation) -> Self:
        """Through ρ, entry by entry: ‖ρ″ ∘ a ∘ b‖ ≤ β_ρ‖a‖‖b‖."""
        L, beta = rho.slope, rho.curvature

        def second(inner: Tensor, a: Tensor, b: Tensor) -> Tensor:
            return add_up(mul_up(L, inner), mul_up(beta, mul_up(a, b)))

        return type(self)(
            h=mul_up(L, self.h),
            w=mul_up(L, self.w),
            hh=second(self.hh, self.h, self.h),
            hw=second(self.hw, self.h, self.w),
            ww=second(self.ww, self.w, self.w),
        )


def _hypotenuse(a: Tensor, b: Tensor) -> Tensor:
    return norm_up(torch.stack([a, b], dim=-1))
