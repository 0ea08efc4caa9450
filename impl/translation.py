"""Translation to the fixed point: the same system, seen from where it rests without input.

Source: Miller & Hardt, section 2 (they assume φ(0, 0) = 0).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from impl.errors import NotContractiveError
from impl.norm import certified_norm
from impl.outward import UNIT, add_up, div_up, mul_up, norm_up, subtract_down
from impl.rnn import RNN
from impl.rounding import local_error

_STEPS, _NEWTON = 64, 8


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Balls ‖h* − centre‖₂ ≤ radius that hold the fixed points: centre (B, n), radius (B,)."""

    centre: Tensor
    radius: Tensor


@dataclass(frozen=True, eq=False)
class Translated:
    """g = h − h*: the cell φ̃(g, x) = φ(h* + g, x) − h*, with φ̃(0, 0) = 0 and the same λ and L_x.

    What changes: a run from h = 0 starts at g = −h*, which adds λᵗ‖h*‖ to the bounds; a truncated
    run from g = 0 restarts at h*, a different truncated model from one that restarts at 0; and h*
    depends on the weights, so gradients in them gain a term ∂h* of norm ≤ L_w/(1 − λ). The drive
    S_0 = sup ‖φ(0, x)‖ needs none of this. Here h* is the ball's centre, so φ̃(0, 0) is zero up
    to (1 + λ) times the radius.
    """

    cell: RNN
    fixed: FixedPoint

    @property
    def start(self) -> Tensor:
        """−h*, where a run from the zero state starts: (B, n)."""
        return -self.fixed.centre

    def step(self, g: Tensor, x: Tensor) -> Tensor:
        """φ(h* + g, x) − h* for M columns a system: g (B, n, M), x (B, d, M) -> (B, n, M)."""
        centre = self.fixed.centre[:, :, None]
        return self.cell.step(centre + g, x) - centre


def fixed_point(cell: RNN) -> FixedPoint:
    """The unique h* with φ(h*, 0) = h*, within certified balls.

    ‖h* − ĥ‖ ≤ ‖φ(ĥ, 0) − ĥ‖/(1 − λ) at any ĥ, where the rounding of the step is added to the
    residual; also ‖h*‖ ≤ ‖φ(0, 0)‖/(1 − λ). Raises NotContractiveError unless L_ρ‖W‖₂ < 1 is
    certified for every system. Sources: Banach; Miller & Hardt, section 2.
    """
    slope, norm = cell.activation.slope, certified_norm(cell.W)
    lam = mul_up(slope, norm)
    if not bool((lam < 1).all()):
        raise NotContractiveError(float(norm.max()), 1 / slope)
    zero = torch.zeros_like(cell.b)
    centre, best = zero, _residual(cell, zero)
    h = zero
    eye = torch.eye(cell.n, dtype=cell.W.dtype, device=cell.W.device)
    for step in range(_STEPS + _NEWTON):
        moved = _at_rest(cell, h)
        if step >= _STEPS:
            slopes = cell.activation.derivative(_before(cell, h))
            solved, _ = torch.linalg.solve_ex(eye - slopes[:, :, None] * cell.W, moved - h)
            moved = h + solved
        h = moved
        residual = _residual(cell, h)
        better = residual < best
        centre, best = torch.where(better[:, None], h, centre), torch.where(better, residual, best)
    return FixedPoint(centre, div_up(best, subtract_down(1.0, lam)))


def translate(cell: RNN) -> Translated:
    """The cell around its fixed point; raises as `fixed_point`."""
    return Translated(cell, fixed_point(cell))


def _before(cell: RNN, h: Tensor) -> Tensor:
    return torch.baddbmm(cell.b[:, :, None], cell.W, h[:, :, None])[:, :, 0]


def _at_rest(cell: RNN, h: Tensor) -> Tensor:
    return cell.activation(_before(cell, h))


def _residual(cell: RNN, h: Tensor) -> Tensor:
    """At least ‖φ(h, 0) − h‖₂, with the rounding of the step and of the difference: (B,)."""
    size = norm_up(h)
    difference = mul_up(norm_up(_at_rest(cell, h) - h), 1 + 2 * UNIT)
    return add_up(difference, local_error(cell, size, torch.zeros_like(size)))
