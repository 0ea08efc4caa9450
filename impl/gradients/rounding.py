"""Bounds on the rounding error of one float64 step of a recurrent cell.

|fl(Wh + Ux + b) − (Wh + Ux + b)| ≤ γ_{n+d+2} (|W||h| + |U||x| + |b|) in any order of summation, so
with Z = ‖|W|‖₂ ‖h‖ + ‖|U|‖₂ ‖x‖ + ‖b‖ a step is off by at most ε = L_ρ γ_{n+d+2} Z + e_ρ (2-norms),
where e_ρ is the activation's own absolute error at pre-activations up to Z. A contraction keeps the
sum of all these errors below ε (1 − λᵗ)/(1 − λ). Source: Higham, Accuracy and Stability, Section 3.
"""

from dataclasses import dataclass, field

from torch import Tensor

from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import add_up, gamma, mul_up, norm_up, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

HEADROOM = 1.01  # computed states may exceed B_h by a hundredth
HEADROOMS = (HEADROOM, 1.1, 1.5, 2.0, 4.0, 16.0)  # and in coarse dtypes by more


@dataclass(frozen=True)
class Rounding:
    """A bound on ‖fl(h_t) − h_t‖₂ for all t, unit by unit (n,) too if known, or why none is."""

    bound: float | None = None
    reason: str | None = None
    units: Tensor | None = field(default=None, repr=False, compare=False)


def local_error(
    cell: RNN,
    h_norm: Tensor,
    x_norm: Tensor,
    absolute: tuple[Tensor, Tensor, Tensor] | None = None,
) -> Tensor:
    """ε, the error of one step from float64 states of norm ≤ h_norm, inputs of norm ≤ x_norm.

    h_norm and x_norm (B, …), and so is the result; ``absolute`` are the cell's absolute norms, if
    they are known. Source: Higham.
    """
    Z = pre_activation_bound(absolute or absolute_norms(cell), h_norm, x_norm)
    carried = mul_up(cell.activation.slope, summation_error(cell, Z))
    return add_up(carried, activation_error(cell, Z))


def absolute_norms(cell: RNN) -> tuple[Tensor, Tensor, Tensor]:
    """Upper bounds on ‖|W|‖₂, ‖|U|‖₂ and ‖b‖₂, each (B,)."""
    return certified_norm(cell.W.abs()), certified_norm(cell.U.abs()), norm_up(cell.b.detach())


def pre_activation_bound(
    norms: tuple[Tensor, Tensor, Tensor], h_norm: Tensor, x_norm: Tensor
) -> Tensor:
    """Z for absolute norms (B,) and norms of states and inputs (B, …)."""
    W, U, b = (norm.reshape(-1, *[1] * (h_norm.ndim - 1)) for norm in norms)
    return add_up(add_up(mul_up(W, h_norm), mul_up(U, x_norm)), b)


def summation_error(cell: RNN, Z: Tensor) -> Tensor:
    """γ_{n+d+2} Z, a bound on ‖fl(Wh + Ux + b) − (Wh + Ux + b)‖₂; 0 where all terms are 0."""
    return add_up(mul_up(gamma(cell.n + cell.d + 2), Z), underflow(Z))


def activation_error(cell: RNN, Z: Tensor) -> Tensor:
    """e_ρ at computed pre-activations, which may exceed Z by their own rounding."""
    return cell.activation.error(cell.n, mul_up(1 + 2.0**-20, Z))
