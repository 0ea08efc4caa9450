"""Matrices of numbers, of any size down to 0 × 0, and their norms in rationals or balls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from flint import arb, fmpq

Number: TypeAlias = fmpq | arb


class NoValueError(Exception):
    """The term has no value here, or balls of this precision do not decide which."""


@dataclass(frozen=True)
class Matrix:
    """Rows of numbers; a vector is one column, and says so."""

    rows: tuple[tuple[Number, ...], ...]
    width: int
    is_vector: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.rows), self.width

    @property
    def entries(self) -> tuple[Number, ...]:
        """All of them, row by row."""
        return tuple(one for row in self.rows for one in row)

    @property
    def transposed(self) -> Matrix:
        """The transpose."""
        return Matrix(
            tuple(tuple(row[i] for row in self.rows) for i in range(self.width)), len(self.rows)
        )

    def scaled(self, factor: Number) -> Matrix:
        """The multiple."""
        rows = tuple(tuple(factor * one for one in row) for row in self.rows)
        return Matrix(rows, self.width, self.is_vector)

    def __add__(self, other: Matrix) -> Matrix:
        if (self.shape, self.is_vector) != (other.shape, other.is_vector):
            raise NoValueError("sizes that do not fit")
        pairs = zip(self.rows, other.rows, strict=True)
        rows = tuple(tuple(p + q for p, q in zip(*pair, strict=True)) for pair in pairs)
        return Matrix(rows, self.width, self.is_vector)

    def __matmul__(self, other: Matrix) -> Matrix:
        if self.is_vector or self.width != len(other.rows):
            raise NoValueError("sizes that do not fit")
        columns = tuple(zip(*other.rows, strict=True)) if other.rows else ((),) * other.width
        rows = tuple(tuple(dot(row, column) for column in columns) for row in self.rows)
        return Matrix(rows, other.width, other.is_vector)

    @property
    def spectral(self) -> Number:
        """The spectral norm, of a vector the Euclidean one."""
        gram = self.transposed @ Matrix(self.rows, self.width)
        return root(_eigenvalues(gram)[-1]) if self.rows and self.width else fmpq(0)

    @property
    def inverse(self) -> Matrix:
        """The inverse of a square matrix of at most two rows; 0 if it has none."""
        if self.shape[0] != self.shape[1] or self.shape[0] > 2:
            raise NoValueError("no square matrix, or a large one")
        if len(self.rows) < 2:
            return Matrix(tuple((1 / p if p != 0 else fmpq(0),) for (p,) in self.rows), self.width)
        (p, q), (r, s) = self.rows
        det = p * s - q * r
        return Matrix(((s, -q), (-r, p)), 2).scaled(1 / det if det != 0 else fmpq(0))

    @property
    def least(self) -> Number:
        """The least eigenvalue of a symmetric matrix."""
        if self.rows != self.transposed.rows or not self.rows:
            raise NoValueError("no symmetric matrix")
        return _eigenvalues(self)[0]

    @property
    def rank(self) -> int:
        """The rank."""
        gram = self.transposed @ Matrix(self.rows, self.width)
        values = _eigenvalues(gram) if self.rows and self.width else ()
        return sum(one != 0 for one in values)


def identity(size: int) -> Matrix:
    """The identity matrix."""
    return Matrix(tuple(tuple(fmpq(i == j) for j in range(size)) for i in range(size)), size)


def vector(*entries: Number | int) -> Matrix:
    """The vector of these entries."""
    return Matrix(tuple((fmpq(1) * one,) for one in entries), 1, True)


def operator(*rows: tuple[int, ...], width: int | None = None) -> Matrix:
    """The matrix of these rows."""
    found = tuple(tuple(map(fmpq, row)) for row in rows)
    return Matrix(found, len(rows[0]) if width is None else width)


def dot(left: tuple[Number, ...], right: tuple[Number, ...]) -> Number:
    """Σ p q."""
    return sum((p * q for p, q in zip(left, right, strict=True)), fmpq(0))


def root(value: Number) -> Number:
    """The root of a number that is not negative; rational if it can be."""
    if isinstance(value, arb):
        if not value >= 0:
            raise NoValueError("the root of what may be negative")
        return value.sqrt()
    if value < 0:
        raise NoValueError("the root of a negative number")
    found = fmpq(value.p.isqrt(), value.q.isqrt())
    return found if found * found == value else arb(value).sqrt()


def largest(values: tuple[Number, ...]) -> Number:
    """The maximum."""
    return reduce(_larger, values)


def _larger(one: Number, other: Number) -> Number:
    if one >= other:
        return one
    if one <= other:
        return other
    return arb(one).max(arb(other))


def _eigenvalues(found: Matrix) -> tuple[Number, ...]:
    """Of a symmetric matrix with one or two rows, in order."""
    if len(found.rows) == 1:
        return (found.rows[0][0],)
    if len(found.rows) > 2:
        raise NoValueError("a matrix of more than two rows")
    (p, q), (r, s) = found.rows
    middle, half = (p + s) / 2, root((p - s) * (p - s) / 4 + q * r)
    return middle - half, middle + half
