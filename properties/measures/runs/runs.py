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
from rnnbounds.properties.read.numbers.norms import product, repeated
from rnnbounds.properties.read.numbers.rounded import Rounded, RoundedCells, beside
from rnnbounds.properties.read.numbers.seeds import RoundedSeeds

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class Local:
    """A = ∂φ/∂s (B, N, M, N), E = ∂φ/∂x (B, N, M, d) and B = ∂φ/∂w (B, N, M, P) of each column."""

    A: Rounded
    E: Rounded
    B: Rounded

    def columns(self, start: int, stop: int) -> Local:
        """Those of some columns."""
        return Local(*(part.columns(start, stop) for part in (self.A, self.E, self.B)))


@dataclass(frozen=True, eq=False)
class Runs:
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
        """How many steps."""
        return self.x.shape[1]

    @property
    def S(self) -> int:
        """How many sequences."""
        return self.x.shape[3]

    @cached_property
    def plain(self) -> RoundedCells:
        """The arithmetic of the cells."""
        return RoundedCells(self.parameters)

    @cached_property
    def seeds(self) -> Any:
        """The directions of derivatives."""
        return RoundedSeeds(self.parameters, self.units, self.x.shape[2], tuple(self.parameters))

    @cached_property
    def trail(self) -> list[Difference[Rounded]]:
        """Both runs of the windows k ≥ 1 before each of the last K steps, and after the last."""
        made, found = Differences(self.plain), []
        at: Difference[Rounded] | None = None
        for t in range(self.T - self.K, self.T):
            new = Difference(self.states[t], self.states[t])
            at = new if at is None else cat(at, new)
            found.append(at)
            x = self.inputs(t, at.value.value.shape[2] // self.S)
            at = self.program(made, at, Difference(x, x - x))
        return found if at is None else [*found, at]

    def inputs(self, t: int, windows: int) -> Rounded:
        """x_{t+1} for so many windows."""
        return Rounded.exact(self.x[:, t].repeat(1, 1, windows))

    def by_window(self, vectors: Rounded | None, shortest: Rounded) -> Rounded:
        """(B, …, K S, …) with the longest windows first, and what is there for k = 0, as windows
        0 … K along the third axis, (B, N, K+1, S, …)."""
        parts = [shortest] if vectors is None else [vectors, shortest]
        whole = beside(parts, dim=2)
        B, N, _, *rest = whole.value.shape
        shape = (B, N, self.K + 1, self.S, *rest)
        return Rounded(*(part.reshape(shape).flip(2) for part in (whole.value, whole.error)))

    @cached_property
    def gaps(self) -> Rounded:
        """s_T − s_T^k, (B, N, K+1, S)."""
        return self.by_window(self.trail[-1].gap if self.trail else None, self.states[-1])

    @cached_property
    def local(self) -> list[Local]:
        """The derivatives of the full run's T steps, S columns each."""
        x = Rounded.exact(torch.cat(self.x.unbind(1), dim=2))
        found = self.at(beside(self.states[:-1], dim=2), x)
        return [found.columns(t * self.S, (t + 1) * self.S) for t in range(self.T)]

    @cached_property
    def local_gaps(self) -> list[Local]:
        """The differences of both runs' derivatives at each of the last K steps."""
        if not self.trail:
            return []
        before = self.trail[:-1]
        counts = [at.value.value.shape[2] for at in before]
        times = range(self.T - self.K, self.T)
        pairs = zip(times, counts, strict=True)
        x = beside([self.inputs(t, count // self.S) for t, count in pairs], dim=2)
        s, ds = (beside([getattr(a, name) for a in before], dim=2) for name in ("value", "gap"))
        found = self.gap_at(Difference(s, ds), x)
        ends = [sum(counts[:i]) for i in range(len(counts) + 1)]
        return [found.columns(a, b) for a, b in pairwise(ends)]

    def at(self, s: Rounded, x: Rounded) -> Local:
        """The derivatives of one step of M columns."""
        made = DualArithmetic(self.plain, self.seeds)
        return self.split(self.program(made, *self.moving(s, x)).tangent)

    def gap_at(self, both: Difference[Rounded], x: Rounded) -> Local:
        """The differences of both runs' derivatives of one step of M columns."""
        (s, at), zero = self.moving(both.value, x), Rounded.exact(torch.zeros_like(x.value))
        still = Dual(both.gap, s.tangent - s.tangent), Dual(zero, at.tangent - at.tangent)
        made = Differences(DualArithmetic(self.plain, self.seeds))
        moved = self.program(made, Difference(s, still[0]), Difference(at, still[1]))
        return self.split(moved.gap.tangent)

    def moving(self, s: Rounded, x: Rounded) -> tuple[Dual[Rounded], Dual[Rounded]]:
        """States and inputs as directions of their own."""
        seeds = self.seeds
        return Dual(s, seeds.unit(s, 0)), Dual(x, seeds.unit(x, self.units))

    def split(self, tangent: Rounded) -> Local:
        """A step's derivative by the state, the input and the parameters."""
        of = self.seeds
        return Local(
            tangent[..., of.of_state], tangent[..., of.of_input], tangent[..., of.of_parameters]
        )

    @cached_property
    def sensitivities(self) -> list[Rounded]:
        """D_0 … D_T of the full run, (B, N, S, P) each."""
        zero = self.local[0].B.value * 0
        found = [Rounded.exact(zero)]
        for step in self.local:
            found.append(product(step.A, found[-1]) + step.B)
        return found

    @cached_property
    def sensitivity_gaps(self) -> Rounded:
        """D_T − D_T^k, (B, N, K+1, S, P)."""
        at: Rounded | None = None
        for i, moved in enumerate(self.local_gaps):
            t = self.T - self.K + i
            D, step = self.sensitivities[t], self.local[t]
            at = D if at is None else beside([at, D], dim=2)
            A, D = (repeated(part, i + 1) for part in (step.A, D))
            at = product(A - moved.A, at) + product(moved.A, D) + moved.B
        return self.by_window(at, self.sensitivities[-1])

    @cached_property
    def transitions(self) -> list[Rounded]:
        """∂s_T/∂s_{T−k} for k = 0 … K, (B, N, S, N) each."""
        one = torch.eye(self.units, dtype=self.x.dtype, device=self.x.device)
        found = [Rounded.exact(one[None, :, None].expand(len(self.x), -1, self.S, -1))]
        for step in reversed(self.local[self.T - self.K :]):
            found.append(product(found[-1], step.A))
        return found


def cat(one: Difference[Rounded], two: Difference[Rounded]) -> Difference[Rounded]:
    """The columns of both."""
    return Difference(beside([one.value, two.value], dim=2), beside([one.gap, two.gap], dim=2))
