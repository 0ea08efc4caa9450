"""Exact rationals: contractions with exactly orthogonal dilations.

A contraction W = Q₁ Σ Q₂ with rational orthogonal Q₁, Q₂ (Cayley: (I − S)(I + S)⁻¹, S skew) and
Pythagorean Σ² + K² = I has the orthogonal dilation

    V = ( W     Q₁ K )
        ( K Q₂  −Σ   )

in rationals; rows and columns where K is 0 drop out, which leaves n + rank(I − WᵀW) of them.
Sources: Emami et al., Theorem 3.1; Halmos, Normal dilations (1950); Cayley (1846).

Matrices of rationals over one denominator that is never reduced: sums and products take no gcd.

Along a run little is gained by reducing, and greatest common divisors take nearly all the time.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat
from torch import Tensor

from rnnbounds.impl.errors import RangeError

_LARGEST = 6  # numerators and denominators that are drawn stay small, so that products do
_ENTRIES = [[fmpq(p, q) for q in (1, 2, 3)] for p in range(-2, 3)]


@dataclass(frozen=True, eq=False)
class RationalContraction:
    """W = Q₁ Σ Q₂ in rationals: Q₁, Q₂ (n, n) orthogonal, σ and κ (n,) with σ² + κ² = 1, κ ≥ 0."""

    Q1: fmpq_mat
    sigma: tuple[fmpq, ...]
    kappa: tuple[fmpq, ...]
    Q2: fmpq_mat

    @cached_property
    def W(self) -> fmpq_mat:
        """The contraction itself, (n, n)."""
        return self.Q1 * diagonal(self.sigma) * self.Q2

    @property
    def norm(self) -> fmpq:
        """‖W‖₂ = max σ, exactly."""
        return max(self.sigma)

    def dilation(self) -> fmpq_mat:
        """The minimal orthogonal V (n+q, n+q) with leading block W, q = #{κ ≠ 0}."""
        defects = [i for i, k in enumerate(self.kappa) if k != 0]
        W, rows = self.W, self.Q2.tolist()
        right = (self.Q1 * diagonal(self.kappa)).tolist()
        top = [row + [right[i][j] for j in defects] for i, row in enumerate(W.tolist())]
        corner = diagonal([-self.sigma[i] for i in defects]).tolist() if defects else []
        bottom = [[self.kappa[i] * v for v in rows[i]] + corner[p] for p, i in enumerate(defects)]
        return fmpq_mat(top + bottom)


def random_contraction(n: int, draw: random.Random, unit_values: int = 0) -> RationalContraction:
    """A contraction with `unit_values` singular values equal to 1 and the others below 1.

    Raises RangeError unless 0 ≤ units ≤ n and n ≥ 1.
    """
    if n < 1 or not 0 <= unit_values <= n:
        raise RangeError(
            "the number of unit singular values", unit_values, f"between 0 and n = {n}"
        )
    pairs = [(fmpq(1), fmpq(0)) if i < unit_values else pythagorean(draw) for i in range(n)]
    sigma, kappa = zip(*pairs, strict=True)
    return RationalContraction(cayley(n, draw), sigma, kappa, cayley(n, draw))


def pythagorean(draw: random.Random) -> tuple[fmpq, fmpq]:
    """(σ, κ) = ((p² − q²), 2pq)/(p² + q²) with 0 ≤ σ < 1."""
    q = draw.randint(1, _LARGEST)
    p = draw.randint(q, _LARGEST)
    common_denominator = p * p + q * q
    return fmpq(p * p - q * q, common_denominator), fmpq(2 * p * q, common_denominator)


def cayley(n: int, draw: random.Random) -> fmpq_mat:
    """A rational orthogonal matrix: the Cayley transform of a random skew one, I + S invertible."""
    S = fmpq_mat(n, n)
    for i in range(n):
        for j in range(i):
            S[i, j] = entry = draw.choice(draw.choice(_ENTRIES))
            S[j, i] = -entry
    return cayley_transform(S)


def cayley_transform(S: fmpq_mat) -> fmpq_mat:
    """(I − S)(I + S)⁻¹ = 2(I + S)⁻¹ − I of a skew S, orthogonal."""
    eye = identity(S.nrows())
    return 2 * (eye + S).inv() - eye


def common_denominator(rows: list[list[float]]) -> tuple[list[list[int]], int]:
    """The integers M and the power of two 2ᵉ with rows = M/2ᵉ exactly."""
    ratios = [[v.as_integer_ratio() for v in row] for row in rows]
    scale = max(q for row in ratios for _, q in row)  # all denominators are powers of two
    return [[p * (scale // q) for p, q in row] for row in ratios], scale


def rational(value: float) -> fmpq:
    """The rational that a float is."""
    return fmpq(*value.as_integer_ratio())


def rational_matrix(W: Tensor) -> fmpq_mat:
    """The rationals that the floats of W (m, k) are."""
    return fmpq_mat([list(map(rational, row)) for row in W.double().tolist()])


def identity(n: int) -> fmpq_mat:
    """I in rationals."""
    return diagonal([fmpq(1)] * n)


def diagonal(entries: tuple[fmpq, ...] | list[fmpq]) -> fmpq_mat:
    """diag(entries)."""
    matrix = fmpq_mat(len(entries), len(entries))
    for i, entry in enumerate(entries):
        matrix[i, i] = entry
    return matrix


def root_above(x: fmpq, bits: int = 64) -> fmpq:
    """A rational that is at least √x and above it by at most 2^−bits, for x ≥ 0; exact for squares.

    The square of a rational in lowest terms has squares above and below the line.
    """
    p, q = int(x.p), int(x.q)
    top, bottom = math.isqrt(p), math.isqrt(q)
    if top * top == p and bottom * bottom == q:
        return fmpq(top, bottom)
    scale = 1 << bits
    return fmpq(math.isqrt(p * scale * scale // q) + 1, scale)


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
