"""Rational matrices of any size down to 0 × 0, and their norms in rationals or balls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from flint import arb, fmpq, fmpq_mat

Number: TypeAlias = fmpq | arb


class NoValueError(Exception):
    """The term has no value here, or balls of this precision do not decide which."""


@dataclass(frozen=True)
class Matrix:
    """A matrix; a vector is one column, and says so."""

    value: fmpq_mat
    is_vector: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.value.nrows(), self.value.ncols()

    @property
    def entries(self) -> list[fmpq]:
        """All of them, row by row."""
        return list(self.value.entries())

    @property
    def transposed(self) -> Matrix:
        """The transpose."""
        return Matrix(self.value.transpose())

    def scaled(self, factor: Number) -> Matrix:
        """The multiple by a rational."""
        if not isinstance(factor, fmpq):
            raise NoValueError("an irrational multiple of a matrix")
        return Matrix(self.value * factor, self.is_vector)

    def __add__(self, other: Matrix) -> Matrix:
        if (self.shape, self.is_vector) != (other.shape, other.is_vector):
            raise NoValueError("sizes that do not fit")
        return Matrix(self.value + other.value, self.is_vector)

    def __matmul__(self, other: Matrix) -> Matrix:
        if self.is_vector or self.shape[1] != other.shape[0]:
            raise NoValueError("sizes that do not fit")
        return Matrix(self.value * other.value, other.is_vector)

    @property
    def spectral(self) -> Number:
        """The spectral norm, of a vector the Euclidean one."""
        return root(_eigenvalues(self.value.transpose() * self.value)[-1])

    @property
    def inverse(self) -> Matrix:
        """The inverse of a square matrix; 0 if it has none."""
        if self.shape[0] != self.shape[1]:
            raise NoValueError("no square matrix")
        return Matrix(self.value.inv() if self.value.det() != 0 else self.value * 0)

    @property
    def least(self) -> Number:
        """The least eigenvalue of a symmetric matrix."""
        if self.value != self.value.transpose() or not self.entries:
            raise NoValueError("no symmetric matrix")
        return _eigenvalues(self.value)[0]


def identity(size: int) -> Matrix:
    """The identity matrix."""
    return operator(*([int(i == j) for j in range(size)] for i in range(size)), width=size)


def vector(*entries: int) -> Matrix:
    """The vector of these entries."""
    return Matrix(fmpq_mat(len(entries), 1, [*map(fmpq, entries)]), True)


def operator(*rows: list[int] | tuple[int, ...], width: int | None = None) -> Matrix:
    """The matrix of these rows."""
    columns = len(rows[0]) if width is None else width
    return Matrix(fmpq_mat(len(rows), columns, [fmpq(one) for row in rows for one in row]))


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


def _eigenvalues(found: fmpq_mat) -> tuple[Number, ...]:
    """Of a symmetric matrix of at most two rows, in order; 0 of none."""
    if found.nrows() > 2:
        raise NoValueError("a matrix of more than two rows")
    if found.nrows() < 2:
        return (fmpq(0), *found.entries())[-1:]
    (p, q), (r, s) = found.table()
    middle, half = (p + s) / 2, root((p - s) * (p - s) / 4 + q * r)
    return middle - half, middle + half
