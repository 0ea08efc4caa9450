"""Units in balls: where sums, products and mixes lie, and how far they move, by hand."""

import pytest
from flint import arb

from rnnbounds.impl.checker.cells.terms import Term, norms
from rnnbounds.impl.checker.cells.units import Units, mixed, through


def unit(low, high, row=(), reach=None, radius=None):
    """One unit between two numbers that moves by so much with each column; with |Δy| = reach."""
    terms = () if reach is None else (Term([arb(1)], None, [arb(reach)]),)
    return Units([arb(low)], [arb(high)], [dict(enumerate(map(arb, row)))], terms, radius)


def told(units):
    """Ends, row and Euclidean norm of the first."""
    row = [float(units.rows[0].get(c, 0)) for c in range(2)]
    return float(units.low[0]), float(units.high[0]), *row, float(norms(units.terms)[0])


def test_sums_and_products():
    """[−1, 2] and [−3, 1], which move by (1, 0) and (0, 5), and by 1 and 5: |u| ≤ 2, |v| ≤ 3."""
    u, v = unit(-1, 2, (1, 0), 1), unit(-3, 1, (0, 5), 5)
    assert told(u + v) == (-4.0, 3.0, 1.0, 5.0, 6.0)
    assert told(u - v) == (-2.0, 5.0, 1.0, 5.0, 6.0)
    assert told(u * v) == (-6.0, 3.0, 3.0, 10.0, 13.0)


def test_mixes():
    """g a + (1 − g) b of g in [1/4, 3/4], a in [1, 2] and b in [−1, 0], so |a − b| ≤ 3."""
    a, b = unit(1, 2, (1, 0), 1), unit(-1, 0, (2, 0), 2)
    low, high, first, second, size = told(mixed(unit(0.25, 0.75, (0, 8), 8), a, b))
    assert (low, high) == (-0.5, 1.5)
    assert first == 0.25 * 1 + 0.75 * 2
    assert second == 3 * 8
    assert size == 0.75 * 1 + 0.75 * 2 + 3 * 8
    assert told(mixed(unit(0.25, 0.75, (0, 8), 8), b, a))[2] == 0.75 * 2 + 0.25 * 1


@pytest.mark.parametrize(("radius", "reach"), [(None, 7.0), (1, 5.0), (0.5, 2.5), (9, 7.0)])
def test_weights(radius, reach):
    """3x + 4y of |x|, |y| ≤ 1, and of ‖(x, y)‖₂ ≤ r: at most 7, and 5r."""
    one = [arb(1), arb(1)]
    v = Units([-a for a in one], one, [{0: arb(1)}, {0: arb(2)}], (),
              None if radius is None else arb(radius))  # fmt: skip
    found = through([[arb(-3), arb(4)]], v)
    assert (float(found.low[0]), float(found.high[0])) == (-reach, reach)
    assert float(found.rows[0][0]) == 3 + 8
    some = Units([arb(1), arb(-2)], [arb(2), arb(1)], [{}, {}])
    found = through([[arb(-3), arb(4)]], some)
    assert (float(found.low[0]), float(found.high[0])) == (-14.0, 1.0)
