"""The same runs of one pair in ball arithmetic, window by window; see
`properties.measures.runs.runs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, Duals
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.properties.measures.runs.gaps import Gap, Gaps
from rnnbounds.properties.measures.runs.seeds import BallSeeds


class Step(NamedTuple):
    """A = ∂φ/∂s (N, N), E = ∂φ/∂x (N, d) and B = ∂φ/∂w (N, P), or differences of these."""

    A: arb_mat
    E: arb_mat
    B: arb_mat


def cut(matrix: arb_mat, columns: slice) -> arb_mat:
    """Some columns of a matrix."""
    return arb_mat([row[columns] for row in matrix.tolist()])


def column(values: list[float]) -> Columns:
    """One column of floats."""
    return Columns([[arb(value)] for value in values])


@dataclass(frozen=True, eq=False)
class BallRuns:
    """The runs of one system on inputs x (T, d), at the precision that is current when read."""

    program: Any
    parameters: dict[str, torch.Tensor]
    units: int
    x: list[list[float]]
    cache: dict[Any, Any] = field(default_factory=dict)

    @property
    def T(self) -> int:
        """How many steps."""
        return len(self.x)

    @cached_property
    def plain(self) -> Balls:
        """The arithmetic of the cell."""
        return Balls({name: tensor[0] for name, tensor in self.parameters.items()})

    @cached_property
    def seeds(self) -> Any:
        """The directions of derivatives."""
        return BallSeeds(self.parameters, self.units, len(self.x[0]))

    @cached_property
    def inputs(self) -> list[Columns]:
        """x_1 … x_T."""
        return [column(x) for x in self.x]

    @cached_property
    def states(self) -> list[Columns]:
        """s_0 … s_T of the full run."""
        found = [column([0.0] * self.units)]
        for x in self.inputs:
            found.append(self.program(self.plain, found[-1], x))
        return found

    def trail(self, k: int) -> list[Gap[Columns]]:
        """Both runs of one window from time T − k on."""
        if ("trail", k) not in self.cache:
            made, start = Gaps(self.plain), self.states[self.T - k]
            found = [Gap(start, start)]
            for x in self.inputs[self.T - k :]:
                found.append(self.program(made, found[-1], Gap(x, x - x)))
            self.cache["trail", k] = found
        trail: list[Gap[Columns]] = self.cache["trail", k]
        return trail

    def gap(self, k: int) -> arb_mat:
        """s_T − s_T^k, (N, 1)."""
        return self.trail(k)[-1].gap.matrix

    def moving(self, s: Columns, x: Columns) -> tuple[Dual[Columns], Dual[Columns]]:
        """A state and an input as directions of their own."""
        seeds = self.seeds
        return Dual(s, seeds.unit(s, 0)), Dual(x, seeds.unit(x, self.units))

    def split(self, tangent: Columns) -> Step:
        """A step's derivative by the state, the input and the parameters."""
        of, whole = self.seeds, tangent.matrix
        return Step(*(cut(whole, part) for part in (of.of_state, of.of_input, of.of_parameters)))

    def local(self, s: Columns, x: Columns) -> Step:
        """The derivatives of one step."""
        made = Duals(self.plain, self.seeds)
        return self.split(self.program(made, *self.moving(s, x)).tangent)

    def local_gap(self, at: Gap[Columns], x: Columns) -> Step:
        """The differences of both runs' derivatives of one step."""
        made = Gaps(Duals(self.plain, self.seeds))
        (s, at_x), zero = self.moving(at.value, x), x - x
        still = Dual(at.gap, s.tangent - s.tangent), Dual(zero, at_x.tangent - at_x.tangent)
        moved = self.program(made, Gap(s, still[0]), Gap(at_x, still[1]))
        return self.split(moved.gap.tangent)

    @cached_property
    def steps(self) -> list[Step]:
        """The derivatives of the full run's T steps."""
        return [self.local(*pair) for pair in zip(self.states, self.inputs, strict=False)]

    @cached_property
    def sensitivities(self) -> list[arb_mat]:
        """D_0 … D_T of the full run, (N, P) each."""
        found = [self.steps[0].B * 0]
        for step in self.steps:
            found.append(step.A * found[-1] + step.B)
        return found

    def sensitivity_gap(self, k: int) -> arb_mat:
        """D_T − D_T^k, (N, P)."""
        start = self.T - k
        at = self.sensitivities[start]
        for t, both in zip(range(start, self.T), self.trail(k), strict=False):
            A, moved = self.steps[t].A, self.local_gap(both, self.inputs[t])
            at = (A - moved.A) * at + moved.A * self.sensitivities[t] + moved.B
        return at

    def transition(self, k: int) -> arb_mat:
        """∂s_T/∂s_{T−k}, (N, N)."""
        found = arb_mat([[int(i == j) for j in range(self.units)] for i in range(self.units)])
        for step in self.steps[self.T - k :]:
            found = step.A * found
        return found
