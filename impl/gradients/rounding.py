"""Rigorous bounds on the rounding errors of float64 states and gradients of vanilla cells.

|fl(Wh + Ux + b) − (Wh + Ux + b)| ≤ γ_{n+d+2} (|W||h| + |U||x| + |b|) in any order of summation, so
with Z = ‖|W|‖₂ ‖h‖ + ‖|U|‖₂ ‖x‖ + ‖b‖ a step is off by at most ε = L_ρ γ_{n+d+2} Z + e_ρ (2-norms),
where e_ρ is the activation's own absolute error at pre-activations up to Z. A contraction keeps the
sum of all these errors below ε (1 − λᵗ)/(1 − λ). Source: Higham, Accuracy and Stability, Section 3.

Along any run, full or truncated, with g(T) = 1 + λ + … + λ^{T−1}:

- states are off by at most e = ε g(T), ε the error of one step, and pre-activations by η;
- slopes by σ = β_ρ η + the error of the float64 ρ′ (where ρ′ jumps: by nothing, if no |z_t| ≤ 2η
  in any unit at any time, else the bound is infinite), the loss's gradient by E_p;
- the adjoint at lag j, of norm at most A λ^j with A = L_ρ L_p, by E_j with
  E_0 = L_ρ E_p + (σ + 4u (L_ρ + σ))(L_p + E_p) and E_j = λ E_{j−1} + ε′ (A λ^{j−1} + E_{j−1}) + ω,
  ε′ = (L_ρ γ_{n+3} + 1.01 (σ + 4u (L_ρ + σ))) ‖|W|‖₂ and ω what is flushed, so that
  E_j ≤ λ′^j E_0 + j λ′^{j−1} ε′ A + ω g(j+1), λ′ = λ + ε′;
- the sum of δ_t s_{t−1}ᵀ, ‖s‖ ≤ R, by R Σ E_j + e A Σ λ^j and γ_{T+2} R Σ (A λ^j + E_j).

Source: Higham, Accuracy and Stability of Numerical Algorithms, Section 3.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.gradients.adjoint import check_task, in_chunks
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.windows.gradients import (
    FLUSHED,
    SHORTCUT_ERROR,
    SHORTCUTS,
    rows_times,
    signal_weights,
    sweep,
)
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import (
    TINY,
    UNIT,
    add_up,
    gamma,
    mul_up,
    norm_bound,
    norm_up,
    sqrt_up,
    underflow,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


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


_UP = 1 + 2.0**-28  # the library's powers are right to far better than 2⁻³⁰
_FLOOR = 2.0**-600  # of products that underflow
HEADROOM = 1.01  # computed states may exceed B_h by a hundredth
_HUGE = 2.0**1000  # sums of terms up to here do not overflow


def gradient_error(
    cell: RNN, x: Tensor, loss: Loss, trained: str = "WUb", K: int | None = None
) -> Tensor:
    """A bound on the errors of the float64 ∇p_T and ∇p_T^k in the trained weights, (B, S).

    Of the truncated runs only those with k ≤ K matter, where ρ′ jumps; all of them by default.
    """
    bounds = _gradient_error_bounds(cell, x, loss, trained, x.shape[1] if K is None else K)
    return bounds.whole()


def gradient_gap_error(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str = "WUb") -> Tensor:
    """Bound the errors of ``gradient_gaps`` and ``tb_gaps``: (B, S, K+1), 0 at k = T."""
    bounds = _gradient_error_bounds(cell, x, loss, trained, K)
    error = bounds.whole()
    gap = 2 * (error + UNIT * (bounds.size() + error)) * _UP
    return _windows(gap, K, x.shape[1])


def tbptt_error(cell: RNN, x: Tensor, K: int, loss: Loss, trained: str = "WUb") -> Tensor:
    """Bound the errors of ``tbptt_gaps``, decreasing with λ^k: (B, S, K+1), 0 at k = T."""
    check_task(cell, x, K, loss, trained)
    return _gradient_error_bounds(cell, x, loss, trained, 0).tails()[..., : K + 1]


@dataclass(frozen=True)
class _Bounds:
    """The numbers of the derivation, (B, S); the sums over lags ≥ k (B, S, T+1), k = 0 … T."""

    e: Tensor
    R: Tensor
    A: Tensor
    E_0: Tensor
    drift: Tensor  # ε′ A
    flushed: Tensor
    decay: Tensor  # Σ_{j≥k} λ′^j
    slope: Tensor  # Σ_{j≥k} j λ′^{j−1}
    recurrent: bool  # whether W is trained
    T: int

    def whole(self) -> Tensor:
        """Error bound of a whole gradient: (B, S)."""
        growth = self.decay[..., 0]
        found = self._sum(growth, growth * growth, self.T * growth)
        largest = (self.A * growth + found) * self.R.clamp(min=1.0)
        return found.masked_fill(~(largest < _HUGE) & (found > 0), math.inf)

    def tails(self) -> Tensor:
        """Error bounds of the part of a gradient from lag k on: (B, S, T+1)."""
        left = torch.arange(self.T, -1, -1, dtype=self.R.dtype, device=self.R.device)
        found = self._sum(self.decay, self.slope, left * self.decay[..., :1])
        lost = (self.whole() == math.inf)[..., None]
        return found.masked_fill(lost, math.inf).masked_fill(left == 0, 0.0)

    def size(self) -> Tensor:
        """Upper bound on the norm of an exact gradient: (B, S)."""
        found = self.R * self.A * self.decay[..., 0] * _UP
        return found.nan_to_num(math.inf, math.inf)

    def _sum(self, decay: Tensor, slope: Tensor, flushed: Tensor) -> Tensor:
        e, R, A, E_0, drift, lost = (
            v if decay.ndim == v.ndim else v[..., None]
            for v in (self.e, self.R, self.A, self.E_0, self.drift, self.flushed)
        )
        adjoints = E_0 * decay + drift * slope + lost * flushed
        states = e * A * decay if self.recurrent else torch.zeros_like(adjoints)
        rounding = gamma(self.T + 2) * R * (A * decay + adjoints)
        total = (R * adjoints + states + rounding) * _UP + _FLOOR
        return torch.where((A == 0) & (E_0 == 0), 0.0, total.nan_to_num(math.inf, math.inf))


@torch.no_grad()
def _gradient_error_bounds(cell: RNN, x: Tensor, loss: Loss, trained: str, K: int) -> _Bounds:
    check_task(cell, x, K, loss, trained)
    rho, n, T = cell.activation, cell.n, x.shape[1]
    L = rho.slope
    absolute = absolute_norms(cell)
    W_norm, W_size = certified_norm(cell.W)[:, None], absolute[0][:, None]
    x_norm = norm_bound(x, 2).amax(1)
    growth = _powers(mul_up(L, W_norm), T).sum(-1) * _UP
    size, radius, e = _states(cell, x, x_norm, growth, absolute)
    summation = summation_error(cell, pre_activation_bound(absolute, radius, x_norm))
    sigma = _slope_error(cell, x, loss, K, add_up(mul_up(W_norm, e), summation))
    sizes = torch.nn.functional.pad(torch.where(torch.isfinite(size), size, 0.0), (0, 1))
    L_p = loss.slope(sizes.amax(1))[:, None]
    E_p = loss.gradient_error(size, e)
    slope_gap = sigma + 4 * UNIT * (L + sigma)
    drift = (L * gamma(n + 3) + HEADROOM * slope_gap) * W_size * _UP
    powers = _powers(add_up(mul_up(L, W_norm), drift), T)
    lags = torch.arange(T, dtype=x.dtype, device=x.device)
    slopes = torch.nn.functional.pad(lags[1:] * powers[..., :-1], (1, 0))
    A = mul_up(L, L_p)  # not 0 unless L_p is
    signal_norms = {"W": radius, "U": x_norm, "b": torch.ones_like(radius)}
    R = norm_up(torch.stack([signal_norms[name] for name in trained], dim=-1))
    zero = (L_p == 0) & (E_p == 0) & torch.isfinite(e)
    return _Bounds(
        e=e,
        R=R,
        A=A.expand_as(e),
        E_0=torch.where(zero, 0.0, (L * E_p + slope_gap * (L_p + E_p)) * _UP),
        drift=drift * A * _UP,
        flushed=torch.full_like(e, max(1.0, L) * n**0.5 * 2 * FLUSHED),
        decay=_tails(powers),
        slope=_tails(slopes),
        recurrent="W" in trained,
        T=T,
    )


def _states(
    cell: RNN,
    x: Tensor,
    x_norm: Tensor,
    growth: Tensor,
    absolute: tuple[Tensor, Tensor, Tensor],
) -> tuple[Tensor, ...]:
    """Bounds on the norms of all exact states, of all computed states, and of their differences."""
    zero = torch.zeros_like(x_norm)
    drive = cell.activation(cell.drive(x.transpose(1, 2).flatten(2))).mT
    computed = norm_bound(drive, 2).reshape(x.shape[0], x.shape[1], x.shape[3]).amax(1)
    start = add_up(computed, local_error(cell, zero, x_norm, absolute))
    box = mul_up(cell.activation.bound, sqrt_up(cell.n).item())
    size = torch.minimum(start * growth * _UP, box.to(start))

    def error(radius: Tensor) -> Tensor:
        return local_error(cell, radius, x_norm, absolute) * growth * _UP

    narrow = HEADROOM * size
    errors, within = error(narrow), narrow
    fits = (size + errors) * _UP <= narrow
    if not bool(fits.all()):
        wide = 2 * (size + errors)
        slack = error(wide)
        known = (size + slack) * _UP <= wide
        slack, wide = (torch.where(known, v, math.inf) for v in (slack, wide))
        errors, within = torch.where(fits, errors, slack), torch.where(fits, narrow, wide)
    still = start == 0  # every state is 0, computed without rounding
    return tuple(torch.where(still, 0.0, v) for v in (size, within, errors))


def _slope_error(cell: RNN, x: Tensor, loss: Loss, K: int, eta: Tensor) -> Tensor:
    """σ for pre-activations that are off by at most eta (B, S)."""
    rho = cell.activation
    library_error = SHORTCUT_ERROR if rho.name in SHORTCUTS else rho.derivative_error
    if rho.curvature < math.inf:
        return add_up(mul_up(rho.curvature, eta), library_error)

    def nearest_to_kink(cell: RNN, x: Tensor, loss: Loss) -> Tensor:
        V, runs = signal_weights(cell), [sweep(cell, x)]
        if K:
            runs.append(sweep(cell, x[:, x.shape[1] - K :], growing=True))
        distances = [rows_times(s, V).abs().amin((1, 3)) for run in runs for s in run.signals]
        return torch.stack(distances).amin(0)[..., None]

    distance = in_chunks(nearest_to_kink, cell, x, K, loss)[..., 0]
    is_certain = (distance > 2 * eta) | (eta == 0)
    return torch.full_like(eta, library_error).masked_fill(~is_certain, math.inf)


def _powers(rate: Tensor, T: int) -> Tensor:
    """rate^j for j = 0 … T−1, not below what others may make large again."""
    lags = torch.arange(T, dtype=rate.dtype, device=rate.device)
    return (rate[..., None] ** lags).clamp(min=TINY) * (1 + 2.0**-30)


def _tails(terms: Tensor) -> Tensor:
    """Σ_{j≥k} terms_j for k = 0 … T."""
    sums = terms.flip(-1).cumsum(-1).flip(-1) * (1 + 2.0**-30)
    return torch.nn.functional.pad(sums, (0, 1))


def _windows(error: Tensor, K: int, T: int) -> Tensor:
    """Expand an error (B, S) to k = 0 … K, with 0 at k = T: (B, S, K+1)."""
    k = torch.arange(K + 1, device=error.device)
    return torch.where(k == T, 0.0, error[..., None])
