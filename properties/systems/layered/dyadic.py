"""Numbers that are floats and rationals at once, and vectors and matrices of them."""

from __future__ import annotations

import random

from flint import fmpq, fmpq_mat

from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Vector, nearest_float, rational
from rnnbounds.properties.systems.unitary.orthogonal import make_sequences

ZERO, ONE = fmpq(0), fmpq(1)


def random_eighths(count: int, draw: random.Random) -> Vector:
    """Multiples of 1/8 between −1 and 1."""
    return tuple(fmpq(draw.randint(-8, 8), 8) for _ in range(count))


def random_eighths_matrix(rows: int, columns: int, draw: random.Random) -> fmpq_mat:
    """(rows, columns) of such multiples."""
    return fmpq_mat(rows, columns, list(random_eighths(rows * columns, draw)))


def exact_floats(A: fmpq_mat) -> list[list[float]]:
    """The rows as floats; raises ValueError where they are none."""
    rows = [[nearest_float(v) for v in row] for row in A.tolist()]
    if any(rational(f) != v for row, exact in zip(rows, A.tolist(), strict=True)
           for f, v in zip(row, exact, strict=True)):  # fmt: skip
        raise ValueError("an entry is no float64")
    return rows


def bounded_inputs(spec: SystemSpec, member: int) -> list[list[Vector]]:
    """The chosen sequences x (S, T, d), every |x_ti| ≤ B; constant ones attain it."""
    B, d = rational(spec.scale), spec.d
    return make_sequences(
        spec, member, lambda draw: tuple(B * draw.choice((1, -1)) for _ in range(d)),
        lambda draw: tuple(B * v for v in random_eighths(d, draw)),
    )  # fmt: skip
