"""The constants that a batch of systems supplies to the bounds: rigorous upper bounds, by name.

Constants of gradients in the weights are Euclidean on states and weights, uniform on a region. For
φ(h, x) = ρ(W h + U x + b), with R² = [W]B_h² + [U]B_x² + [b] over the trained blocks,

    L_w = L_ρ R,  β_hh = β_ρ‖W‖_{2→∞}‖W‖₂,  β_hw = β_wh = β_ρ R‖W‖_{2→∞} + [W]L_ρ,  β_ww = β_ρ R²,

since ∂_wφ δw = ρ′ ∘ (δW h + δU x + δb) and ‖u ∘ v‖₂ ≤ ‖u‖_∞‖v‖₂. Then, uniformly in T and k ≥ 1,

    ‖∇p_T − ∇p_T^k‖ ≤ ε_k = λᵏ G_0 + k λᵏ⁻¹ D_1,  G_0 = L_w(L_p + β_p B_h)/(1 − λ),
    D_1 = L_p B_h(β_wh + L_w β_hh/(1 − λ)),  G_1 = D_1/λ,

and ∇p_T and ∇p_T^k are β-Lipschitz in the weights. All numbers are rounded up, infinite where ρ′
jumps, λ ≥ 1 or no loss is given. Source: Miller & Hardt, Lemmas 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.errors import PrecisionError, ShapeError, UnknownNameError
from rnnbounds.impl.gradients.loss import CrossEntropy, Loss, Squared
from rnnbounds.impl.gradients.rounding import absolute_norms
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.norms.weighted import (
    WeightedNorm,
    diagonal_scaling,
    perron_vector,
    quadratic_norm,
)
from rnnbounds.impl.numbers.outward import (
    TINY,
    add_up,
    div_up,
    gamma,
    mul_up,
    norm_up,
    sqrt_up,
    subtract_down,
)
from rnnbounds.impl.numbers.scaling import exponent, shift, shift_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

L = TypeVar("L", bound=Loss)
TRAINABLE = ("W", "U", "b", "WU", "Wb", "Ub", "WUb")
_OF_ONE_CELL = ("W_radius", "lam_P", "lam_D", "lam_v")


class Constants:
    """``constants[name]`` is a (B,) float64 tensor, computed when first asked for.

    Each certified constant is at least what its name means, infinite where no bound is known, and
    never NaN. Inputs are bounded by ‖x_t‖₂ ≤ B_x (B,); the outputs are C h with C (B, p, n), or h
    itself. The Euclidean constants are uniform on the ``region`` of weights, by default the cell
    alone; beyond one cell those of weighted norms are infinite. Gradients are those of ``loss`` in
    the blocks ``trained``, some of W, U and b in this order. Raises an InputError.
    Source: Miller & Hardt, Section 2 and Lemmas 1 to 3.
    """

    def __init__(
        self,
        cell: RNN,
        B_x: Tensor,
        C: Tensor | None = None,
        *,
        loss: Loss | None = None,
        trained: str = "WUb",
        region: Region | None = None,
    ) -> None:
        if B_x.shape != cell.b.shape[:1]:
            raise ShapeError("B_x", f"({cell.batch},)", B_x)
        if B_x.dtype != torch.float64:
            raise PrecisionError("B_x", B_x.dtype)
        for name, readout in (("C", C), ("the loss's C", None if loss is None else loss.C)):
            shape = () if readout is None else readout.shape
            if readout is not None and (len(shape) != 3 or shape[::2] != (cell.batch, cell.n)):
                raise ShapeError(name, f"({cell.batch}, p, {cell.n})", readout)
        if trained not in TRAINABLE:
            raise UnknownNameError("trained part", trained, TRAINABLE)
        self.cell: RNN = cell
        self.B_x: Tensor = B_x.detach()
        self.C: Tensor | None = C
        self.loss: Loss | None = loss
        self.trained: str = trained
        self.region: Region = Region.of(cell) if region is None else region
        self._known: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        if name not in _FORMULAS:
            raise UnknownNameError("constant", name, _FORMULAS)
        if name not in self._known:
            known = self.region.single or name not in _OF_ONE_CELL
            value = _FORMULAS[name](self) if known else self.filled(torch.inf)
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

    @cached_property
    def gap(self) -> Tensor:
        """A lower bound on 1 − λ, zero if λ ≥ 1."""
        return subtract_down(1.0, self["lam"]).clamp(min=0.0)

    def filled(self, value: float) -> Tensor:
        """Return the value once per system: (B,)."""
        return torch.full_like(self.B_x, value)

    def slope(self, B_h: Tensor) -> Tensor:
        """L_p over ‖h‖ ≤ B_h (B,), infinite without a loss."""
        return self.filled(torch.inf) if self.loss is None else self.loss.slope(B_h)

    def curvature(self) -> Tensor:
        """β_p, infinite without a loss."""
        return self.filled(torch.inf) if self.loss is None else self.loss.curvature

    def epsilons(self, K: int) -> Tensor:
        """ε_k ≥ ‖∇p_T − ∇p_T^k‖ for every T, k = 0 … K: (B, K+1), infinite at k = 0."""
        return gradient_window(self["lam"], self["G_0"], self["D_1"], K)


_SQUARINGS = 10


def spectral_radius_bound(W: Tensor) -> Tensor:
    """min over p of ‖W^(2^p)‖_F^(1/2^p), an upper bound on max |eigenvalue|: W (B, n, n) -> (B,).

    Above the radius by a factor of at most (‖V‖‖V⁻¹‖√n)^(1/1024), V the eigenvectors, and by what
    rounding adds, which matters for nilpotent matrices: about (n u)^(1/2) ‖W‖_F there.
    Infinity where W is not finite. Raises ShapeError. Source: Gelfand.
    """
    if W.ndim != 3 or W.shape[1] != W.shape[2]:
        raise ShapeError("W", "(batch, n, n)", W)
    # W^(2^p) = 2^e (power + Δ) with |Δ| ≤ error entry by entry, both scaled by a power of two.
    n, W = W.shape[1], W.detach()
    bound = norm_up(W.flatten(1))
    power, error, e = W, torch.zeros_like(W), torch.zeros_like(exponent(bound))
    for p in range(_SQUARINGS + 1):
        size = norm_up(add_up(power.abs(), error).flatten(1))
        scale = exponent(size)
        size, e = shift(size, -scale), e + scale
        power, error = (shift(M, -scale[:, None, None]) for M in (power, error))
        root = sqrt_up(shift(size, e % 2**p), times=p)
        bound = torch.minimum(bound, shift_up(root, torch.div(e, 2**p, rounding_mode="floor")))
        P = power.abs()
        spread = P @ error + error @ (P + error) + gamma(n + 1) * (P @ P)
        error = spread * (1 + gamma(4 * n + 16)) + TINY
        power, e = power @ power, 2 * e
    return torch.where(torch.isfinite(W).flatten(1).all(1), bound, torch.inf)


@cache
def _root(n: int) -> float:
    """At least √n."""
    return norm_up(torch.ones(n, dtype=torch.float64)).item()


def _drive(c: Constants) -> Tensor:
    """S_0 = L_ρ ‖U‖ B_x + ‖ρ(b)‖ ≥ sup ‖φ(0, x)‖."""
    return add_up(mul_up(c["L_x"], c.B_x), c.region.offset)


def _state_bound(c: Constants) -> Tensor:
    """B_h = min(S_0/(1 − λ), M_ρ √n)."""
    box = mul_up(c["M_rho"], _root(c.cell.n))
    contracted = torch.where(c.gap > 0, div_up(c["S_0"], c.gap), torch.inf)
    return torch.minimum(contracted, box)


STATES: dict[str, Callable[[Constants], Tensor]] = {
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


def gradient_window(lam: Tensor, G_0: Tensor, D_1: Tensor, K: int) -> Tensor:
    """ε_k = λᵏ G_0 + k λᵏ⁻¹ D_1 for k = 0 … K, (B, K+1); infinite at k = 0 (B, each)."""
    bounds, power = [torch.full_like(lam, torch.inf)], torch.ones_like(lam)
    for k in range(1, K + 1):
        previous, power = power, mul_up(power, lam)
        bounds.append(add_up(mul_up(power, G_0), mul_up(k, mul_up(previous, D_1))))
    return torch.stack(bounds, dim=1)


def _mixed_curvature(c: Constants) -> Tensor:
    """β_ρ R‖W‖_{2→∞} + [W]L_ρ."""
    from_states = mul_up(c["beta_rho"], mul_up(_reach(c), c["W_rows"]))
    return add_up(from_states, c["L_rho"] if "W" in c.trained else c.filled(0.0))


def _reach(c: Constants) -> Tensor:
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


def _of(c: Constants, kind: type[L], bound: Callable[[L], Tensor]) -> Tensor:
    """A constant of one kind of loss, infinite for others."""
    return bound(c.loss) if isinstance(c.loss, kind) else c.filled(torch.inf)


SMOOTHNESS: dict[str, Callable[[Constants], Tensor]] = {
    "W_rows": lambda c: c.region.W_rows,
    "L_w": lambda c: mul_up(c["L_rho"], _reach(c)),
    "beta_hh": lambda c: mul_up(c["beta_rho"], mul_up(c["W_rows"], c["W_norm"])),
    "beta_hw": _mixed_curvature,
    "beta_wh": lambda c: c["beta_hw"],
    "beta_ww": lambda c: mul_up(c["beta_rho"], mul_up(_reach(c), _reach(c))),
    "L_p": lambda c: c.slope(c["B_h"]),
    "beta_p": lambda c: c.curvature(),
    "G_0": forgotten,
    "D_1": drift,
    "G_1": lambda c: div_up(c["D_1"], c["lam"]),
    "beta": lipschitz,
    "y_norm": lambda c: _of(c, Squared, lambda loss: norm_up(loss.y.detach())),
    "C_norm_sq": lambda c: _of(c, Squared, lambda loss: certified_norm(loss.C)),
    "C_spread": lambda c: _of(c, CrossEntropy, lambda loss: loss.spread()),
    "C_label": lambda c: _of(c, CrossEntropy, lambda loss: loss.slope(c.B_x)),
}


_FORMULAS = STATES | SMOOTHNESS
