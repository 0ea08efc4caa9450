"""Arithmetic of adjoints: vectors of numbers of any kind, and the weights of a cell in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Number = Any
Matrix = Any
Vector = list[Number]


@dataclass(frozen=True)
class PairArithmetic:
    """Arithmetic of one pair's gradients: numbers, matrices, ρ, ρ′ and ∇p."""

    number: Callable[[float], Number]
    matrix: Callable[[list[list[Number]]], Matrix]
    rho: Callable[[Number], Number]
    slope: Callable[[Number], Number]
    loss_gradient: Callable[[Vector], Vector]
    is_linear: bool = False

    def rows(self, values: Sequence[Sequence[float]]) -> Matrix:
        """The matrix of these floats, exactly."""
        return self.matrix([[self.number(v) for v in row] for row in values])

    def column(self, values: Sequence[float]) -> Matrix:
        """The (n, 1) matrix of these floats, exactly."""
        return self.rows([[v] for v in values])


@dataclass(frozen=True)
class CellWeights:
    """W (n, n), U (n, d), b (n, 1) in one arithmetic."""

    W: Matrix
    U: Matrix
    b: Matrix

    def subtract(self, other: CellWeights) -> CellWeights:
        """The difference of two weights."""
        return CellWeights(self.W - other.W, self.U - other.U, self.b - other.b)


def matrix_entries(matrix: Matrix) -> Vector:
    """The entries of a matrix, row by row."""
    found: Vector = matrix.entries()
    return found


def is_zero(values: Vector) -> bool:
    """True if all entries are exactly 0."""
    return all(v == 0 for v in values)


def function_change(
    f: Callable[[Number], Number], values: Vector, points: Vector, shift: Vector
) -> Vector:
    """f(a) − f(a − s) entry by entry for values f(a), exactly 0 where s is."""
    return [
        0 * s if s == 0 else value - f(a - s)
        for value, a, s in zip(values, points, shift, strict=True)
    ]


def hadamard(first: Vector, second: Vector) -> Vector:
    """The products, entry by entry."""
    return [v * w for v, w in zip(first, second, strict=True)]


def add(first: Vector, second: Vector) -> Vector:
    """u + v, entry by entry."""
    return [v + w for v, w in zip(first, second, strict=True)]


def subtract(first: Vector, second: Vector) -> Vector:
    """u − v, entry by entry."""
    return [v - w for v, w in zip(first, second, strict=True)]
