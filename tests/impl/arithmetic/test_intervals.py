import pytest
import torch
from draws import doubles

from rnnbounds.impl.arithmetic.intervals import Interval, PoleError, function_bounds


def test_intervals_are_exact_on_dyadic_numbers():
    """Products and mixtures of dyadic intervals come out as they are."""
    one = lambda low, high: Interval(*torch.tensor([[low], [high]]).double()[:, :, None])  # noqa: E731
    told = one(-2.0, 3.0) * one(-1.0, 4.0)
    assert (float(told.low), float(told.high)) == (-8.0, 12.0)
    told = one(0.25, 0.5).mixed(one(-1.0, 1.0), one(-8.0, 2.0))
    assert (float(told.low), float(told.high)) == (-6.25, 1.75)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0)])
def test_reciprocal_through_zero_fails_closed(low: float, high: float):
    """An interval that meets 0 has no reciprocal: what would bound it after cannot hide that."""
    a = Interval(doubles([[low]]), doubles([[high]]))
    f = function_bounds("reciprocal")
    assert float(f.slope(a)) == torch.inf
    with pytest.raises(PoleError, match=r"may divide by 0 .*; keep"):
        f.image(a)


def test_roots_across_zero_fail_closed():
    """√a is 0 below 0, steeper than any bound at 0, and exact on squares."""
    f = function_bounds("sqrt")
    a = Interval(doubles([[-1.0, 0.0, 0.25]]), doubles([[4.0, 4.0, 2.25]]))
    image = f.image(a)
    assert image.low.tolist() == [[0.0, 0.0, 0.5]]
    assert image.high.tolist() == [[2.0, 2.0, 1.5]]
    assert f.slope(a).tolist() == [[torch.inf, torch.inf, 1.0]]
    assert f.curvature(a).tolist() == [[torch.inf, torch.inf, 2.0]]


def test_a_mix_of_negative_numbers_is_enclosed():
    """1 − g is rounded towards the side on which a negative number is the larger one."""
    gate, zero, one = doubles([[1e-20]]), doubles([[0.0]]), doubles([[1.0]])
    found = Interval(gate, gate).mixed(Interval(zero, zero), Interval(-one, -one))
    assert found.high > -1
    assert found.low <= -1
    found = Interval(gate, gate).mixed(Interval(zero, zero), Interval(one, one))
    assert found.low < 1 <= found.high
