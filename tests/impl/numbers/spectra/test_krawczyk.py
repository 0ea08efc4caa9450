import numpy as np
from flint import arb, arb_mat, ctx

from rnnbounds.impl.numbers.spectra.krawczyk import are_disjoint, column, unique_zero


def parabola(y):
    """f(a, b) = (a² − 2, b − a)."""
    a, b = y.entries()
    return arb_mat([[a * a - 2], [b - a]]), arb_mat([[2 * a, 0], [-1, 1]])


def test_finds_the_zero():
    """The box around √2 holds √2, tightly."""
    with ctx.workprec(128):
        box = unique_zero(parabola, np.full(2, np.sqrt(2)))
        assert box is not None
        for entry in box.entries():
            assert entry.contains(arb(2).sqrt())
            assert float(entry.rad()) < 1e-15


def test_claims_nothing_elsewhere():
    """No box where there is no zero near, at a singular slope, or at NaN."""
    assert unique_zero(parabola, np.array([1.0, 1.0])) is None
    assert unique_zero(parabola, np.array([0.0, 0.0])) is None
    assert unique_zero(lambda y: (y, arb_mat([[arb.nan()]])), np.zeros(1)) is None


def test_no_zero_at_a_kink():
    """|a| + 10⁻⁹ has no zero, however near; nor has the double zero of a² a certified box."""

    def kink(y):
        (a,) = y.entries()
        slope = arb(1) if a > 0 else arb(-1) if a < 0 else arb(0, 1)
        return arb_mat([[abs(a) + 1e-9]]), arb_mat([[slope]])

    assert unique_zero(kink, np.array([1e-10])) is None
    square = lambda y: (arb_mat([[y[0, 0] * y[0, 0]]]), arb_mat([[2 * y[0, 0]]]))  # noqa: E731
    assert unique_zero(square, np.array([1e-12])) is None


def test_disjoint():
    """Boxes are disjoint if one coordinate separates them; NaN separates nothing."""
    a, b = column(np.array([0.0, 1.0])), column(np.array([0.0, 2.0]))
    assert are_disjoint(a, b)
    assert not are_disjoint(a, a)
    assert not are_disjoint(a, arb_mat([[arb(0, 1)], [arb(1, 1)]]))
    assert not are_disjoint(a, arb_mat([[arb.nan()], [arb.nan()]]))
