"""Sizes in balls, with the rationals that their squares are where these are known.

‖A‖₂ of an operator is the largest of its blocks' norms: rows that share no column are blocks of
their own, and a single row is a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import inf, nextafter
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm, positive_semidefinite

Row = Sequence[Any]
Ends = tuple[float, float]
Square = fmpq | None
ONE = fmpq(1)


@dataclass(frozen=True, eq=False)
class Size:
    """A number ≥ 0 in balls; ``find_square`` finds its square, if that is rational."""

    ball: arb
    find_square: Callable[[], Square] = lambda: None

    @cached_property
    def square(self) -> Square:
        """The rational square of the number; None if unknown."""
        return self.find_square()

    def is_at_most(self, limit: fmpq) -> bool | None:
        """True if the number is ≤ limit, by its exact square or its ball; None if that is open."""
        if self.square is not None:
            return bool(limit >= 0 and self.square <= limit**2)
        bound = arb(limit)
        return True if self.ball <= bound else False if self.ball > bound else None

    def __mul__(self, other: Size) -> Size:
        return Size(self.ball * other.ball, self.combine_squares(other, lambda p, q: p * q))

    def __truediv__(self, other: Size) -> Size:
        return Size(
            self.ball / other.ball,
            self.combine_squares(other, lambda p, q: None if q == 0 else p / q),
        )

    def combine_squares(
        self, other: Size, f: Callable[[fmpq, fmpq], Square]
    ) -> Callable[[], Square]:
        """Build a function that returns f of both squares, or None if one is not known."""

        def known() -> Square:
            if self.square is None or other.square is None:
                return None
            return f(self.square, other.square)

        return known

    def max(self, other: Size) -> Size:
        """The larger one: its square is known if the other is certainly no larger."""

        def known() -> Square:
            one, two = self.square, other.square
            if one is not None and two is not None:
                return max(one, two)
            if one is None:
                return two if self.ball <= other.ball else None
            return one if other.ball <= self.ball else None

        return Size(self.ball.max(other.ball), known)


def root_size(square: fmpq) -> Size:
    """The root of a rational."""
    return Size(arb(square).sqrt(), lambda: square)


def sqrt_size(number: Any) -> Size:
    """The root of a number ≥ 0."""
    if isinstance(number, fmpq):
        return root_size(number)
    point = exact_rationals([number])
    return Size(number.sqrt(), lambda: None if point is None else point[0])


def square_of(size: Size) -> Any:
    """The square of a size: a rational if that is known, else a ball."""
    return size.ball * size.ball if size.square is None else size.square


def as_size(number: Any) -> Size:
    """The size of a number, a ball or a rational; a size as it is."""
    if isinstance(number, Size):
        return number
    point = exact_rationals([number])
    return Size(abs(arb(number)), lambda: None if point is None else point[0] ** 2)


def exact_rationals(values: Row) -> list[fmpq] | None:
    """The rationals that all entries are; None where one is a ball around more than a point."""
    if all(isinstance(v, fmpq) or (v.is_finite() and v.is_exact()) for v in values):
        return [v if isinstance(v, fmpq) else v.fmpq() for v in values]
    return None


def rational_function(row: Row, f: Callable[[list[fmpq]], fmpq]) -> Callable[[], Square]:
    """Build a function that returns f of the row's entries, or None if one is not rational."""

    def known() -> Square:
        values = exact_rationals(row)
        return None if values is None else f(values)

    return known


def euclidean_ball(vector: Row) -> arb:
    """‖v‖₂, never NaN for finite balls: the ends come from |v_i|, whose squares are ≥ 0."""
    low = sum((v.abs_lower() * v.abs_lower() for v in vector), arb(0))
    high = sum((v.abs_upper() * v.abs_upper() for v in vector), arb(0))
    return arb(low.lower() if low > 0 else 0).sqrt().union(arb(high.upper()).sqrt())


def euclidean_size(row: Row) -> Size:
    """‖v‖₂."""
    return Size(
        euclidean_ball(list(map(arb, row))),
        rational_function(row, lambda v: sum((a * a for a in v), fmpq(0))),
    )


def absolute_sum_size(row: Row) -> Size:
    """Σ |v_i|."""
    whole = sum((abs(arb(v)) for v in row), arb(0))
    return Size(whole, rational_function(row, lambda v: sum(map(abs, v), fmpq(0)) ** 2))


def largest_size(sizes: Sequence[Size]) -> Size:
    """The largest, 0 of none."""
    return reduce(Size.max, sizes) if sizes else root_size(fmpq(0))


