"""Fixed points of comparisons: checked in rationals, near the least, and no more than by a norm."""

import math
from fractions import Fraction
from operator import mul

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.norms.differences import certified_point

entries = st.floats(0, 1).filter(lambda a: a == 0 or a > 1e-100)


@settings(max_examples=60)
@given(st.integers(1, 3), st.integers(1, 4), st.floats(0.01, 1.5), st.data())
def test_a_step_carries_it_into_itself(R, N, size, data):
    """F(v) ≤ v in rationals; v is at most that of the maximum norm, but for what it has more as
    room, and infinite only where that is not known to contract."""
    draw = data.draw(st.lists(entries, min_size=R * N * (N + 1), max_size=R * N * (N + 1)))
    rows = torch.tensor(draw, dtype=torch.float64).reshape(R, N, N + 1) * (size / N)
    M, rho = rows[..., :N], rows[..., N]
    v = certified_point(M, rho)
    lam = float(M.sum(2).max())
    if lam < 1:
        assert float(v.max()) <= float(rho.max()) / (1 - lam) * (1 + 2e-6)
    if math.isfinite(float(v.max())):
        found = [Fraction(a) for a in v.tolist()]
        for unit, a in enumerate(found):
            for *row, own in rows[:, unit].tolist():
                assert sum(map(mul, map(Fraction, row), found), Fraction(own)) <= a


@pytest.mark.parametrize("rho", [[math.inf, 0.0], [math.nan, 0.0], [1.0, 1.0]])
def test_nothing_is_known_of_what_is_infinite_or_grows(rho):
    """Whatever a solver makes of it."""
    grows = torch.tensor([[[0.5, 0.6], [0.6, 0.5]]]).double()
    M = grows if rho[0] == 1 else grows / 2
    assert not bool(torch.isfinite(certified_point(M, torch.tensor(rho).double())).all())
