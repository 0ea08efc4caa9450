"""Rationals over one denominator are the rationals."""

import random

import pytest
from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import Unreduced, cayley


@pytest.mark.parametrize("seed", range(4))
def test_arithmetic_is_that_of_rationals(seed: int) -> None:
    """Sums, differences, products, ReLU, leading rows and squares of columns."""
    draw = random.Random(seed)
    A, B = (cayley(3, draw) * fmpq(draw.randint(1, 5), 7) for _ in range(2))
    a, b = Unreduced.of(A), Unreduced.of(B)
    assert (a @ b).matrix == A * B
    assert (a + b).matrix == A + B
    assert (a - b).matrix == A - B
    assert (a - a).zero
    assert not a.zero
    assert a.relu().matrix == fmpq_mat(3, 3, [max(v, fmpq(0)) for v in A.entries()])
    assert a.first_rows(2).matrix.tolist() == A.tolist()[:2]
    assert a.square == max((A.transpose() * A)[i, i] for i in range(3))
    v = A.entries()[:3]
    assert Unreduced.columns(v, 2).matrix.tolist() == [[entry, entry] for entry in v]