class SpectralSize(Size):
    """‖A‖₂ of an operator whose blocks of rows are these."""

    def __init__(self, sizes: Sequence[Size]) -> None:
        norm = largest_size(sizes)
        super().__init__(norm.ball, lambda: norm.square)
        object.__setattr__(self, "blocks", sizes)

    blocks: Sequence[Size]

    def is_at_most(self, limit: fmpq) -> bool | None:
        """True if each block's norm is ≤ limit, False if one is not; None if that is open."""
        answers = [block.is_at_most(limit) for block in self.blocks]
        return False if False in answers else None if None in answers else True


@dataclass(frozen=True, eq=False)
class BlockSize(Size):
    """‖A‖₂ of several rows."""

    rows: Sequence[Row] = ()
    divisor_square: fmpq = ONE

    def is_at_most(self, limit: fmpq) -> bool | None:
        """Exactly, where all entries are known to be rational; else as the ball says."""
        matrix = rational_matrix(self.rows)
        if matrix is None:
            return super().is_at_most(limit)
        return bool(limit >= 0) and is_square_at_most(matrix, limit * limit * self.divisor_square)


def spectral_size(rows: Sequence[Row], divisor_square: fmpq = ONE) -> Size:
    """‖A‖₂ over the root of a rational."""
    return SpectralSize([block_size(block, divisor_square) for block in independent_blocks(rows)])


def block_size(rows: Sequence[Row], divisor_square: fmpq) -> Size:
    """‖A‖₂ of one block: of one row or column its length."""
    if len(rows) == 1 or len(rows[0]) == 1:
        size = euclidean_size([v for row in rows for v in row])
        return size if divisor_square == 1 else size / root_size(divisor_square)
    norm = ball_norm(arb_mat([list(map(arb, row)) for row in rows]))

    def known() -> Square:
        found = rational_norm_square(rational_matrix(rows), norm)
        return None if found is None else found / divisor_square

    return BlockSize(
        norm if divisor_square == 1 else norm / arb(divisor_square).sqrt(),
        known,
        rows,
        divisor_square,
    )


def rational_matrix(rows: Sequence[Row]) -> fmpq_mat | None:
    """The matrix of these rows, if all entries are known to be rational."""
    found = [known for known in map(exact_rationals, rows) if known is not None]
    return fmpq_mat(found) if len(found) == len(rows) else None


def rational_norm_square(A: fmpq_mat | None, size: arb) -> Square:
    """‖A‖₂², of that size, where it is known in rationals: of rank 1, of a multiple of an isometry,
    or of norm 1."""
    if A is None:
        return None
    gram = A.transpose() * A
    if A.rank() < 2:
        return sum((gram[i, i] for i in range(A.ncols())), fmpq(0))
    one = identity(A.ncols())
    if gram == gram[0, 0] * one:
        return gram[0, 0]
    if not size.contains(1):
        return None
    singular = (one - gram).rank() < A.ncols()
    return fmpq(1) if singular and is_square_at_most(A, fmpq(1)) else None


def is_square_at_most(A: fmpq_mat, bound: fmpq) -> bool:
    """True if ‖A‖₂² ≤ bound: bound I minus the smaller of AᵀA and AAᵀ is positive semidefinite."""
    gram = A.transpose() * A if A.ncols() <= A.nrows() else A * A.transpose()
    return positive_semidefinite((identity(gram.ncols()) * bound - gram).numer_denom()[0])


def independent_blocks(rows: Sequence[Row]) -> Iterator[list[list[Any]]]:
    """The rows that are not 0, together where they share columns; of these columns."""
    groups: list[tuple[set[int], list[Row]]] = []
    for row in rows:
        columns = {j for j, zero in enumerate(entry == 0 for entry in row) if not zero}
        if columns:
            joined = [group for group in groups if group[0] & columns]
            groups = [group for group in groups if not group[0] & columns]
            groups.append((columns.union(*(group[0] for group in joined)),
                         [*(other for group in joined for other in group[1]), row]))  # fmt: skip
    for columns, members in groups:
        yield [[row[j] for j in sorted(columns)] for row in members]


def float_ends(value: arb) -> Ends:
    """A float64 interval around a ball."""
    if not value.is_finite():
        return (-inf, inf)
    if value.is_exact() and float(value) == value:
        return (float(value), float(value))
    return (nextafter(float(value.lower()), -inf), nextafter(float(value.upper()), inf))
