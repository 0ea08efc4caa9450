"""Bound on the rounding error of a whole run in a dtype, from that of a step and the contraction.

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
class LayerInputs:
    """The inputs of a layer, as the run below computes them.

    input_error: ‖x̂ − x‖₂, how far they are from the exact ones. inputs: the bound or set that holds
    both. states: the box of the exact states under the exact inputs (1, N).
    """

    input_error: float
    inputs: float
    states: Tensor | None = None

    @classmethod
    def of_outputs(
        cls, input_error: float, B: float, box: Tensor | None, states: Tensor | None
    ) -> "LayerInputs":
        """By outputs ‖h‖₂ ≤ B, |h_i| ≤ box_i (n,) of a layer that are off by so much."""
        bound = float(add_up(B, input_error))
        if box is not None:
            sides = add_up(box, input_error)
            bound = InputSet(bound, -sides, sides, "the outputs of the layer below")
        return cls(input_error, bound, states)


@dataclass(frozen=True)
class StepBounds:
    """Bounds on a step on a box in one norm: factor λ, input Lipschitz constant L, error δ."""

    lam: float
    input_lipschitz: float
    error: float

    def run_gap(self, input_error: float) -> float:
        """Bound (δ + L e)/(1 − λ) on the gap of two runs with inputs e apart; infinite if λ ≥ 1."""
        margin = subtract_down(1.0, self.lam)
        error = add_up(
            self.error, mul_up(self.input_lipschitz, input_error) if input_error else 0.0
        )
        return float(div_up(error, margin)) if margin > 0 else math.inf


def run_error(
    step: Callable[[Tensor], StepBounds],
    box: Tensor,
    unit_reach: Tensor,
    run_box: Callable[[], Tensor],
    input_error: float,
    scale: float,
) -> Rounding:
    """Bound C r on the rounding error of the output, for the least r that is proved.

    step: what is known where both runs stay in a box. box: that of the exact states, (1, N).
    unit_reach: at least |s_i| for ‖s‖_* = 1. run_box: a box of both runs, whatever their gap.
    input_error: e. scale: C.
    """
    r = first_gap = step(box).run_gap(input_error)
    if first_gap == 0:
        return Rounding(0.0)
    if math.isinf(first_gap):
        return Rounding(reason="a step may overflow, or its rounding has no known bound")
    for radius in (headroom * first_gap for headroom in HEADROOMS):
        if radius < r:
            continue
        bounds = step(add_up(box, mul_up(unit_reach, radius)))
        if (r := bounds.run_gap(input_error)) <= radius:
            return Rounding(float(mul_up(scale, r)))
        if math.isinf(r):
            break
    r = step(run_box()).run_gap(input_error)
    if math.isinf(r):
        return Rounding(reason="no contraction is certified on the states that rounding may reach")
    return Rounding(float(mul_up(scale, r)))


def guard_poles(step: Callable[[Tensor], StepBounds]) -> Callable[[Tensor], StepBounds]:
    """Wrap a step to return infinite bounds where it may divide by 0."""

    def guarded(box: Tensor) -> StepBounds:
        try:
            return step(box)
        except PoleError:
            return StepBounds(math.inf, math.inf, math.inf)

    return guarded


def dtype_of(name: str) -> torch.dtype:
    """Torch's dtype of that name."""
    dtype: torch.dtype = getattr(torch, name)
    return dtype
