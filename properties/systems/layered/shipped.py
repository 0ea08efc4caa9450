"""Members whose cell is one that ships, with dyadic weights: floats and rationals at once.

The cell's own step is run, in rationals where its activation stays in them, in balls elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from flint import arb_mat, fmpq, fmpq_mat

from impl.arithmetic.activation import activation
from impl.arithmetic.balls import Balls, Columns
from impl.arithmetic.rationals import Rationals, Ratios
from properties.systems.layered.dyadic import floats
from properties.systems.spec import SystemSpec
from properties.systems.unitary.exact import Vector, minus


@dataclass(frozen=True, eq=False)
class Shipped:
    """A cell, a batch of one, with its inputs x (S, T, d) and pairs of states (S, N)."""

    spec: SystemSpec
    cell: Any
    x: list[list[Vector]]
    h: list[Vector]
    h_other: list[Vector]

    @cached_property
    def rational(self) -> bool:
        """Whether ρ, and so every step, stays in the rationals."""
        return activation(self.spec.activation).exact is not None

    @cached_property
    def parts(self) -> dict[str, torch.Tensor]:
        """The weights of this one system."""
        return {name: part[0] for name, part in self.cell.parameters.items()}

    @cached_property
    def exact(self) -> Rationals:
        """The weights as rationals."""
        return Rationals(self.parts)

    @cached_property
    def numbers(self) -> Any:
        """The arithmetic of steps: rationals where ρ stays in them, else balls."""
        return self.exact if self.rational else Balls(self.parts)

    def vector(self, name: str) -> Vector:
        """A weight that is a vector."""
        return tuple(v for (v,) in self.exact.rows(name))

    def column(self, v: Sequence[fmpq]) -> Any:
        """A vector as a column of the arithmetic's numbers."""
        column = fmpq_mat(len(v), 1, list(v))
        return Ratios.of(column) if self.rational else Columns.of(arb_mat(column))

    def step(self, h: Any, x: Vector) -> Any:
        """φ(h, x) of a column h."""
        return self.cell.program(self.numbers, h, self.column(x))

    def run(self, h: Sequence[fmpq], s: int, first: int = 0, last: int | None = None) -> list[Any]:
        """The columns from a state on, before input ``first`` and after each up to ``last``."""
        found = [self.column(h)]
        for x in self.x[s][first:last]:
            found.append(self.step(found[-1], x))
        return found

    @property
    def rest(self) -> Vector:
        """The state that runs from zero start in."""
        return (fmpq(0),) * len(self.h[0])

    @cached_property
    def paths(self) -> list[list[Any]]:
        """The states of each sequence from zero, 0 … T."""
        return [self.run(self.rest, s) for s in range(len(self.x))]

    def before(self, s: int, k: int) -> Vector:
        """s_{T−k}, of rational steps."""
        return entries(self.paths[s][self.spec.T - k])

    def memory(self, s: int, k: int) -> Vector:
        """s_T − s_T^k, of rational steps."""
        fresh = self.run(self.rest, s, self.spec.T - k)[-1]
        return minus(self.before(s, 0), entries(fresh))


def entries(column: Any) -> Vector:
    """The units of a rational column."""
    return tuple(v for (v,) in column.units)


def tensor(A: fmpq_mat) -> torch.Tensor:
    """(1, m, n) of a dyadic matrix."""
    return torch.tensor([floats(A)], dtype=torch.float64)


def vectors(v: Sequence[fmpq]) -> torch.Tensor:
    """(1, n) of a dyadic vector."""
    return tensor(fmpq_mat(1, len(v), list(v)))[:, 0]
