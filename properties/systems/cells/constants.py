"""The certified constants of cells in the norm of the box, by the names of the vocabulary.

Those that are uniform hold on Ω, the weights near a cell's.

‖s‖_box = max |s_j|/v_j over the state, for the unit weights v of the comparison: what a certificate
prints of the norm `perron`. All is rounded up.
Gradients of the loss have the dual norm: a row c counts as Σ v_j|c_j|, over the output alone.
Source: Miller & Hardt, Section 3, in this norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from rnnbounds.impl.gradients.constants import drift, forgotten, gradient_window, lipschitz
from rnnbounds.impl.norms.comparison import UnitNorms
from rnnbounds.impl.norms.readout_norms import WeightedMaximumDual
from rnnbounds.impl.numbers.outward import div_up, subtract_down
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.caching import cached_reading
from rnnbounds.properties.systems.cells.batch import Cells, omega_of_cells, require_cells
from rnnbounds.properties.systems.draws import Array
from rnnbounds.properties.systems.other_inputs import x_gap

Tensor = torch.Tensor
Read = Callable[[Batch], Tensor]


class OmegaConstants:
    """The constants of a batch on Ω by their plain names, (B,) each; infinite where not known."""

    def __init__(self, batch: Batch) -> None:
        self.loss, self.omega = batch.loss, omega_of_cells(batch)
        self.cache: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.cache:
            self.cache[name] = self._read(name).nan_to_num(torch.inf, torch.inf)
        return self.cache[name]

    def _read(self, name: str) -> Tensor:
        omega, v = self.omega, self.omega.v
        match name:
            case "lam":
                return omega.comparison.factor(v)
            case "S_0":
                return div_up(omega.comparison.drive, v).amax(1)
            case "B_h":
                size = div_up(omega.box, v).amax(1)
                return torch.minimum(size, div_up(self["S_0"], self.gap))
            case "L_p":
                return self.loss.slope(self["B_h"], self.dual)
            case "beta_p":
                return self.loss.curvature_in(self.dual)
        return omega.smoothness[name]

    @property
    def gap(self) -> Tensor:
        """At most 1 − λ, zero if λ ≥ 1."""
        return subtract_down(1.0, self["lam"]).clamp(min=0.0)

    @property
    def dual(self) -> WeightedMaximumDual:
        """Dual norm Σ v_j|c_j| of rows c over the output, for the unit weights v on Ω."""
        return WeightedMaximumDual(self.omega.v[:, -self.omega.cells.n :])


omega_constants = cached_reading(OmegaConstants)


def omega_reading(name: str) -> Read:
    """The constant on Ω of that plain name."""
    return lambda batch: omega_constants(batch)[name]


def window_errors(batch: Batch) -> Tensor:
    """ε_k ≥ ‖∇p_T − ∇p_T^k‖ for every T and all weights of Ω, k = 0 … K: (B, K+1)."""
    bounds = omega_constants(batch)
    return gradient_window(bounds["lam"], forgotten(bounds), drift(bounds), batch.K)


def norm_reading(read: Callable[[UnitNorms], Tensor]) -> Read:
    """A number that each system's norm has."""
    return lambda batch: read(require_cells(batch).unit_norms)


B_h_box = norm_reading(lambda norms: norms.states)  # the box's own size, or S_0/(1 − λ)


def output_dual_norm(batch: Batch) -> WeightedMaximumDual:
    """Build the dual norm Σ v_j|c_j| of rows c over the output, for each system's weights v."""
    cells = require_cells(batch)
    return WeightedMaximumDual(cells.v[:, -cells.n :])


def smoothness_reading(name: str) -> Read:
    """One of L_w, β_hh, β_wh and β_ww, of a step in the state and in all weights."""
    return lambda batch: require_cells(batch).smoothness[name]


SMOOTHNESS = ("L_w", "beta_hh", "beta_wh", "beta_ww")
CONSTANTS: dict[str, Read] = {
    "lam_box": norm_reading(lambda norms: norms.lam),
    "S_0_box": norm_reading(lambda norms: norms.drive),
    "B_h_box": B_h_box,
    "C_box": norm_reading(lambda norms: norms.equivalence),
    "L_x_box": norm_reading(lambda norms: norms.input_lipschitz),
    **{f"{name}_box": smoothness_reading(name) for name in ("L_w", "beta_hh", "beta_wh")},
    "L_f": lambda batch: certified_norm(batch.C),
    "L_p_box": lambda batch: batch.loss.slope(B_h_box(batch), output_dual_norm(batch)),
    "beta_p_box": lambda batch: batch.loss.curvature_in(output_dual_norm(batch)),
    **{f"{name}_omega": omega_reading(name)
       for name in ("lam", "S_0", "B_h", "L_p", "beta_p", *SMOOTHNESS)},
    "beta": lambda batch: lipschitz(omega_constants(batch)),
    "eps_k": window_errors,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class CertifiedCells(Cells):
    """Cells with the constants of this module."""

    @property
    def constants(self) -> dict[str, Tensor]:
        """Certified constants that cells of this kind alone have, (B,) each."""
        return {}

    def constant(self, batch: Batch, name: str) -> Array:
        """A constant, (B, 1, 1), but (B, 1, K+1) of each window and (B, S, 1) of each pair;
        infinite where nothing is known."""
        count = batch.cell.batch
        if name in CONSTANTS:
            return CONSTANTS[name](batch).detach().cpu().numpy().reshape(count, 1, -1)
        if name == "x_gap":
            return x_gap(batch)
        if name in self.constants:
            return self.constants[name].detach().cpu().numpy().reshape(count, 1, 1)
        return np.full((count, 1, 1), np.inf)
