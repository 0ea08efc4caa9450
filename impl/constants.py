"""The constants that a batch of systems supplies to the bounds: rigorous upper bounds, by name."""

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from impl.errors import ShapeError, UnknownConstantError
from impl.norm import certified_norm
from impl.outward import add_up, div_up, mul_up, norm_up, subtract_down
from impl.radius import spectral_radius_bound
from impl.rnn import RNN
from impl.rounding import (
    HEADROOM,
    absolute_norms,
    activation_error,
    local_error,
    pre_activation_bound,
)
from impl.tempting import power_norm, svd_norm, unscaled_gate_norm, unshifted_gate_norm
from impl.weighted import WeightedNorm, diagonal_scaling, perron_vector, quadratic_norm


class Constants:
    """``constants[name]`` is a (B,) float64 tensor, computed when first asked for.

    Each certified constant is at least what its name means, infinite where no bound is known, and
    never NaN; ``e_relative`` and the ``s_`` names other than ``s_gate`` are tempting values that
    bound nothing. Inputs are bounded by ‖x_t‖₂ ≤ B_x (B,); the outputs are C h with C (B, p, n), or
    h itself. Raises UnknownConstantError. Source: Miller & Hardt, Section 2 and Lemma 1.
    """

    def __init__(self, cell: RNN, B_x: Tensor, C: Tensor | None = None) -> None:
        if B_x.shape != cell.b.shape[:1]:
            raise ShapeError("B_x", f"({cell.batch},)", B_x)
        if C is not None and (C.ndim != 3 or (C.shape[0], C.shape[2]) != (cell.batch, cell.n)):
            raise ShapeError("C", f"({cell.batch}, p, {cell.n})", C)
        self.cell = cell
        self.B_x = B_x.detach()
        self.C = C
        self._known: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        if name not in _FORMULAS:
            raise UnknownConstantError(name, _FORMULAS)
        if name not in self._known:
            value = _FORMULAS[name](self)
            self._known[name] = value.to(self.B_x).nan_to_num(torch.inf, torch.inf)
        return self._known[name]

    @property
    def P_root(self) -> Tensor:
        """Q (B, n, n) of the quadratic norm ‖Q h‖₂, P = QᵀQ, exactly as certified."""
        return self.quadratic.weights

    @property
    def D(self) -> Tensor:
        """The positive diagonal matrix (B, n, n) of the norm ‖D h‖₂, exactly as certified."""
        return self.diagonal.weights

    @property
    def v(self) -> Tensor:
        """The positive weights (B, n) of the norm max |h_i|/v_i, exactly as certified."""
        return self.perron.weights

    @cached_property
    def quadratic(self) -> WeightedNorm:
        """The norm in which a linear system contracts as soon as its spectral radius is below 1."""
        return quadratic_norm(self.cell.W)

    @cached_property
    def diagonal(self) -> WeightedNorm:
        """The diagonally scaled Euclidean norm."""
        return diagonal_scaling(self.cell.W)

    @cached_property
    def perron(self) -> WeightedNorm:
        """The weighted maximum norm."""
        return perron_vector(self.cell.W)

    @cached_property
    def absolute(self) -> tuple[Tensor, Tensor, Tensor]:
        """‖|W|‖₂, ‖|U|‖₂ and ‖b‖₂."""
        return absolute_norms(self.cell)

    @property
    def gap(self) -> Tensor:
        """A lower bound on 1 − λ, zero if λ ≥ 1."""
        return subtract_down(1.0, self["lam"]).clamp(min=0.0)

    def filled(self, value: float) -> Tensor:
        """The same value for each system."""
        return torch.full_like(self.B_x, value)


def _drive(c: Constants) -> Tensor:
    """S_0 = L_ρ ‖U‖ B_x + ‖ρ(b)‖ ≥ sup ‖φ(0, x)‖."""
    return add_up(mul_up(c["L_x"], c.B_x), norm_up(_activated(c.cell)))


def _activated(cell: RNN) -> Tensor:
    """Upper bounds on |ρ(b)|, entry by entry, from ρ's error model and its Lipschitz constant."""
    rho, size = cell.activation, cell.b.detach().abs()
    computed = add_up(rho(cell.b.detach()).abs(), rho.error(1, size))
    return torch.minimum(computed, add_up(mul_up(rho.slope, size), rho.at_zero))


def _state_bound(c: Constants) -> Tensor:
    """B_h = min(S_0/(1 − λ), M_ρ √n)."""
    box = mul_up(c["M_rho"], norm_up(torch.ones(c.cell.n, dtype=torch.float64)).item())
    contracted = torch.where(c.gap > 0, div_up(c["S_0"], c.gap), torch.inf)
    return torch.minimum(contracted, box)


def _rounding(c: Constants) -> Tensor:
    """ε_1, or infinity unless it keeps the computed states below 1.01 B_h."""
    error = local_error(c.cell, mul_up(HEADROOM, c["B_h"]), c.B_x)
    room = 0.0099 * (c.gap * c["B_h"]).nan_to_num(0.0)
    return torch.where(error <= room, error, torch.inf)


def _pre_activation(c: Constants) -> Tensor:
    return pre_activation_bound(c.absolute, mul_up(HEADROOM, c["B_h"]), c.B_x)


_FORMULAS: dict[str, Callable[[Constants], Tensor]] = {
    "L_rho": lambda c: c.filled(c.cell.activation.slope),
    "beta_rho": lambda c: c.filled(c.cell.activation.curvature),
    "M_rho": lambda c: c.filled(c.cell.activation.bound),
    "W_norm": lambda c: certified_norm(c.cell.W),
    "U_norm": lambda c: certified_norm(c.cell.U),
    "B_x": lambda c: c.B_x,
    "lam": lambda c: mul_up(c["L_rho"], c["W_norm"]),
    "L_x": lambda c: mul_up(c["L_rho"], c["U_norm"]),
    "L_f": lambda c: c.filled(1.0) if c.C is None else certified_norm(c.C),
    "S_0": _drive,
    "B_h": _state_bound,
    "W_radius": lambda c: spectral_radius_bound(c.cell.W),
    "lam_P": lambda c: c.quadratic.factor,
    "kappa": lambda c: c.quadratic.condition,
    "lam_D": lambda c: mul_up(c["L_rho"], c.diagonal.factor),
    "lam_v": lambda c: mul_up(c["L_rho"], c.perron.factor),
    "Z_hat": _pre_activation,
    "e_rho": lambda c: activation_error(c.cell, c["Z_hat"]),
    "e_relative": lambda c: c.cell.activation.relative_error(mul_up(HEADROOM, c["B_h"])),
    "eps_1": _rounding,
    "s_gate": lambda c: c["W_norm"],
    "s_svd": lambda c: svd_norm(c.cell.W),
    "s_power": lambda c: power_norm(c.cell.W),
    "s_unshifted": lambda c: unshifted_gate_norm(c.cell.W),
    "s_unscaled": lambda c: unscaled_gate_norm(c.cell.W),
}
