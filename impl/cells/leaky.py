"""The echo-state network: a vanilla cell that keeps a part of its state.

    h⁺ = (1 − a)∘h + a∘ρ(W h + W_in x + b),    0 < a ≤ 1 unit by unit,

with a ("leak") stored as a weight, (n,). So |Δh⁺| ≤ ((1 − a) + a L_ρ|W|)|Δh| row by row, and in the
Euclidean norm λ = max(1 − a) + L_ρ‖diag(a) W‖₂, which for equal leaks is (1 − a) + a L_ρ‖W‖₂; where
|ρ| ≤ M, states stay in |h_j| ≤ M. Sources: Jaeger (2001); Jaeger et al. (2007), leaky units.

Echo-state networks in norms by diagonal weights or by matrices.

With A = diag(a) two runs differ by Δ⁺ = ((I − A) + E A W)Δ, |E| ≤ L, as A and E commute. In
‖D·‖₂, with which I − A commutes too, a step contracts by max(1 − a) + L‖D A W D⁻¹‖₂. Source: Miller
& Hardt, section 2, for the diagonal.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.kind import Kind, Weights, fixed
from rnnbounds.impl.cells.program import Activated, program_kind
from rnnbounds.impl.cells.rounding import LayerInputs, RunGap
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.metric import METRIC_SDP
from rnnbounds.impl.norms.norm_data import NormData, StateNorm
from rnnbounds.impl.norms.state_norms import dense_norms, state_norm
from rnnbounds.impl.numbers.ball_functions import upper_bound
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up, subtract_down
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

EUCLIDEAN_NORMS = ("diagonal", METRIC_SDP, "quadratic")


def leaky_norm_data(weights: Weights, rho: Activation, B: InputBound) -> NormData:
    """The parts of the one network of a batch of one: A W, A W_in, a|ρ(b)| and 1 − a."""
    W, U, leak = (weights[name].detach() for name in ("W", "W_in", "leak"))
    bias = weights["b"][0].detach() if "b" in weights else torch.zeros_like(leak[0])
    offset = upper_bound(lambda b: abs(rho.ball(b)), bias)
    return NormData(
        _scaled_weights(leak[:, :, None], W),
        leak[0, :, None] * U[0],
        mul_up(leak[0], offset),
        rho.slope,
        float(B),
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


@dataclass(frozen=True, eq=False)
class Leaky(Activated):
    """B echo-state networks: W (B, n, n), W_in (B, n, d), leak (B, n) and perhaps b (B, n)."""

    reads = "W_in"

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        pre_activation = m.affine("W_in", "b", x) + m.affine("W", None, s)
        return m.mix(m.vector("leak"), m.activate(self.activation.name, pre_activation), s)

    def constants(self, box: Tensor, B: InputBound) -> dict[str, float]:
        """The Euclidean norm of W, how steep ρ is, and the least and the largest leak."""
        leak = self.parameters["leak"].detach()
        return {
            "L_rho": self.activation.slope,
            "W_norm": float(certified_norm(self.parameters["W"])),
            "leak_low": float(leak.amin()),
            "leak_high": float(leak.amax()),
        }

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """1 − a: what a unit keeps beside what comes back through W."""
        return m.vector("leak"), True


def require_leaks_in_range(weights: Weights) -> Weights:
    """The weights; raises RangeError for leaks that are not in (0, 1].

    Asked where a cell is built, not at each step: a step that is traced has no numbers.
    """
    leak = weights["leak"]
    outside = ~((leak > 0) & (leak <= 1))
    if bool(outside.any()):
        raise RangeError("a leak", float(leak[outside][0]), "in (0, 1]")
    return weights


def leaky_kind(rho: Activation) -> Kind:
    """The kind with that activation; its leaks are in (0, 1]."""

    def make(weights: Weights) -> Leaky:
        return Leaky(weights, rho)

    def analyse(model: LoadedModel[Leaky], B: InputBound) -> LeakyAnalysis:
        return LeakyAnalysis.of(model, B, parts=leaky_norm_data(model.cell.parameters, rho, B))

    return program_kind(
        f"leaky-{rho.name}",
        make,
        fixed({"W": "n n", "W_in": "n d", "leak": "n", "b": "n"}, optional=("b",)),
        prepare=require_leaks_in_range,
        norms=(
            "spectral",
            "infinity",
            "perron",
            *dense_norms(EUCLIDEAN_NORMS, rho.least, rho.slope),
        ),
        default=False,
        analyse=analyse,
    )


LEAKY_KINDS = tuple(leaky_kind(rho) for rho in ACTIVATIONS.values())
