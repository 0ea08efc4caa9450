"""Constants of states and of single steps, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from rnnbounds.impl.gradients.supply import Supply
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up
from rnnbounds.impl.numbers.spectra.radius import spectral_radius_bound
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


@cache
def _root(n: int) -> float:
    """At least √n."""
    return norm_up(torch.ones(n, dtype=torch.float64)).item()


def _drive(c: Supply) -> Tensor:
    """S_0 = L_ρ ‖U‖ B_x + ‖ρ(b)‖ ≥ sup ‖φ(0, x)‖."""
    return add_up(mul_up(c["L_x"], c.B_x), c.region.offset)


def _state_bound(c: Supply) -> Tensor:
    """B_h = min(S_0/(1 − λ), M_ρ √n)."""
    box = mul_up(c["M_rho"], _root(c.cell.n))
    contracted = torch.where(c.gap > 0, div_up(c["S_0"], c.gap), torch.inf)
    return torch.minimum(contracted, box)


STATES: dict[str, Callable[[Supply], Tensor]] = {
    "L_rho": lambda c: c.filled(c.cell.activation.slope),
    "beta_rho": lambda c: c.filled(c.cell.activation.curvature),
    "M_rho": lambda c: c.filled(c.cell.activation.bound),
    "W_norm": lambda c: c.region.W_norm,
    "U_norm": lambda c: c.region.U_norm,
    "B_x": lambda c: c.B_x,
    "lam": lambda c: mul_up(c["L_rho"], c["W_norm"]),
    "L_x": lambda c: mul_up(c["L_rho"], c["U_norm"]),
    "L_f": lambda c: c.filled(1.0) if c.C is None else certified_norm(c.C),
    "S_0": _drive,
    "phi_0": lambda c: c.region.offset,
    "B_h": _state_bound,
    "W_radius": lambda c: spectral_radius_bound(c.cell.W),
    "lam_P": lambda c: c.quadratic.factor,
    "lam_D": lambda c: mul_up(c["L_rho"], c.diagonal.factor),
    "lam_v": lambda c: mul_up(c["L_rho"], c.perron.factor),
}
