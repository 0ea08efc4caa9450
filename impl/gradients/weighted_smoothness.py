"""Constants of gradients in the weights for the weighted norms of the state, for one cell.

The weights stay Euclidean. In the coordinates h̃ = Q h of a linear system the state norm is
‖h̃‖₂ = ‖Q h‖₂, L_w = ‖Q‖₂R, β_wh = [W]‖Q‖₂‖Q⁻¹‖₂, β_hh = β_ww = 0, and the readout is C Q⁻¹. In
‖h‖_v = max |h_i|/v_i, where entry i of ∂_wφ δw sees row i of δw alone,

    L_w = L_ρ R/min v,  β_hh = β_ρ max_i (|W|v)_i²/v_i,  β_ww = β_ρ R²/min v,
    β_wh = β_ρ R max_i (|W|v)_i/v_i + [W]L_ρ‖v‖₂/min v.

R is the Euclidean one, with ‖h‖₂ ≤ ‖Q⁻¹‖‖Q h‖₂ and ‖h‖₂ ≤ ‖v‖₂‖h‖_v; the losses' constants are in
the dual norms. All numbers are rounded up. Source: Miller & Hardt, Sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rnnbounds.impl.gradients.smoothness import mixed, radius
from rnnbounds.impl.gradients.supply import Supply
from rnnbounds.impl.norms.readout_norms import QuadraticDual, WeightedMaximumDual
from rnnbounds.impl.numbers.outward import (
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


def _gap(c: Supply, name: str) -> Tensor:
    """At most 1 − λ in the norm, zero if λ ≥ 1."""
    return subtract_down(1.0, c[name]).clamp(min=0.0)


def _quadratic(formula: Callable[[Supply], Tensor]) -> Callable[[Supply], Tensor]:
    """The formula for linear systems, infinity for the others."""
    return lambda c: formula(c) if c.cell.activation.name == "identity" else c.filled(torch.inf)


def _quadratic_drive(c: Supply) -> Tensor:
    """S_0 = ‖QU‖₂B_x + ‖Qb‖₂ ≥ sup ‖Q φ(0, x)‖₂."""
    Q = c.P_root
    drives = torch.cat([c.cell.U.detach(), c.cell.b.detach()[:, :, None]], dim=2)
    spread = mul_up(gamma(2 * Q.shape[1] + 4), norm_up((Q.abs() @ drives.abs()).mT))
    error = add_up(spread, underflow(drives.abs().amax(1)))  # column by column, as |Q| ≤ 1
    transformed = Q @ drives
    inputs = add_up(certified_norm(transformed[:, :, :-1]), norm_up(error[:, :-1]))
    bias = add_up(norm_up(transformed[:, :, -1]), error[:, -1])
    return add_up(mul_up(inputs, c.B_x), bias)


def _quadratic_reach(c: Supply) -> Tensor:
    """R, with ‖h‖₂ ≤ min(‖Q⁻¹‖B_h, the Euclidean bound)."""
    h_norm = torch.minimum(mul_up(c.inverse.norm, c["B_h_P"]), c["B_h"])
    return radius(c.trained, h_norm, c.B_x)


def _quadratic_dual(c: Supply) -> QuadraticDual:
    return QuadraticDual(c.inverse)


def _maximum_drive(c: Supply) -> Tensor:
    """S_0 = max_i (L_ρ‖U_i‖₂B_x + |ρ(b_i)|)/v_i ≥ sup ‖φ(0, x)‖_v."""
    from_inputs = mul_up(mul_up(c["L_rho"], c.B_x)[:, None], norm_up(c.cell.U.detach()))
    return div_up(add_up(from_inputs, c.region.units), c.v).amax(1)


def _maximum_states(c: Supply) -> Tensor:
    """B_h = min(S_0/(1 − λ), M_ρ/min v) ≥ ‖h_t‖_v."""
    box = div_up(c["M_rho"], _least(c))
    return torch.minimum(div_up(c["S_0_v"], _gap(c, "lam_v")), box)


def _maximum_reach(c: Supply) -> Tensor:
    """R, with ‖h‖₂ ≤ min(‖v‖₂B_h, the Euclidean bound)."""
    h_norm = torch.minimum(mul_up(norm_up(c.v), c["B_h_v"]), c["B_h"])
    return radius(c.trained, h_norm, c.B_x)


def _rows(c: Supply) -> Tensor:
    """|W|v, (B, n)."""
    return sum_up(mul_up(c.cell.W.detach().abs(), c.v[:, None]))


def _least(c: Supply) -> Tensor:
    return c.v.amin(1)


def _maximum_curvature(c: Supply) -> Tensor:
    """β_ρ max_i (|W|v)_i²/v_i."""
    rows = _rows(c)
    return mul_up(c["beta_rho"], div_up(mul_up(rows, rows), c.v).amax(1))


def _maximum_mixed(c: Supply) -> Tensor:
    """β_ρ R max_i (|W|v)_i/v_i + [W]L_ρ‖v‖₂/min v."""
    steepest = div_up(_rows(c), c.v).amax(1)
    from_states = mul_up(c["beta_rho"], mul_up(_maximum_reach(c), steepest))
    return add_up(from_states, mixed(c, mul_up(c["L_rho"], c.perron.condition)))


def _maximum_weights(c: Supply) -> Tensor:
    """β_ww = β_ρ R²/min v."""
    R = _maximum_reach(c)
    return div_up(mul_up(c["beta_rho"], mul_up(R, R)), _least(c))


def _maximum_dual(c: Supply) -> WeightedMaximumDual:
    return WeightedMaximumDual(c.v)


WEIGHTED_SMOOTHNESS: dict[str, Callable[[Supply], Tensor]] = {
    "S_0_P": _quadratic(_quadratic_drive),
    "B_h_P": _quadratic(lambda c: div_up(c["S_0_P"], _gap(c, "lam_P"))),
    "L_w_P": _quadratic(lambda c: mul_up(certified_norm(c.P_root), _quadratic_reach(c))),
    "beta_wh_P": _quadratic(lambda c: mixed(c, mul_up(certified_norm(c.P_root), c.inverse.norm))),
    "L_p_P": _quadratic(lambda c: c.slope(c["B_h_P"], _quadratic_dual(c))),
    "beta_p_P": _quadratic(lambda c: c.curvature(_quadratic_dual(c))),
    "S_0_v": _maximum_drive,
    "B_h_v": _maximum_states,
    "L_w_v": lambda c: div_up(mul_up(c["L_rho"], _maximum_reach(c)), _least(c)),
    "beta_hh_v": _maximum_curvature,
    "beta_wh_v": _maximum_mixed,
    "beta_ww_v": _maximum_weights,
    "L_p_v": lambda c: c.slope(c["B_h_v"], _maximum_dual(c)),
    "beta_p_v": lambda c: c.curvature(_maximum_dual(c)),
}
