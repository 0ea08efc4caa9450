"""All weights near those of a cell, and the constants that hold for each of them.

Ω has, parameter by parameter, the weights no further from the cell's than its other weights are:
w′_ij = w_ij(1 + σ_ij) for fixed shares σ_ij, so that w − w′ is exact (Sterbenz). The shares of a
mix stand still. Source: Miller & Hardt, Section 3, for constants that are uniform on Ω.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch

from rnnbounds.impl.arithmetic.derivatives.second_order import constants, jets
from rnnbounds.impl.arithmetic.slopes import compare
from rnnbounds.impl.arithmetic.spans import reached
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.gradients.smoothness import drift, forgotten, gradient_window, lipschitz
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.readout_norms import WeightedMaximumDual
from rnnbounds.impl.numbers.outward import div_up, mul_up, norm_up, subtract_down
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.supply.members import Members

Tensor = torch.Tensor
LARGEST_SHARE = 0.25
# How much larger than the cell's own the box is taken, until no weights of Ω leave it.
GROWTH = (1.0, 1.03125, 1.125, 1.5, 3.0, 9.0)


@dataclass(frozen=True, eq=False)
class Omega:
    """The weights within a share of those of B cells."""

    cells: Cells
    share: float

    @cached_property
    def other(self) -> dict[str, Tensor]:
        """The other weights, (B, …) by name."""
        return self.cells.near(min(self.share, LARGEST_SHARE))

    @cached_property
    def moved(self) -> dict[str, Tensor]:
        """w − w′, exactly."""
        return {name: part - self.other[name] for name, part in self.cells.parameters.items()}

    @cached_property
    def radii(self) -> dict[str, Tensor]:
        """At least the distance of either's parameters from the other's, (B,) by name."""
        return {name: norm_up(part.flatten(1)) for name, part in self.moved.items()}

    @cached_property
    def box(self) -> Tensor:
        """A box (B, N) that no weights of Ω leave, infinite where none is found."""
        start = self.cells.box
        found = torch.full_like(start, torch.inf)
        for growth in GROWTH:
            wide, open_ = mul_up(growth, start), torch.isinf(found).all(1)
            if not bool(open_.any()):
                break
            there = self._reached(wide)
            kept = (there <= wide).all(1) & open_
            found = torch.where(kept[:, None], there, found)
        return found

    def _reached(self, box: Tensor) -> Tensor:
        cells, B = self.cells, self.cells.B_x[:, None]
        return reached(cells.cell.program, cells.parameters, box, B, cells.cell.d, radii=self.radii)

    @cached_property
    def comparison(self) -> Comparison:
        """What bounds |φ(s, x) − φ(s', x)| on it, for all weights of Ω."""
        cells, B = self.cells, self.cells.B_x[:, None]
        return compare(
            cells.cell.program, cells.parameters, self.box, B, cells.cell.d, radii=self.radii
        )

    @cached_property
    def v(self) -> Tensor:
        """The unit weights (B, N) of max |s_j|/v_j."""
        return self.comparison.perron()

    @cached_property
    def smoothness(self) -> dict[str, Tensor]:
        """L_w, β_hh, β_hw = β_wh and β_ww of a step."""
        cells = self.cells
        found = jets(
            cells.cell.program, cells.parameters, self.box, self.v, cells.B_x[:, None],
            cells.cell.d, gates=kind_of(cells.kind).gates or 1, radii=self.radii,
        )  # fmt: skip
        return constants(found, self.v)


@dataclass(frozen=True, eq=False)
class Uniform:
    """The constants of a batch on Ω by their plain names, (B,) each; infinite where not known."""

    batch: Members
    omega: Omega

    def __getitem__(self, name: str) -> Tensor:
        key = f"uniform {name}"
        if key not in self.batch.cache:
            self.batch.cache[key] = self._read(name).nan_to_num(torch.inf, torch.inf)
        found: Tensor = self.batch.cache[key]
        return found

    def _read(self, name: str) -> Tensor:
        omega, loss, v = self.omega, self.batch.loss, self.omega.v
        match name:
            case "lam":
                return omega.comparison.factor(v)
            case "S_0":
                return div_up(omega.comparison.drive, v).amax(1)
            case "B_h":
                size = div_up(omega.box, v).amax(1)
                return torch.minimum(size, div_up(self["S_0"], self.gap))
            case "L_p":
                return loss.slope(self["B_h"], self.dual)
            case "beta_p":
                return loss.curvature_in(self.dual)
        return omega.smoothness[name]

    @property
    def gap(self) -> Tensor:
        """At most 1 − λ, zero if λ ≥ 1."""
        return subtract_down(1.0, self["lam"]).clamp(min=0.0)

    @property
    def dual(self) -> WeightedMaximumDual:
        """What the norm does to rows that meet the output."""
        return WeightedMaximumDual(self.omega.v[:, -self.omega.cells.n :])


def omega_of(batch: Members) -> Omega:
    """The Ω of a batch of cells, made once."""
    if "omega" not in batch.cache:
        batch.cache["omega"] = Omega(batch.its_cells, batch.spec.distance)
    found: Omega = batch.cache["omega"]
    return found


def uniform(batch: Members) -> Uniform:
    """The constants on Ω."""
    return Uniform(batch, omega_of(batch))


def of_omega(name: str) -> Callable[[Members], Tensor]:
    """The constant of that plain name."""
    return lambda batch: uniform(batch)[name]


def windows(batch: Members) -> Tensor:
    """ε_k ≥ ‖∇p_T − ∇p_T^k‖ for every T and all weights of Ω, k = 0 … K: (B, K+1)."""
    known = uniform(batch)
    return gradient_window(known["lam"], forgotten(known), drift(known), batch.K)


PLAIN = ("lam", "S_0", "B_h", "L_w", "beta_hh", "beta_wh", "beta_ww", "L_p", "beta_p")
UNIFORM: dict[str, Callable[[Members], Tensor]] = {
    **{f"{name}_omega": of_omega(name) for name in PLAIN},
    "beta": lambda batch: lipschitz(uniform(batch)),
    "eps_k": windows,
}
