"""Rational vectors and matrices: linear algebra, and draws of orthogonal matrices, directions and
inputs.

Source: Cayley (1846).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.systems.exact.members import Vector, member_random, rational
from rnnbounds.properties.systems.spec import SystemSpec

ZERO, ONE = fmpq(0), fmpq(1)
LARGEST_DENOMINATOR = 64
SMALL = [[fmpq(p, q) for q in (1, 2, 3)] for p in range(-3, 4)]


def short_rational(value: float) -> fmpq:
    """The rational of denominator at most 64 that rounds to a float; else what the float is."""
    near = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    found = near if float(near) == value else Fraction(value)
    return fmpq(found.numerator, found.denominator)


def small_rational(draw: random.Random) -> fmpq:
    """A rational of small numerator and denominator, seldom 0."""
    return draw.choice(draw.choice(SMALL))


def small_rational_matrix(draw: random.Random, rows: int, columns: int) -> fmpq_mat:
    """A matrix of small rationals."""
    return fmpq_mat(rows, columns, [small_rational(draw) for _ in range(rows * columns)])


def column_matrix(values: Sequence[fmpq]) -> fmpq_mat:
    """The (m, 1) matrix of m values."""
    return fmpq_mat(len(values), 1, list(values))


def matrix_entries(matrix: fmpq_mat) -> list[fmpq]:
    """All entries, row by row."""
    found: list[fmpq] = matrix.entries()
    return found


def join_columns(*parts: fmpq_mat) -> fmpq_mat:
    """[A B …]."""
    rows = zip(*(part.tolist() for part in parts), strict=True)
    return fmpq_mat([[v for row in pieces for v in row] for pieces in rows])


def block_diagonal(A: fmpq_mat, B: fmpq_mat) -> fmpq_mat:
    """diag(A, B)."""
    found = fmpq_mat(A.nrows() + B.nrows(), A.ncols() + B.ncols())
    for part, i, j in ((A, 0, 0), (B, A.nrows(), A.ncols())):
        for p in range(part.nrows()):
            for q in range(part.ncols()):
                found[i + p, j + q] = part[p, q]
    return found


def permutation_matrix(places: Sequence[int]) -> fmpq_mat:
    """The matrix whose row i has its 1 in the column places[i]."""
    size = range(len(places))
    return fmpq_mat([[fmpq(int(j == place)) for j in size] for place in places])


def submatrix(A: fmpq_mat, rows: range, columns: range) -> fmpq_mat:
    """The entries of A in these rows and columns."""
    return fmpq_mat(len(rows), len(columns), [A[i, j] for i in rows for j in columns])


def least_squares(M: fmpq_mat, B: fmpq_mat) -> fmpq_mat:
    """E (r, m) with the least ‖E M − B‖_F for M (m, c), B (r, c): E M = B exactly where that has a
    solution. From the normal equations M Mᵀ Eᵀ = M Bᵀ, free unknowns 0."""
    m, r = M.nrows(), B.nrows()
    system = join_columns(M * M.transpose(), M * B.transpose())
    reduced, rank = system.rref()
    E = fmpq_mat(r, m)
    for row in range(rank):
        pivot = next(j for j in range(m) if reduced[row, j] != 0)
        for i in range(r):
            E[i, pivot] = reduced[row, m + i]
    return E


def signed_permutation(n: int, draw: random.Random) -> fmpq_mat:
    """A signed permutation matrix."""
    places = draw.sample(range(n), n)
    return diagonal([fmpq(draw.choice((-1, 1))) for _ in places]) * permutation_matrix(places)


def orthogonal_matrix(regime: str, n: int, draw: random.Random) -> fmpq_mat:
    """A rational orthogonal matrix (n, n): identity, signed (permutation) or Cayley's."""
    if regime == "identity":
        return identity(n)
    return signed_permutation(n, draw) if regime == "signed" else cayley(n, draw)


def unit_vector(n: int, draw: random.Random) -> Vector:
    """A rational unit vector: along an axis, or a column of a Cayley transform."""
    Q = orthogonal_matrix(draw.choice(("signed", "cayley")), n, draw)
    return tuple(Q[i, 0] for i in range(n))


def scale_vector(factor: fmpq, v: Vector) -> Vector:
    """factor · v."""
    return tuple(factor * entry for entry in v)


def random_isometry(n: int, d: int, draw: random.Random, regime: str = "cayley") -> fmpq_mat:
    """(n, d) with orthonormal columns, or rows where d > n: its norm is exactly 1."""
    rows = orthogonal_matrix(regime, max(n, d), draw).tolist()
    return fmpq_mat([row[:d] for row in rows[:n]])


def draw_biases(spec: SystemSpec, n: int, draw: random.Random) -> Vector:
    """b (n): quarters between −1 and 1 times the spec's ``bias``."""
    return tuple(rational(spec.bias) * fmpq(draw.randint(-4, 4), 4) for _ in range(n))


def draw_input_sequences(spec: SystemSpec, member: int) -> list[list[Vector]]:
    """The chosen sequences x (S, T, d) in rationals, every ‖x_t‖ ≤ B, and where the regime has one
    direction, ``saturating`` or ``resonant`` inputs, exactly B.

    ``resonant`` ones stay on the first axis; ``gaussian`` ones vary in size and direction.
    """
    B, d = rational(spec.scale), spec.d

    def first(draw: random.Random) -> Vector:
        one = unit_vector(d, draw)
        return scale_vector(B, (ONE, *[ZERO] * (d - 1)) if spec.inputs == "resonant" else one)

    def other(draw: random.Random) -> Vector:
        size = fmpq(draw.randint(-4, 4), 4) if spec.inputs == "gaussian" else ONE
        return scale_vector(B * size, unit_vector(d, draw))

    return make_sequences(spec, member, first, other)


def make_sequences(
    spec: SystemSpec, member: int, first: Callable[[random.Random], Vector],
    other: Callable[[random.Random], Vector],
) -> list[list[Vector]]:  # fmt: skip
    """The chosen sequences x (S, T, d): each has a first input, which ``constant`` ones repeat and
    ``alternating`` ones negate, and ``gaussian`` and ``saturating`` ones have others."""

    def step(t: int, one: Vector, draw: random.Random) -> Vector:
        if spec.inputs == "zero" or (spec.inputs == "impulse" and t > 0):
            return (ZERO,) * len(one)
        if spec.inputs in ("gaussian", "saturating"):
            return other(draw)
        return scale_vector(-ONE, one) if spec.inputs == "alternating" and t % 2 else one

    found = []
    for s in spec.sequence_range:
        draw = member_random(spec, member, f"inputs {s}")
        one = first(draw)
        found.append([step(t, one, draw) for t in range(spec.T)])
    return found


def orthogonal_with_unit_row_sums(m: int, draw: random.Random) -> fmpq_mat:
    """An orthogonal matrix with V1 = 1: a permutation and reflections that leave 1 alone."""
    V = permutation_matrix(draw.sample(range(m), m))
    for _ in range(draw.randint(0, 2) if m > 1 else 0):
        u = [fmpq(draw.randint(-2, 2)) for _ in range(m)]
        mean = sum(u, ZERO) / m
        v = column_matrix([a - mean for a in u])
        size = (v.transpose() * v)[0, 0]
        if size != 0:
            V = (identity(m) - v * v.transpose() * (2 / size)) * V
    return V
