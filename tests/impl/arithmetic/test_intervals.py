"""Intervals, gates and products: what is said of them encloses them, and fails closed."""

import math

import pytest
import torch
from draws import doubles
from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.intervals import Interval, PoleError, function_bounds
from rnnbounds.impl.numbers import ball_functions as balls
from rnnbounds.impl.numbers.ball_functions import tanh_up
from rnnbounds.impl.numbers.outward import product_up, rows_up
from rnnbounds.impl.numbers.spectra.spectral_norm import scaled_norm


def test_intervals_are_exact_on_dyadic_numbers():
    """Products and mixtures of dyadic intervals come out as they are."""
    told = interval(-2.0, 3.0) * interval(-1.0, 4.0)
    assert (float(told.low), float(told.high)) == (-8.0, 12.0)
    told = interval(0.25, 0.5).mixed(interval(-1.0, 1.0), interval(-8.0, 2.0))
    assert (float(told.low), float(told.high)) == (-6.25, 1.75)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0)])
def test_reciprocal_through_zero_fails_closed(low: float, high: float):
    """An interval that meets 0 has no reciprocal: what would bound it after cannot hide that."""
    a, f = interval(low, high), function_bounds("reciprocal")
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
    gate, zero = interval(1e-20, 1e-20), interval(0.0, 0.0)
    found = gate.mixed(zero, interval(-1.0, -1.0))
    assert found.low <= -1 < found.high
    found = gate.mixed(zero, interval(1.0, 1.0))
    assert found.low < 1 <= found.high


INF = math.inf


def interval(low: float, high: float) -> Interval:
    """One interval."""
    return Interval(doubles([[low]]), doubles([[high]]))


def known(on: Interval) -> list[float]:
    """The most and the least that a gate is there, and how steep sigmoid and tanh are."""
    gate, tanh = function_bounds("sigmoid"), function_bounds("tanh")
    image = gate.image(on)
    return [float(a) for a in (image.high, image.low, gate.slope(on), tanh.slope(on))]


@pytest.mark.parametrize("low", [-1e300, -800.0, -3.0, -1e-9, 0.0, 1e-300, 2.0, 40.0])
@pytest.mark.parametrize("length", [0.0, 1e-6, 5.0, 1e300])
def test_gates_enclose(low, length):
    """The gate's bounds and slopes hold at many points of the interval, in balls."""
    on = interval(low, low + length)
    high, (most, least, steep, steep_tanh) = float(on.high), known(on)
    for part in (0.0, 0.3, 0.5, 1.0, max(0.0, min(1.0, -low / (length or 1.0)))):
        a = arb(min(high, max(low, low + part * (high - low))))
        assert not balls.sigmoid(a) > most
        assert not balls.sigmoid(a) < least
        assert not balls.sigmoid_slope(a) > steep
        assert not a.sech() * a.sech() > steep_tanh


def test_unbounded_and_unknown():
    """An infinite interval has the bounds 1 and the slopes 1/4 and 1, and so has NaN."""
    for on in (interval(-INF, INF), interval(math.nan, math.nan)):
        assert known(on) == [1.0, 0.0, 0.25, 1.0]
    assert float(tanh_up(torch.tensor([INF], dtype=torch.float64))) == 1.0


def test_products_are_upper_bounds():
    """A v and A C from above, against sums in balls; 0 stays 0."""
    A = torch.tensor([[[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]], dtype=torch.float64)
    v = torch.tensor([[0.7, 1e-20, 3.0]], dtype=torch.float64)
    exact = (arb_mat(A[0].tolist()) * arb_mat([[a] for a in v[0].tolist()])).entries()
    rows = rows_up(A, v)[0].tolist()
    assert all(not value > bound for value, bound in zip(exact, rows, strict=True))
    assert rows[1] == 0.0
    square = product_up(A, torch.diag_embed(v))
    assert not exact[0] > float(square[0, 0].sum()) * (1 + 1e-15)
    assert (square[0, 1] == 0).all()
    tiny = torch.full((1, 1, 1), 1e-200, dtype=torch.float64)
    assert float(product_up(tiny, tiny)) > 0


def test_scaled_norms():
    """‖diag(d) W‖₂ from above, close, infinite for an infinite scale and 0 for a zero one."""
    W = torch.tensor([[[3.0, 4.0], [0.0, 0.0]]], dtype=torch.float64)
    one = scaled_norm(torch.tensor([[0.1, 7.0]], dtype=torch.float64), W)
    assert 0.5 <= float(one) <= 0.5 * (1 + 1e-12)
    assert float(scaled_norm(torch.tensor([[INF, 1.0]], dtype=torch.float64), W)) == INF
    assert float(scaled_norm(torch.zeros(1, 2).double(), W)) == 0.0
