"""Numbers that are floats and rationals at once, and vectors and matrices of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Vector, nearest, rational, stream

ZERO, ONE = fmpq(0), fmpq(1)


def eighths(count: int, draw: random.Random) -> Vector:
    """Multiples of 1/8 between −1 and 1."""
    return tuple(fmpq(draw.randint(-8, 8), 8) for _ in range(count))


def matrix(rows: int, columns: int, draw: random.Random) -> fmpq_mat:
    """(rows, columns) of such multiples."""
    return fmpq_mat(rows, columns, list(eighths(rows * columns, draw)))


def floats(A: fmpq_mat) -> list[list[float]]:
    """The rows as floats; raises ValueError where they are none."""
    rows = [[nearest(v) for v in row] for row in A.tolist()]
    if any(rational(f) != v for row, exact in zip(rows, A.tolist(), strict=True)
           for f, v in zip(row, exact, strict=True)):  # fmt: skip
        raise ValueError("an entry is no float64")
    return rows


def inputs(spec: SystemSpec, member: int) -> list[list[Vector]]:
    """The chosen sequences x (S, T, d), every |x_ti| ≤ B; constant ones attain it."""
    B, found = rational(spec.scale), []
    for s in spec.chosen:
        draw = stream(spec, member, f"inputs {s}")
        one = tuple(B * draw.choice((1, -1)) for _ in range(spec.d))
        found.append([step(spec, t, B, one, draw) for t in range(spec.T)])
    return found


def step(spec: SystemSpec, t: int, B: fmpq, one: Vector, draw: random.Random) -> Vector:
    """One input of a sequence."""
    if spec.inputs == "zero" or (spec.inputs == "impulse" and t > 0):
        return (ZERO,) * spec.d
    if spec.inputs == "alternating" and t % 2:
        return tuple(-v for v in one)
    if spec.inputs in ("gaussian", "saturating"):
        return tuple(B * v for v in eighths(spec.d, draw))
    return one


def largest(v: Sequence[fmpq]) -> fmpq:
    """‖v‖_∞."""
    return max((abs(entry) for entry in v), default=ZERO)
