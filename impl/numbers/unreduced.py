"""Matrices of rationals over one denominator that is never reduced: sums and products take no gcd.

Along a run little is gained by reducing, and greatest common divisors take nearly all the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

_ZERO = fmpz(0)


@dataclass(frozen=True, eq=False, slots=True)
class Unreduced:
    """whole/denominator, (m, k), with a denominator > 0."""

    whole: fmpz_mat
    denominator: fmpz

    @classmethod
    def of(cls, A: fmpq_mat) -> Unreduced:
        """Convert a rational matrix, exactly."""
        return cls(*A.numer_denom())

    @classmethod
    def columns(cls, v: Sequence[fmpq], count: int) -> Unreduced:
        """A vector (m,) as so many equal columns."""
        return cls.of(fmpq_mat(len(v), count, [entry for entry in v for _ in range(count)]))

    @property
    def matrix(self) -> fmpq_mat:
        """Rational matrix whole/denominator, in lowest terms."""
        return fmpq_mat(self.whole) / self.denominator

    @property
    def zero(self) -> bool:
        """True if all entries are 0."""
        return bool(self.whole.is_zero())

    @property
    def square(self) -> fmpq:
        """The largest square of a column's Euclidean norm."""
        columns = zip(*self.whole.tolist(), strict=True)
        largest = max(sum((v * v for v in column), _ZERO) for column in columns)
        return fmpq(largest, self.denominator * self.denominator)

    def relu(self) -> Unreduced:
        """max(·, 0) of each entry."""
        values = self.whole.entries()
        if all(v >= 0 for v in values):
            return self
        shape = self.whole.nrows(), self.whole.ncols()
        return Unreduced(fmpz_mat(*shape, [max(v, _ZERO) for v in values]), self.denominator)

    def first_rows(self, n: int) -> Unreduced:
        """The first n rows."""
        if n == self.whole.nrows():
            return self
        rows = self.whole.entries()[: n * self.whole.ncols()]
        return Unreduced(fmpz_mat(n, self.whole.ncols(), rows), self.denominator)

    def __matmul__(self, other: Unreduced) -> Unreduced:
        return Unreduced(self.whole * other.whole, self.denominator * other.denominator)

    def __add__(self, other: Unreduced) -> Unreduced:
        whole = self.whole * other.denominator + other.whole * self.denominator
        return Unreduced(whole, self.denominator * other.denominator)

    def __sub__(self, other: Unreduced) -> Unreduced:
        whole = self.whole * other.denominator - other.whole * self.denominator
        return Unreduced(whole, self.denominator * other.denominator)
