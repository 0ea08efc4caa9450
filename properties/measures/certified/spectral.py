"""‖A‖₂ of the matrices at a point, and whether it is at most a number.

Rows that share no column are blocks of their own, and ‖A‖₂ is the largest norm of a block. Blocks
that are known exactly are decided in rationals, the others by balls.

    a b · ·     rows 0 and 2 are one block, exact
    · · · ○     row 1 is another, of balls
    · c · ·
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from flint import arb, arb_mat, fmpq, fmpq_mat
from torch import Tensor

from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.properties.measures.exact.derivatives import square_at_most

ONE = fmpq(1)


@dataclass(frozen=True, eq=False)
class Norm:
    """‖A‖₂ of a matrix of floats."""

    matrix: Tensor

    @cached_property
    def ball(self) -> arb:
        """The number."""
        return ball_norm(self.matrix)


@dataclass(frozen=True, eq=False)
class Secant:
    """‖A‖₂ of a matrix of balls, over the root of a rational."""

    matrix: arb_mat
    square: fmpq = ONE

    @cached_property
    def ball(self) -> arb:
        """The number."""
        return over_root(ball_norm(self.matrix), self.square)

    def at_most(self, limit: fmpq) -> bool | None:
        """Whether it is at most a number ≥ 0; None where the balls of some block do not say."""
        found: bool | None = True
        for block in blocks(self.matrix):
            holds = block_at_most(block, limit, self.square)
            if holds is False:
                return False
            found = found and holds
        return found


def over_root(size: arb, square: fmpq) -> arb:
    """size/√square."""
    return size if square == 1 else size / arb(square).sqrt()


def block_at_most(block: arb_mat, limit: fmpq, square: fmpq) -> bool | None:
    """Whether ‖A‖₂/√square ≤ limit of one block: exactly, where it is known exactly."""
    entries = block.entries()
    if not all(entry.is_exact() for entry in entries):
        size, most = over_root(ball_norm(block), square), arb(limit)
        return True if size <= most else False if size > most else None
    A = fmpq_mat(block.nrows(), block.ncols(), [entry.fmpq() for entry in entries])
    return square_at_most(A, limit * limit * square)


def blocks(matrix: arb_mat) -> Iterator[arb_mat]:
    """Its rows without those that are 0, together where they share columns; of these columns."""
    held: list[tuple[set[int], list[list[arb]]]] = []
    for row in matrix.tolist():
        columns = {j for j, entry in enumerate(row) if not entry.is_zero()}
        if columns:
            met = [one for one in held if one[0] & columns]
            held = [one for one in held if not one[0] & columns]
            rows = [other for one in met for other in one[1]]
            held.append((columns.union(*(one[0] for one in met)), [*rows, row]))
    for columns, rows in held:
        yield arb_mat([[row[j] for j in sorted(columns)] for row in rows])
