"""Linear algebra in exact rationals that the exact kinds share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

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
