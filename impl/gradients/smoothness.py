"""Constants of gradients in the weights, Euclidean on states and weights, uniform on a region.

For φ(h, x) = ρ(W h + U x + b), with R² = [W]B_h² + [U]B_x² + [b] over the trained blocks,

    L_w = L_ρ R,  β_hh = β_ρ‖W‖_{2→∞}‖W‖₂,  β_hw = β_wh = β_ρ R‖W‖_{2→∞} + [W]L_ρ,  β_ww = β_ρ R²,

since ∂_wφ δw = ρ′ ∘ (δW h + δU x + δb) and ‖u ∘ v‖₂ ≤ ‖u‖_∞‖v‖₂. Then, uniformly in T and k ≥ 1,

    ‖∇p_T − ∇p_T^k‖ ≤ ε_k = λᵏ G_0 + k λᵏ⁻¹ D_1,  G_0 = L_w(L_p + β_p B_h)/(1 − λ),
    D_1 = L_p B_h(β_wh + L_w β_hh/(1 − λ)),  G_1 = D_1/λ,

and ∇p_T and ∇p_T^k are β-Lipschitz in the weights. All numbers are rounded up, infinite where ρ′
jumps, λ ≥ 1 or no loss is given. Source: Miller & Hardt, Lemmas 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from rnnbounds.impl.gradients.loss import CrossEntropy, Squared
from rnnbounds.impl.gradients.supply import Supply
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


class Bounds(Protocol):
    """Constants of a contraction by name, (B,) each."""

    def __getitem__(self, name: str) -> Tensor:
        """The constant of that name."""

    @property
    def gap(self) -> Tensor:
        """At most 1 − λ, zero if λ ≥ 1."""


def radius(trained: str, h_norm: Tensor, x_norm: Tensor) -> Tensor:
    """R = ‖∂(W h + U x + b)/∂w‖₂ over the trained blocks: norms (B,) -> (B,)."""
    norms = {"W": h_norm, "U": x_norm, "b": torch.ones_like(x_norm)}
    return norm_up(torch.stack([norms[block] for block in trained], dim=-1))


def mixed(c: Supply, L: Tensor) -> Tensor:
    """[W] L: what a change of W adds to the mixed derivatives."""
    return L if "W" in c.trained else torch.zeros_like(L)


def gradient_window(lam: Tensor, G_0: Tensor, D_1: Tensor, K: int) -> Tensor:
    """ε_k = λᵏ G_0 + k λᵏ⁻¹ D_1 for k = 0 … K, (B, K+1); infinite at k = 0 (B, each)."""
    bounds, power = [torch.full_like(lam, torch.inf)], torch.ones_like(lam)
    for k in range(1, K + 1):
        previous, power = power, mul_up(power, lam)
        bounds.append(add_up(mul_up(power, G_0), mul_up(k, mul_up(previous, D_1))))
    return torch.stack(bounds, dim=1)


def _mixed_curvature(c: Supply) -> Tensor:
    """β_ρ R‖W‖_{2→∞} + [W]L_ρ."""
    from_states = mul_up(c["beta_rho"], mul_up(_reach(c), c["W_rows"]))
    return add_up(from_states, mixed(c, c["L_rho"]))


def _weight_curvature(c: Supply) -> Tensor:
    """β_ww = β_ρ R²."""
    R = _reach(c)
    return mul_up(c["beta_rho"], mul_up(R, R))


def _reach(c: Supply) -> Tensor:
    return radius(c.trained, c["B_h"], c.B_x)


def forgotten(c: Bounds) -> Tensor:
    """G_0 = L_w(L_p + β_p B_h)/(1 − λ)."""
    loss = add_up(c["L_p"], mul_up(c["beta_p"], c["B_h"]))
    return div_up(mul_up(c["L_w"], loss), c.gap)


def drift(c: Bounds) -> Tensor:
    """D_1 = L_p B_h(β_wh + L_w β_hh/(1 − λ))."""
    from_states = div_up(mul_up(c["L_w"], c["beta_hh"]), c.gap)
    return mul_up(mul_up(c["L_p"], c["B_h"]), add_up(c["beta_wh"], from_states))


def lipschitz(c: Bounds) -> Tensor:
    """β = β_p q² + L_p (q(β_hh q + β_hw) + β_wh q + β_ww)/(1 − λ), q = L_w/(1 − λ)."""
    q = div_up(c["L_w"], c.gap)
    state = mul_up(q, add_up(mul_up(c["beta_hh"], q), c["beta_hw"]))
    weight = add_up(mul_up(c["beta_wh"], q), c["beta_ww"])
    from_gradients = div_up(mul_up(c["L_p"], add_up(state, weight)), c.gap)
    return add_up(mul_up(c["beta_p"], mul_up(q, q)), from_gradients)


def _of_cross_entropy(c: Supply, bound: Callable[[CrossEntropy], Tensor]) -> Tensor:
    return bound(c.loss) if isinstance(c.loss, CrossEntropy) else c.filled(torch.inf)


def _of_squared(c: Supply, bound: Callable[[Squared], Tensor]) -> Tensor:
    return bound(c.loss) if isinstance(c.loss, Squared) else c.filled(torch.inf)


SMOOTHNESS: dict[str, Callable[[Supply], Tensor]] = {
    "W_rows": lambda c: c.region.W_rows,
    "L_w": lambda c: mul_up(c["L_rho"], _reach(c)),
    "beta_hh": lambda c: mul_up(c["beta_rho"], mul_up(c["W_rows"], c["W_norm"])),
    "beta_hw": _mixed_curvature,
    "beta_wh": lambda c: c["beta_hw"],
    "beta_ww": _weight_curvature,
    "L_p": lambda c: c.slope(c["B_h"]),
    "beta_p": lambda c: c.curvature(),
    "G_0": forgotten,
    "D_1": drift,
    "G_1": lambda c: div_up(c["D_1"], c["lam"]),
    "beta": lipschitz,
    "y_norm": lambda c: _of_squared(c, lambda loss: norm_up(loss.y.detach())),
    "C_norm_sq": lambda c: _of_squared(c, lambda loss: certified_norm(loss.C)),
    "C_spread": lambda c: _of_cross_entropy(c, lambda loss: loss.spread()),
    "C_label": lambda c: _of_cross_entropy(c, lambda loss: loss.slope(c.B_x)),
}
