"""Projected gradient descent on the last loss, for many systems at once, and how far floats stray.

w_{t+1} = Π_Ω(w_t − α_t ∇p(w_t)) over Ω = {‖W‖₂ ≤ ℓ} × {‖U‖_F ≤ u} × {‖b‖₂ ≤ r}, trained blocks.
A float64 descent is off by e_{t+1} ≤ (1 + α_t β) e_t + r_t, with β the Lipschitz constant of ∇p
on Ω and r_t the error of one step: α_t times that of the gradient, the rounding of w_t − α_t ĝ,
and the distance of the next weights from its exact projection.

Source: Miller & Hardt, Proposition 4.
"""

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError, ShapeError
from rnnbounds.impl.gradients.adjoint import Weights, last_gradient
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.rounding import gradient_error
from rnnbounds.impl.gradients.weight_sets import Omega
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up, norm_bound, norm_up, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, is_norm_below
from rnnbounds.impl.training.nearest import projection_error
from rnnbounds.impl.training.projection import BallNorm

_UP = 1 + 64 * UNIT
_MODERATE = 2.0**200  # radii whose squares do not overflow, nor those of their inverses


def project(cell: RNN, omega: Omega, trained: str = "WUb") -> RNN:
    """The nearest cell of Ω, up to rounding and certainly in Ω; unchanged if it certainly was.

    Only matrices that a Cholesky factorisation does not prove to lie in the ball are decomposed.
    """
    W = _clip(cell.W, omega.W) if "W" in trained else cell.W
    U = _shrink(cell.U, omega.U) if "U" in trained else cell.U
    b = _shrink(cell.b[:, None], omega.b)[:, 0] if "b" in trained else cell.b
    return RNN(W, U, b, cell.activation)


@torch.no_grad()
def descend(
    cell: RNN,
    x: Tensor,
    loss: Loss,
    omega: Omega,
    trained: str,
    rates: Tensor,
    starts: Tensor | None = None,
) -> list[RNN]:
    """w_1, …, w_{N+1} from w_1 = the cell, with steps α_t = rates (B, N): N + 1 batches of cells.

    x (B, T, d, 1); with ``starts`` (B,) the state stays zero up to that time, as in
    ``last_gradient``. Raises ShapeError. Source: Miller & Hardt, Section 4.
    """
    _check(cell, x, rates)
    cells = [cell]
    for rate in rates.unbind(1):
        gradient = last_gradient(cells[-1], x, loss, starts)
        cells.append(project(_step(cells[-1], gradient, rate, trained), omega, trained))
    return cells


@torch.no_grad()
def descent_error(
    cells: Sequence[RNN],
    x: Tensor,
    loss: Loss,
    omega: Omega,
    trained: str,
    rates: Tensor,
    beta: Tensor,
    starts: Tensor | None = None,
) -> Tensor:
    """Bounds on ‖ŵ_t − w_t‖ for cells ŵ_1 = w_1, …, ŵ_{N+1}, however they were found: (B, N+1).

    w_t is the exact descent and beta (B,) bounds the Lipschitz constant of ∇p on Ω. Rigorous;
    infinite after a cell, the first one included, that is not certified to lie in Ω.
    """
    _check(cells[0], x, rates)
    N, B = rates.shape[1], cells[0].batch
    error = torch.zeros_like(rates[:, :1])
    if not N:
        return error
    before = _joined(cells[:-1])
    steps = _step_errors(before, _joined(cells[1:]), x, loss, omega, trained, rates, starts)
    inside = _inside(before, omega, trained).reshape(N, B)
    growths = add_up(1.0, mul_up(rates, beta[:, None]))
    found = [error[:, 0]]
    for t, step in enumerate(steps.reshape(N, B)):
        carried = torch.where(found[-1] == 0, 0.0, mul_up(growths[:, t], found[-1]))
        found.append(torch.where(inside[t], add_up(carried, step), math.inf))
    return torch.stack(found, dim=1)


def _step_errors(
    before: RNN,
    after: RNN,
    x: Tensor,
    loss: Loss,
    omega: Omega,
    trained: str,
    rates: Tensor,
    starts: Tensor | None,
) -> Tensor:
    """‖ŵ_{t+1} − Π(ŵ_t − α_t ∇p(ŵ_t))‖ for all steps at once, (N·B,)."""
    N = rates.shape[1]
    inputs, losses = x.repeat(N, 1, 1, 1), _repeated(loss, N)
    begun = None if starts is None else starts.repeat(N)
    rate = rates.T.reshape(-1)
    gradient = last_gradient(before, inputs, losses, begun)
    moved = _step(before, gradient, rate, trained)
    total = mul_up(rate, gradient_error(before, inputs, losses, trained)[:, 0])
    for name in trained:
        old, target, new = (_block(c, name) for c in (before, moved, after))
        step = rate[:, None, None] * _block(gradient, name)
        touched = target.masked_fill(step == 0, 0.0)  # w − 0 is exact
        rounding = 2 * UNIT * (norm_bound(step, (1, 2)) + norm_bound(touched, (1, 2))) * _UP
        length = mul_up(rate, norm_bound(_block(gradient, name), (1, 2)))
        rounding = add_up(rounding, underflow(length))  # where α g is 0 though neither is
        norm: BallNorm = "spectral" if name == "W" else "frobenius"
        radius = getattr(omega, name).repeat(N)
        away = projection_error(target, new, norm, radius)
        total = add_up(total, add_up(away, rounding))
        total = torch.where(torch.isfinite(old).flatten(1).all(1), total, math.inf)
    return total.nan_to_num(math.inf, math.inf)


