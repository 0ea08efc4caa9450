"""LSTM and GRU cells in a diagonal norm by multipliers for their gates.

Between two runs under the same inputs, with primes for the other run and secant slopes σ̇ and τ̇ of
sigmoid and tanh,

    Δc⁺ = f Δc + c′ σ̇_f Δa_f + i τ̇_z Δa_z + z′ σ̇_i Δa_i,    Δh⁺ = o τ̇ Δc⁺ + tanh(c′⁺) σ̇_o Δa_o

of an LSTM; of a GRU with ν = tanh a_n, a_n = u + r q and q = W_n h + b,

    Δh⁺ = z Δh + (h′ − ν′) σ̇_z Δa_z + (1 − z) τ̇ r Δq + (1 − z) τ̇ q′ σ̇_r Δa_r,

where Δa = W Δh. The ranges of these factors are those on the box of states.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from flint import arb
from torch import Tensor

from rnnbounds.impl.arithmetic.intervals import Interval, function_bounds
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.rounding import LayerInputs, RunGap
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.gate_multipliers import (
    Array,
    GateNorm,
    GateSystem,
    certified_factor,
    factor_in_floats,
    gate_norm,
)
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.norms.solver.client import GATE_SDP, LARGEST_GATED
from rnnbounds.impl.numbers import ball_functions as balls
from rnnbounds.impl.numbers.ball_functions import upper_bound
from rnnbounds.impl.numbers.outward import div_up, mul_up, norm_up, subtract_down

_ABOVE = 1.5  # times the factor of the comparison: programs come down from there


@dataclass(frozen=True, eq=False)
class GateAnalysis(ProgramAnalysis):
    """Certified bounds on an LSTM or a GRU, whose `gate_system` has the ranges on a box."""

    def norm(self, name: str) -> StateNorm:
        """The norm of that name: that of the comparison, or one by multipliers."""
        if name != GATE_SDP:
            return super().norm(name)
        size = self.comparison.box.shape[1]
        if size > LARGEST_GATED:
            limit = f"at most {LARGEST_GATED}"
            raise RangeError(f"the numbers of a state for {GATE_SDP}", size, limit)
        v = self.comparison.perron()
        system = self.cell.gate_system(self.comparison.box, self.B)
        above = _ABOVE * float(self.comparison.factor(v)[0])
        found = gate_norm(system, 1 / v[0].cpu().numpy(), above)
        weights = tuple(np.concatenate([found.d, found.multipliers.flatten()]).tolist())
        d, box = torch.from_numpy(found.d), self.comparison.box[0].cpu()
        return StateNorm(
            GATE_SDP,
            found.factor,
            float(norm_up(mul_up(d, self.comparison.drive[0].cpu()))),
            float(div_up(1.0, d[-self.comparison.n :].amin())),
            float(d.amax()),
            weights,
            float(norm_up(mul_up(d, box))),
            input_lipschitz=_input_lipschitz(d, self.comparison),
        )

    def gap(self, norm: StateNorm, box: Tensor, fed: LayerInputs, error: Tensor) -> RunGap:
        """Bounds on the gap of two runs on a box; in the norm by multipliers too, of ‖d∘e‖₂ ≤
        ‖d∘ρ‖₂/(1 − λ)."""
        bounds, lam, d = self.step_bounds(box, fed, error), norm.lam, self._d(norm)
        if norm.name != GATE_SDP:
            return bounds.gap
        if bounds.comparison is not self.comparison:
            system = self.cell.gate_system(box, fed.inputs)
            multipliers = np.array((norm.weights or ())[len(d) :]).reshape(system.low.shape)
            guess = factor_in_floats(system, d.numpy(), multipliers)
            lam = certified_factor(system, GateNorm(d.numpy(), multipliers, guess))
        if not lam < 1:
            return bounds.gap
        d = d.to(box)
        size = div_up(norm_up(mul_up(d, bounds.error)), subtract_down(1.0, lam))
        least = d.reshape(self.comparison.blocks, -1).amin(1)
        return bounds.gap.meet(RunGap(div_up(size, d), div_up(size, least)))

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """The constants of every cell; the steps r by max d/min d."""
        if norm.name != GATE_SDP:
            return super().constants(norm)
        farthest = float(div_up(1.0, self._d(norm).amin()))
        return super().constants(replace(norm, weights=(farthest,)))

    def _d(self, norm: StateNorm) -> Tensor:
        weights = (norm.weights or ())[: self.comparison.box.shape[1]]
        return torch.tensor(weights, dtype=torch.float64)


def _input_lipschitz(d: Tensor, comparison: Comparison) -> float:
    return float(norm_up(mul_up(d, norm_up(comparison.inputs[0].cpu()))))


def lstm_system(W: Tensor, a: list[Interval], box: Tensor) -> GateSystem:
    """The system of an LSTM, of the rows of i, f, z and o (4n, n), the ranges of these four
    pre-activations, and the box (1, 2n)."""
    i, f, z, o = a
    c = Interval.symmetric(box[:, : box.shape[1] // 2])
    factors = [
        sigmoid(f),
        c * sigmoid_slopes(f),
        sigmoid(i) * tanh_slopes(z),
        tanh(z) * sigmoid_slopes(i),
        sigmoid(o) * tanh_slopes(c),
        tanh(c) * sigmoid_slopes(o),
    ]
    W_i, W_f, W_z, W_o = W.chunk(4)
    still = torch.zeros_like(W_i)
    eye = torch.diag_embed(torch.ones_like(W_i[0]))
    linear = [torch.cat([eye, still], 1), *(torch.cat([still, w], 1) for w in (W_f, W_z, W_i, W_o))]
    G, O = np.zeros((6, 11)), np.zeros((2, 11))
    G[range(4), range(4)] = G[4, 5:9] = G[5, 4] = 1.0  # of c, a_f, a_z, a_i, c⁺ and a_o
    O[0, 5:9] = O[1, 9:] = 1.0
    return _system(linear, factors, G, O)


def gru_system(W: Tensor, a: list[Interval], q: Interval, box: Tensor) -> GateSystem:
    """The system of a GRU, of the rows of r, z and n (3n, n), the ranges of these three
    pre-activations and of q, and the box (1, n)."""
    r, z, nu = a
    h, steep = Interval.symmetric(box), sigmoid(-z) * tanh_slopes(nu)
    factors = [
        sigmoid(z),
        (h + -tanh(nu)) * sigmoid_slopes(z),
        steep * sigmoid(r),
        steep * (q * sigmoid_slopes(r)),
    ]
    W_r, W_z, W_n = W.chunk(3)
    G, O = np.eye(4, 8), np.eye(1, 8)
    O[0] = [0.0] * 4 + [1.0] * 4
    return _system([torch.diag_embed(torch.ones_like(W_r[0])), W_z, W_n, W_r], factors, G, O)


def _system(linear: list[Tensor], factors: list[Interval], G: Array, O: Array) -> GateSystem:
    E = torch.stack(linear, dim=1).cpu().numpy()
    low, high = (
        torch.stack([getattr(factor, end)[0] for factor in factors], dim=1).cpu().numpy()
        for end in ("low", "high")
    )
    return GateSystem(E, G, O, low, high)


sigmoid, tanh = function_bounds("sigmoid").image, function_bounds("tanh").image


def sigmoid_slopes(a: Interval) -> Interval:
    """The slopes of the sigmoid between two numbers of intervals, at most 1/4."""
    return _slopes("sigmoid", balls.sigmoid_slope, a)


def tanh_slopes(a: Interval) -> Interval:
    """The slopes of tanh between two numbers of intervals, at most 1."""
    return _slopes("tanh", balls.tanh_slope, a)


def _slopes(name: str, slope: Callable[[arb], arb], a: Interval) -> Interval:
    """A slope is the less the farther from 0 it is."""
    least = -upper_bound(lambda z: -slope(z), a.magnitude)
    return Interval(least.clamp(min=0.0), function_bounds(name).slope(a))
