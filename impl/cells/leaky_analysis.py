"""Echo-state networks in norms by diagonal weights or by matrices.

With A = diag(a) two runs differ by Δ⁺ = ((I − A) + E A W)Δ, |E| ≤ L, as A and E commute. In
‖D·‖₂, with which I − A commutes too, a step contracts by max(1 − a) + L‖D A W D⁻¹‖₂. Source: Miller
& Hardt, section 2, for the diagonal.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.kind import Weights
from rnnbounds.impl.cells.rounding import LayerInputs, RunGap
from rnnbounds.impl.norms.norm_data import NormData, StateNorm
from rnnbounds.impl.norms.solver import METRIC_SDP
from rnnbounds.impl.norms.state_norms import state_norm
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up, subtract_down

EUCLIDEAN_NORMS = ("diagonal", METRIC_SDP, "quadratic")
_PRECISION = 128


def leaky_norm_data(weights: Weights, rho: Activation, B: float) -> NormData:
    """The parts of the one network of a batch of one: A W, A W_in, a|ρ(b)| and 1 − a."""
    W, U, leak = (weights[name].detach() for name in ("W", "W_in", "leak"))
    bias = weights["b"][0].tolist() if "b" in weights else [0.0] * len(leak[0])
    with ctx.workprec(_PRECISION):
        offset: Tensor = torch.tensor(
            [float_above(abs(rho.ball(arb(b)))) for b in bias], dtype=torch.float64
        )
    return NormData(
        _scaled_weights(leak[:, :, None], W),
        leak[0, :, None] * U[0],
        mul_up(leak[0], offset),
        rho.slope,
        B,
        rho.least,
        add_up(1.0, -leak[0]),
    )


def _scaled_weights(leak: Tensor, W: Tensor) -> Tensor:
    """A W, rounded; the least number where it is not 0 but too small for one."""
    product = leak * W
    smallest = torch.full_like(W, math.ulp(0.0)).copysign(W)
    return torch.where((product == 0) & (W != 0), smallest, product)


@dataclass(frozen=True, eq=False)
class LeakyAnalysis(ProgramAnalysis):
    """Certified bounds on one echo-state network; `parts` are those of A W and A W_in."""

    parts: NormData = field(kw_only=True)

    def norm(self, name: str) -> StateNorm:
        """The norm of that name: that of the comparison, or one by diagonal weights."""
        if name not in EUCLIDEAN_NORMS:
            return super().norm(name)
        return state_norm(name, self._data_with_box)

    @cached_property
    def _data_with_box(self) -> NormData:
        return replace(self.parts, box=self.comparison.box[0])

    def gap(self, norm: StateNorm, box: Tensor, fed: LayerInputs, error: Tensor) -> RunGap:
        """Bounds on the gap of two runs; in norms by diagonal weights also C (c‖ρ‖₂ + L e)/(1 − λ),
        which needs no box."""
        gap = super().gap(norm, box, fed, error)
        if norm.name not in EUCLIDEAN_NORMS:
            return gap
        step = mul_up(norm.reach, norm_up(error))
        if fed.input_error:
            step = add_up(step, mul_up(norm.input_lipschitz, fed.input_error))
        size = div_up(mul_up(norm.equivalence, step), subtract_down(1.0, norm.lam))
        return gap.meet(RunGap(size.expand_as(gap.units), size))
