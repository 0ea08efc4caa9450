"""Attempts to prove falsehoods through the public constructors: each is refused with its reason."""

from fractions import Fraction

import pytest
from falsehoods.every import ATTACKS, FAMILIES


@pytest.mark.parametrize("name", ATTACKS)
def test_the_attack_fails(name: str) -> None:
    """And for the reason expected."""
    attack = ATTACKS[name]
    refusal = attack.refusal()
    assert refusal
    assert attack.reason in refusal


def test_a_sum_may_vanish_whose_rounding_does_not() -> None:
    """What "a sum is one vector" concludes is false of W = 0, b = 0 and the identity map."""
    U = (1 + 2.0**-52, -(1 + 2.0**-51), -(2.0**-104))
    x = (1 + 2.0**-52, 1.0, 1.0)
    assert sum(Fraction(u) * Fraction(value) for u, value in zip(U, x, strict=True)) == 0
    assert (U[0] * x[0] + U[1] * x[1]) + U[2] * x[2] != 0


def test_there_are_many() -> None:
    """No two of one name."""
    assert len(ATTACKS) == sum(map(len, FAMILIES)) >= 230
