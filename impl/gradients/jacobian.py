"""Jacobians ∂h_T/∂x_{T−j} of the last state in the inputs, with rigorous bounds of their errors.

∂h_T/∂x_{T−j} = D_T W D_{T−1} W ⋯ W D_{T−j} U with D_t = diag(ρ′(z_t)), multiplied from the left.
The bounds run along: the states are off by δ_t ≤ λ δ_{t−1} + ε (the error ε of one step), the
pre-activations by η_t, the slopes by β_ρ η_t plus the error of the float64 ρ′, and each product by
γ times the product of Frobenius norms. Where ρ′ jumps, a slope is certain only if |z_t| > η_t in
each unit (or z_t = 0 exactly); otherwise the bound is infinite. Source: Higham, Section 3.5.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.gradients.rounding import (
    absolute_norms,
    activation_error,
    pre_activation_bound,
    summation_error,
)
from rnnbounds.impl.gradients.windows.rollout import states
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT, add_up, gamma, mul_up, norm_bound, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

_UP = 1 + 16 * UNIT  # covers the roundings of one line of bounds


class Jacobians(NamedTuple):
    """J (B, K+1, n, d, S) with J[:, j] ≈ ∂h_T/∂x_{T−j}; its error (B, K+1, S) in Frobenius norm."""

    J: Tensor
    error: Tensor


def input_jacobians(cell: RNN, x: Tensor, K: int) -> Jacobians:
    """∂h_T/∂x_{T−j} for j = 0 … K of x (B, T, d, S), zero state first.

    Differentiable in W, U, b and x; the errors are rigorous and carry no gradient. At a kink it is
    torch's choice of ρ′. Raises RangeError unless 0 ≤ K < T. Source: Miller & Hardt, Section 3.
    """
    run = _Run(cell, x, K)
    with torch.no_grad():
        uncertain = _slope_errors(cell, x, run.path, run.z)
        return Jacobians(run.J, _errors(cell, run.products, [uncertain[t] for t in run.z]))


def jacobians_alone(cell: RNN, x: Tensor, K: int) -> Tensor:
    """Compute ∂h_T/∂x_{T−j}, j = 0 … K, without error bounds, for a heuristic search."""
    return _Run(cell, x, K).J


class _Run:
    """A run, pre-activations z_t (B, n, S) of its last K + 1 steps, the latest first, and G_j."""

    def __init__(self, cell: RNN, x: Tensor, K: int) -> None:
        T = x.shape[1]
        if not 0 <= K < T:
            raise RangeError("K", K, f"between 0 and T − 1 = {T - 1}")
        path = self.path = states(cell, x)
        last = range(T - 1, T - 2 - K, -1)
        self.z = {t: torch.baddbmm(cell.drive(x[:, t]), cell.W, path[:, t]) for t in last}
        derivative = cell.activation.derivative
        slopes = {t: derivative(z).permute(0, 2, 1)[:, :, None] for t, z in self.z.items()}
        W, U = cell.W[:, None], cell.U[:, None]  # (B, 1, n, ·), products carry S in front
        product = torch.eye(cell.n, dtype=x.dtype, device=x.device) * slopes[T - 1]
        found = [product @ U]
        self.products = [product.detach()]
        for t in last[1:]:
            product = (product @ W) * slopes[t]
            found.append(product @ U)
            self.products.append(product.detach())
        self.J = torch.stack(found, dim=1).permute(0, 1, 3, 4, 2)


def _slope_errors(cell: RNN, x: Tensor, path: Tensor, z: dict[int, Tensor]) -> dict[int, Tensor]:
    """max_i |ρ̂′(ẑ_t) − ρ′(z_t)|_i, (B, S), for each t in z."""
    rho, W_norm = cell.activation, certified_norm(cell.W)[:, None]
    Z = pre_activation_bound(absolute_norms(cell), norm_bound(path[:, :-1], 2), norm_bound(x, 2))
    summation = summation_error(cell, Z)
    steps = add_up(mul_up(rho.slope, summation), activation_error(cell, Z))
    state_error = torch.zeros_like(Z[:, 0])
    errors = {}
    for t in range(x.shape[1]):
        propagated = mul_up(W_norm, state_error)
        if t in z:
            errors[t] = _slope_error(rho, z[t], add_up(propagated, summation[:, t]))
        state_error = add_up(mul_up(rho.slope, propagated), steps[:, t])
    return errors


def _slope_error(rho: Activation, z: Tensor, eta: Tensor) -> Tensor:
    """Bound max_i |ρ̂′(ẑ) − ρ′(z)|_i (B, S) for computed ẑ (B, n, S) with errors ≤ eta (B, S)."""
    if rho.curvature < math.inf:
        return rho.curvature * eta + rho.derivative_error
    is_certain = (z.abs() > eta[:, None]).all(1) | (eta == 0)
    return torch.full_like(eta, rho.derivative_error).masked_fill(~is_certain, math.inf)


def _errors(cell: RNN, products: list[Tensor], slope_errors: list[Tensor]) -> Tensor:
    """‖Ĵ_j − J_j‖_F from the computed G_j = D_T W ⋯ D_{T−j} (B, S, n, n) and the slopes' errors."""
    n, slope = cell.n, cell.activation.slope
    W_norm, U_norm = (certified_norm(M)[:, None] for M in (cell.W, cell.U))
    W_size, U_size = (norm_bound(M.flatten(1), 1)[:, None] for M in (cell.W, cell.U))
    sizes = [norm_bound(product.flatten(2), 2) for product in products]
    error = slope_errors[0] * n**0.5 * _UP
    bounds = []
    for j, size in enumerate(sizes):
        if j:
            # G_j = (G_{j−1} W) D_{T−j}: the errors of the factors, then of their two products.
            previous, slope_error = sizes[j - 1], slope_errors[j]
            factors = mul_up(previous, W_size)
            rounding = gamma(n + 2) * factors * (slope + slope_error) + underflow(factors)
            propagated = mul_up(mul_up(slope, W_norm), error)
            error = (propagated + previous * W_norm * slope_error + rounding) * _UP
        factors = mul_up(size, U_size)
        rounding = gamma(n + 1) * factors + underflow(factors)
        bounds.append((mul_up(U_norm, error) + rounding) * _UP)
    return torch.stack(bounds, dim=1).nan_to_num(math.inf, math.inf)