def _step(cell: RNN, gradient: Weights, rate: Tensor, trained: str) -> RNN:
    """w − α g in the trained blocks."""
    parts = {"W": cell.W, "U": cell.U, "b": cell.b}
    for name in trained:
        slope = getattr(gradient, name)[:, 0]
        parts[name] = parts[name] - rate.reshape(-1, *[1] * (slope.ndim - 1)) * slope
    return RNN(**parts, activation=cell.activation)


def _clip(W: Tensor, ell: Tensor) -> Tensor:
    """U min(Σ, ℓ) Vᵀ where W is not certainly inside, ℓ less what rounding may add."""
    outside = (~is_norm_below(W, ell)).nonzero()[:, 0]
    if not len(outside):
        return W
    left, radius = W[outside], ell[outside, None] * (1 - 2 * (W.shape[1] + 8) ** 2 * UNIT)
    clipped = _near(left, radius)
    if clipped is None:
        u, sigma, vh = torch.linalg.svd(left)
        clipped = (u * sigma.minimum(radius)[:, None, :]) @ vh
    return W.index_copy(0, outside, clipped)


def _near(W: Tensor, ell: Tensor) -> Tensor | None:
    """W − W V (1 − ℓ/Σ)₊ Vᵀ from WᵀW = V Σ² Vᵀ, a third of the work of the singular values; None
    unless all ‖W‖₂ ≤ 2ℓ, so that the small ones, which squaring spoils, play no part."""
    moderate = (ell > 1 / _MODERATE) & (ell < _MODERATE)
    if not bool((moderate & (W.abs().flatten(1).amax(1)[:, None] <= 2 * ell)).all()):
        return None
    square, V = torch.linalg.eigh(W.mT @ W)
    if not bool((square <= 4 * ell * ell).all()):
        return None
    excess = (1 - ell / square.clamp(min=0.0).sqrt()).clamp(min=0.0)
    return torch.baddbmm(W, (W @ V) * excess[:, None, :], V.mT, alpha=-1)


def _shrink(A: Tensor, radius: Tensor) -> Tensor:
    """A min(1, r/‖A‖_F), r less what rounding may add."""
    if bool((norm_bound(A, (1, 2)) <= radius).all()):  # the fast bound settles nearly all
        return A
    norm = norm_up(A.flatten(1))
    shrunk = radius * (1 - 2 * (A[0].numel() + 8) * UNIT) / norm
    return A * torch.where(norm <= radius, 1.0, shrunk)[:, None, None]


def _inside(cell: RNN, omega: Omega, trained: str) -> Tensor:
    """True where the trained blocks are proved to lie in Ω: (N·B,) for N batches of cells."""
    radii = {name: getattr(omega, name).repeat(cell.batch // len(omega.W)) for name in trained}
    found = torch.ones(cell.batch, dtype=torch.bool, device=cell.W.device)
    for name, radius in radii.items():
        if name == "W":
            inside = is_norm_below(cell.W, radius)
            left = (~inside).nonzero()[:, 0]
            if len(left):
                inside[left] = certified_norm(cell.W[left]) <= radius[left]
        else:
            inside = norm_up(getattr(cell, name).flatten(1)) <= radius
        found &= inside
    return found


def _block(parts: RNN | Weights, name: str) -> Tensor:
    """A block of weights as matrices (B, ·, ·)."""
    block: Tensor = getattr(parts, name)
    if isinstance(parts, Weights):
        block = block[:, 0]
    return block[:, None] if name == "b" else block


def _joined(cells: Sequence[RNN]) -> RNN:
    """Several batches as one."""
    W, U, b = (torch.cat([getattr(cell, name) for cell in cells]) for name in ("W", "U", "b"))
    return RNN(W, U, b, cells[0].activation)


def _repeated(loss: Loss, N: int) -> Loss:
    """Repeat a loss for N copies of its batch."""
    tensors = {field.name: getattr(loss, field.name) for field in fields(loss)}
    return replace(loss, **{name: t.repeat(N, *[1] * (t.ndim - 1)) for name, t in tensors.items()})


def _check(cell: RNN, x: Tensor, rates: Tensor) -> None:
    if x.ndim != 4 or x.shape[3] != 1:
        raise ShapeError("x", f"({cell.batch}, T, {cell.d}, 1)", x)
    if rates.ndim != 2 or rates.shape[0] != cell.batch:
        raise ShapeError("rates", f"({cell.batch}, N)", rates)
    if (rates < 0).any():
        raise RangeError("a step size α_t", rates.min().item(), "at least 0")
