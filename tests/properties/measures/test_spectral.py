"""Norms of matrices of balls are decided block by block."""

from __future__ import annotations

import pytest
from flint import arb, arb_mat, fmpq

from rnnbounds.properties.measures.certified.matrix_norms import ScaledNorm
from rnnbounds.properties.read.numbers.sizes import independent_blocks

BALL = arb(0.5, 1e-9)
ATOM = fmpq(1, 2**200)


def shapes(rows: list[list[arb | float]]) -> list[tuple[int, int]]:
    """The sizes of the blocks."""
    found = independent_blocks(arb_mat(rows).tolist())
    return sorted((len(block), len(block[0])) for block in found)


def test_rows_that_share_columns_are_one_block() -> None:
    """Through rows in between too; rows of zeros are none, and a ball around 0 is no zero."""
    assert shapes([[1, 0, 0], [0, 1, 0], [0, 0, 0]]) == [(1, 1), (1, 1)]
    assert shapes([[1, 0, 0], [0, 1, 0], [0, 1, 1]]) == [(1, 1), (2, 2)]
    assert shapes([[1, 0, 0], [0, 0, 1], [1, 0, 1]]) == [(3, 2)]
    assert shapes([[1, arb(0, 1e-9)], [0, 1]]) == [(2, 2)]


def test_an_exact_block_that_meets_a_number_is_decided_beside_one_of_balls() -> None:
    """The norm of (3, 4) is 5, to the last digit; that of the ball is below."""
    told = ScaledNorm(arb_mat([[3, 4, 0], [0, 0, BALL]]))
    assert told.is_at_most(fmpq(5)) is True
    assert told.is_at_most(5 - ATOM) is False
    assert ScaledNorm(told.matrix, fmpq(25)).is_at_most(fmpq(1)) is True
    assert ScaledNorm(told.matrix, fmpq(25)).is_at_most(1 - ATOM) is False


@pytest.mark.parametrize(
    "rows",
    [
        [[0.25, 0], [0, BALL]],
        [[0.25, 0], [0, arb("nan")]],
        [[0.5, 0], [arb(0, 1e-9), 0.25]],
    ],
)
def test_what_balls_do_not_say_stays_open(rows: list[list[arb | float]]) -> None:
    """The norm stays open if a block of balls may be larger or shares a column."""
    told = ScaledNorm(arb_mat(rows))
    assert told.is_at_most(fmpq(1, 2)) is None
    assert told.is_at_most(fmpq(1, 8)) is False
