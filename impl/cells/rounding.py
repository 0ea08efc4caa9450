"""How far a whole run in a dtype is from the exact one: what each step loses, and the contraction.

With δ ≥ ‖φ̂(ŝ, x̂) − φ(ŝ, x̂)‖_*, λ and L in ‖·‖_* on the states and inputs of both runs, and inputs
at most e apart,

    ‖ŝ_{t+1} − s_{t+1}‖_* ≤ λ‖ŝ_t − s_t‖_* + δ + L e ≤ λ r + δ + L e ≤ r

if the states of the run are within r of the exact ones, which a larger box then holds: so r is
proposed, all three are bounded on that box, and if (δ + L e)/(1 − λ) ≤ r, then by induction it
bounds the gap at all times. Failing that a box is proved that the run does not leave, as intervals
are rounded, and then it bounds the gap as well. Source: Higham, Accuracy and Stability, section
3.5.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.intervals import PoleError
from rnnbounds.impl.gradients.rounding import HEADROOMS, Rounding
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, subtract_down


@dataclass(frozen=True, eq=False)
class Fed:
    """The inputs of a layer, as the run below computes them.

    off: how far they are from the exact ones, ‖x̂ − x‖₂. inputs: what holds both. states: the box of
    the exact states under the exact ones (1, N).
    """

    off: float
    inputs: float
    states: Tensor | None = None

    @classmethod
    def by(cls, off: float, B: float, box: Tensor | None, states: Tensor | None) -> "Fed":
        """By outputs ‖h‖₂ ≤ B, |h_i| ≤ box_i (n,) of a layer that are off by so much."""
        wide = float(add_up(B, off))
        if box is not None:
            side = add_up(box, off)
            wide = InputSet(wide, -side, side, "the outputs of the layer below")
        return cls(off, wide, states)


@dataclass(frozen=True)
class Step:
    """Bounds on a step on a box in one norm: factor λ, input Lipschitz constant L, error δ."""

    lam: float
    fed: float
    lost: float

    def gap(self, off: float) -> float:
        """(δ + L e)/(1 − λ)."""
        room = subtract_down(1.0, self.lam)
        lost = add_up(self.lost, mul_up(self.fed, off) if off else 0.0)
        return float(div_up(lost, room)) if room > 0 else math.inf


def run_error(
    step: Callable[[Tensor], Step],
    box: Tensor,
    by: Tensor,
    anywhere: Callable[[], Tensor],
    off: float,
    scale: float,
) -> Rounding:
    """C r for the least r that is proved.

    step: what is known where both runs stay in a box. box: that of the exact states, (1, N). by: at
    least |s_i| for ‖s‖_* = 1. anywhere: a box of both runs, whatever their gap. off: e. scale: C.
    """
    r = base = step(box).gap(off)
    if base == 0:
        return Rounding(0.0)
    if math.isinf(base):
        return Rounding(reason="a step may overflow, or its rounding has no known bound")
    for tried in (headroom * base for headroom in HEADROOMS):
        if tried < r:
            continue
        told = step(add_up(box, mul_up(by, tried)))
        if (r := told.gap(off)) <= tried:
            return Rounding(float(mul_up(scale, r)))
        if math.isinf(r):
            break
    r = step(anywhere()).gap(off)
    if math.isinf(r):
        return Rounding(reason="no contraction is certified on the states that rounding may reach")
    return Rounding(float(mul_up(scale, r)))


def safely(step: Callable[[Tensor], Step]) -> Callable[[Tensor], Step]:
    """Wrap a step to return infinite bounds where it may divide by 0."""

    def told(box: Tensor) -> Step:
        try:
            return step(box)
        except PoleError:
            return Step(math.inf, math.inf, math.inf)

    return told


def dtype_of(name: str) -> torch.dtype:
    """Torch's dtype of that name."""
    found: torch.dtype = getattr(torch, name)
    return found
