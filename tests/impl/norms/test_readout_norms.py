"""Dual norms of readouts are at least the exact ones, in rationals, and hardly more."""

from fractions import Fraction

import torch
from draws import normal

from rnnbounds.impl.norms.readout_norms import WeightedMaximumDual, absolute_difference

COUNT = 4096  # of numbers, so that every rounding goes the wrong way in some
c, w = normal(COUNT, 1, 1, seed=1), normal(COUNT, 1, 1, seed=2)
v = normal(COUNT, 1, seed=3).abs()


def exactly(x: torch.Tensor) -> list[Fraction]:
    """Rationals."""
    return [Fraction(one) for one in x.flatten().tolist()]


def at_least(found: torch.Tensor, wanted: list[Fraction]) -> bool:
    """True if all are at least what is wanted, within four units in the last place."""
    pairs = zip(exactly(found), wanted, strict=True)
    return all(right <= left <= right * (1 + Fraction(1, 2**50)) for left, right in pairs)


def test_the_dual_of_a_weighted_maximum() -> None:
    """√(v c² v) is |c| v for one unit, and v|c − w| the distance of two rows."""
    dual, one = WeightedMaximumDual(v), exactly(v)
    sizes = [abs(a) * b for a, b in zip(exactly(c), one, strict=True)]
    assert at_least(dual.operator(c), sizes)
    apart = [abs(a - b) for a, b in zip(exactly(c), exactly(w), strict=True)]
    assert at_least(absolute_difference(c, w), apart)
    assert at_least(dual.distance(c, w), [a * b for a, b in zip(apart, one, strict=True)])


def test_mixed_signs_are_bounded_by_the_matrix_of_moduli() -> None:
    """√(vᵀ|CᵀC|v) is 3 for C = (1, −2) and v of ones."""
    C, ones = torch.tensor([[[1.0, -2.0]]]).double(), torch.ones(1, 2).double()
    assert float(WeightedMaximumDual(ones).operator(C)) == 3.0
