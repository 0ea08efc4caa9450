"""Runs of a batch of cells that start at several times, and the derivatives of their steps.

The truncated run of window k starts from zero at time T − k, where the full one is s_{T−k}; what is
carried is the full run and its difference from the truncated one (`properties.read.numbers.gaps`),
for all windows at once. A derivative is split where gradients are: D_t = ∂s_t/∂w = A_t D_{t−1} +
B_t with A_t = ∂φ/∂s and B_t = ∂φ/∂w, whose differences between both runs come from the same
recursion. Columns are S for each window, the longest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.properties.read.numbers.gaps import Difference, Differences
from rnnbounds.properties.read.numbers.norms import operator_product, repeat_columns
from rnnbounds.properties.read.numbers.rounded import Rounded, RoundedCells, join_parts
from rnnbounds.properties.read.numbers.seeds import RoundedDirections

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """A = ∂φ/∂s (B, N, M, N), E = ∂φ/∂x (B, N, M, d) and B = ∂φ/∂w (B, N, M, P) of each column."""

    A: Rounded
    E: Rounded
    B: Rounded

    def columns(self, start: int, stop: int) -> StepDerivatives:
        """Select the derivatives of the columns from start on, before stop."""
        return StepDerivatives(*(part.columns(start, stop) for part in (self.A, self.E, self.B)))


@dataclass(frozen=True, eq=False)
class CellRuns:
    """The runs of cells with this program on inputs x (B, T, d, S), for windows 0 … K.

    ``states`` are s_0 … s_T of the full run, (B, N, S) each.
    """

    program: Any
    parameters: dict[str, Tensor]
    units: int
    x: Tensor
    K: int
    states: list[Rounded]

    @property
    def T(self) -> int:
        """Number of time steps."""
        return self.x.shape[1]

    @property
    def S(self) -> int:
        """Number of input sequences."""
        return self.x.shape[3]

    @cached_property
    def arithmetic(self) -> RoundedCells:
        """The arithmetic of the cells."""
        return RoundedCells(self.parameters)

    @cached_property
    def directions(self) -> Any:
        """The directions of derivatives."""
        return RoundedDirections(
            self.parameters, self.units, self.x.shape[2], tuple(self.parameters)
        )

    @cached_property
    def paired_states(self) -> list[Difference[Rounded]]:
        """Both runs of the windows k ≥ 1 before each of the last K steps, and after the last."""
        arithmetic, pairs = Differences(self.arithmetic), []
        current: Difference[Rounded] | None = None
        for t in range(self.T - self.K, self.T):
            longest = Difference(self.states[t], self.states[t])
            current = longest if current is None else join_columns(current, longest)
            pairs.append(current)
            x = self.inputs(t, current.value.value.shape[2] // self.S)
            current = self.program(arithmetic, current, Difference(x, x - x))
        return pairs if current is None else [*pairs, current]

    def inputs(self, t: int, windows: int) -> Rounded:
        """x_{t+1} for so many windows."""
        return Rounded.exact(self.x[:, t].repeat(1, 1, windows))

    def split_windows(self, vectors: Rounded | None, shortest: Rounded) -> Rounded:
        """(B, …, K S, …) with the longest windows first, and what is there for k = 0, as windows
        0 … K along the third axis, (B, N, K+1, S, …)."""
        parts = [shortest] if vectors is None else [vectors, shortest]
        joined = join_parts(parts, dim=2)
        B, N, _, *trailing = joined.value.shape
        shape = (B, N, self.K + 1, self.S, *trailing)
        return Rounded(*(part.reshape(shape).flip(2) for part in (joined.value, joined.error)))

    @cached_property
    def gaps(self) -> Rounded:
        """s_T − s_T^k, (B, N, K+1, S)."""
        return self.split_windows(
            self.paired_states[-1].gap if self.paired_states else None, self.states[-1]
        )

    @cached_property
    def step_derivatives(self) -> list[StepDerivatives]:
        """The derivatives of the full run's T steps, S columns each."""
        x = Rounded.exact(torch.cat(self.x.unbind(1), dim=2))
        derivatives = self.derivatives_at(join_parts(self.states[:-1], dim=2), x)
        return [derivatives.columns(t * self.S, (t + 1) * self.S) for t in range(self.T)]

    @cached_property
    def step_derivative_gaps(self) -> list[StepDerivatives]:
        """The differences of both runs' derivatives at each of the last K steps."""
        if not self.paired_states:
            return []
        starts = self.paired_states[:-1]
        counts = [at.value.value.shape[2] for at in starts]
        times = range(self.T - self.K, self.T)
        pairs = zip(times, counts, strict=True)
        x = join_parts([self.inputs(t, count // self.S) for t, count in pairs], dim=2)
        s, ds = (join_parts([getattr(a, name) for a in starts], dim=2) for name in ("value", "gap"))
        derivatives = self.derivative_gaps_at(Difference(s, ds), x)
        offsets = [sum(counts[:i]) for i in range(len(counts) + 1)]
        return [derivatives.columns(a, b) for a, b in pairwise(offsets)]

    def derivatives_at(self, s: Rounded, x: Rounded) -> StepDerivatives:
        """The derivatives of one step of M columns."""
        arithmetic = DualArithmetic(self.arithmetic, self.directions)
        return self.split_tangent(self.program(arithmetic, *self.with_directions(s, x)).tangent)

    def derivative_gaps_at(self, both: Difference[Rounded], x: Rounded) -> StepDerivatives:
        """The differences of both runs' derivatives of one step of M columns."""
        (s, input_dual), zero = (
            self.with_directions(both.value, x),
            Rounded.exact(torch.zeros_like(x.value)),
        )
        unmoved = (
            Dual(both.gap, s.tangent - s.tangent),
            Dual(zero, input_dual.tangent - input_dual.tangent),
        )
        arithmetic = Differences(DualArithmetic(self.arithmetic, self.directions))
        result = self.program(
            arithmetic, Difference(s, unmoved[0]), Difference(input_dual, unmoved[1])
        )
        return self.split_tangent(result.gap.tangent)

    def with_directions(self, s: Rounded, x: Rounded) -> tuple[Dual[Rounded], Dual[Rounded]]:
        """States and inputs as directions of their own."""
        seeds = self.directions
        return Dual(s, seeds.unit(s, 0)), Dual(x, seeds.unit(x, self.units))

    def split_tangent(self, tangent: Rounded) -> StepDerivatives:
        """A step's derivative by the state, the input and the parameters."""
        of = self.directions
        return StepDerivatives(
            tangent[..., of.state_slice],
            tangent[..., of.input_slice],
            tangent[..., of.parameter_slice],
        )

    @cached_property
    def sensitivities(self) -> list[Rounded]:
        """D_0 … D_T of the full run, (B, N, S, P) each."""
        zero = self.step_derivatives[0].B.value * 0
        values = [Rounded.exact(zero)]
        for step in self.step_derivatives:
            values.append(operator_product(step.A, values[-1]) + step.B)
        return values

    @cached_property
    def sensitivity_gaps(self) -> Rounded:
        """D_T − D_T^k, (B, N, K+1, S, P)."""
        gap: Rounded | None = None
        for i, step_gap in enumerate(self.step_derivative_gaps):
            t = self.T - self.K + i
            D, step = self.sensitivities[t], self.step_derivatives[t]
            gap = D if gap is None else join_parts([gap, D], dim=2)
            A, D = (repeat_columns(part, i + 1) for part in (step.A, D))
            gap = (
                operator_product(A - step_gap.A, gap) + operator_product(step_gap.A, D) + step_gap.B
            )
        return self.split_windows(gap, self.sensitivities[-1])

    @cached_property
    def transitions(self) -> list[Rounded]:
        """∂s_T/∂s_{T−k} for k = 0 … K, (B, N, S, N) each."""
        identity = torch.eye(self.units, dtype=self.x.dtype, device=self.x.device)
        products = [Rounded.exact(identity[None, :, None].expand(len(self.x), -1, self.S, -1))]
        for step in reversed(self.step_derivatives[self.T - self.K :]):
            products.append(operator_product(products[-1], step.A))
        return products


def join_columns(one: Difference[Rounded], two: Difference[Rounded]) -> Difference[Rounded]:
    """The columns of both."""
    return Difference(
        join_parts([one.value, two.value], dim=2), join_parts([one.gap, two.gap], dim=2)
    )
