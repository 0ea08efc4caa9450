"""Members whose cell is one that ships, with dyadic weights: floats and rationals at once.

The cell's own step is run, in rationals where its activation stays in them, in balls elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import torch
from flint import arb_mat, fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.arithmetic.entries.rationals import Rationals, Ratios
from rnnbounds.properties.systems.layered.dyadic import floats
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Vector, minus


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
        """True if ρ maps rationals to rationals, so that every step is exact."""
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
        return self.columns([v])

    def columns(self, vectors: Sequence[Sequence[fmpq]]) -> Any:
        """Vectors of one size, each as a column."""
        matrix = fmpq_mat(len(vectors), len(vectors[0]), list(chain.from_iterable(vectors)))
        found = matrix.transpose()
        return Ratios.of(found) if self.rational else Columns.of(arb_mat(found))

    def step(self, h: Any, x: Vector) -> Any:
        """φ(h, x) of a column h."""
        return self.cell.program(self.numbers, h, self.column(x))

    def run(self, starts: Sequence[Vector]) -> list[Any]:
        """The states before each input and after the last, from one start or more for each
        sequence: a column each, all first starts before all second ones."""
        found = [self.columns(starts)]
        for t in range(self.spec.T):
            found.append(self.fed(found[-1], t, len(starts) // len(self.x)))
        return found

    def fed(self, states: Any, t: int, times: int) -> Any:
        """φ of columns, so many for each sequence, under input t."""
        inputs = self.columns([x[t] for x in self.x] * times)
        return self.cell.program(self.numbers, states, inputs)

    @property
    def rest(self) -> Vector:
        """The state that runs from zero start in."""
        return (fmpq(0),) * len(self.h[0])

    @cached_property
    def path(self) -> list[Any]:
        """The states from zero, 0 … T, a column a sequence."""
        return self.run([self.rest] * len(self.x))

    @cached_property
    def pairs(self) -> list[Any]:
        """The states from h, then those from h_other, a column each."""
        return self.run([*self.h, *self.h_other])

    @cached_property
    def fresh(self) -> list[Vector]:
        """s_T^k of windows K … 0, the sequences of each one after another, of rational steps."""
        S, start = len(self.x), self.columns([self.rest] * len(self.x))
        at = start
        for i in range(self.spec.K):
            at = self.fed(at, self.spec.T - self.spec.K + i, i + 1)
            at = type(at)([u + v for u, v in zip(at.units, start.units, strict=True)])
        return [entries(at, c) for c in range((self.spec.K + 1) * S)]

    def before(self, s: int, k: int) -> Vector:
        """s_{T−k}, of rational steps."""
        return entries(self.path[self.spec.T - k], s)

    def memory(self, s: int, k: int) -> Vector:
        """s_T − s_T^k, of rational steps."""
        return minus(self.before(s, 0), self.fresh[(self.spec.K - k) * len(self.x) + s])


def alone(columns: Any, c: int) -> Any:
    """One of the columns."""
    return type(columns)([[unit[c]] for unit in columns.units])


def entries(columns: Any, c: int) -> Vector:
    """The units of one rational column."""
    return tuple(unit[c] for unit in columns.units)


def tensor(A: fmpq_mat) -> torch.Tensor:
    """(1, m, n) of a dyadic matrix."""
    return torch.tensor([floats(A)], dtype=torch.float64)


def vectors(v: Sequence[fmpq]) -> torch.Tensor:
    """(1, n) of a dyadic vector."""
    return tensor(fmpq_mat(1, len(v), list(v)))[:, 0]
