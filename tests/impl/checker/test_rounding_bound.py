"""The checker's bound on rounding, against its formula at sizes where each part of it matters."""

from dataclasses import replace

import pytest
from flint import arb, fmpq

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.norms import Cell
from rnnbounds.impl.checker.cells.rounding import Format, rounding_bound

SINGLE = Format(2.0**-24, 2.0**-126, 2.0**127)
COARSE = Format(2.0**-9, 2.0**-14, 65504.0)


def cell(name="linear", W=0.5, U=1.0):
    """One unit under |x| ≤ 1."""
    rho = BALL_ACTIVATIONS[name]
    rows = ([[fmpq(*float(v).as_integer_ratio())]] for v in (W, U))
    return Cell(*rows, [arb(0)], rho, arb(1), [rho.bound])


def bound(of, form, states=2.0, factor=2.0, bias=0.0):
    """As a float, None where nothing is known."""
    found = rounding_bound(of, [arb(bias)], states, arb(factor), form)
    return None if found is None else float(found)


def by_hand(form, q, W=0.5, U=1.0, states=2.0, factor=2.0, bias=0.0):
    """factor (γ Z + η) of a linear unit, Z = q |W| B_h + |U| + |b|, γ = 5u/(1 − 5u), η = 5 tiny."""
    gamma = 5 * form.unit / (1 - 5 * form.unit)
    return factor * (gamma * (q * abs(W) * states + abs(U) + bias) + 5 * form.tiny)


@pytest.mark.parametrize(("W", "U", "bias"), [(0.5, 1.0, 0.0), (-0.5, -1.0, 0.0), (0.5, 1.0, 3.0)])
def test_the_formula(W, U, bias):
    """Of a linear unit, whose function rounds nothing: signs do not matter, and biases count."""
    told = by_hand(SINGLE, 1.01, W, U, bias=bias)
    assert bound(cell(W=W, U=U), SINGLE, bias=bias) == pytest.approx(told, rel=1e-12)


def test_signs_of_weights():
    """‖|W|‖₂ = 1/2 of W = (1 1; 1 −1)/4, although ‖W‖₂ is less: rounded sums do not cancel."""
    quarter = fmpq(1, 4)
    rows = [[quarter, quarter], [quarter, -quarter]]
    rho = BALL_ACTIVATIONS["linear"]
    two = Cell(rows, [[fmpq(0)], [fmpq(0)]], [arb(0)] * 2, rho, arb(1), [rho.bound] * 2)
    gamma = 6 * SINGLE.unit / (1 - 6 * SINGLE.unit)
    assert bound(two, SINGLE) == pytest.approx(2 * gamma * 1.01 * 0.5 * 2, rel=1e-12)


def test_what_underflows():
    """A tiny of 2⁻¹⁴ is most of what a small state is off by."""
    small = by_hand(COARSE, 16.0, W=2.0**-20, U=2.0**-20, states=2.0**-8)
    assert bound(cell(W=2.0**-20, U=2.0**-20), COARSE, states=2.0**-8) < small * (1 + 1e-12)
    assert bound(cell(W=2.0**-20, U=2.0**-20), COARSE, states=2.0**-8) > 2 * 5 * COARSE.tiny


def test_states_stay_within_the_headroom():
    """The least q B_h that exceeds B_h by more than the error is taken: 1.1 B_h here."""
    assert by_hand(COARSE, 1.01) > 0.01 * 2
    assert by_hand(COARSE, 1.1) < 0.1 * 2
    assert bound(cell(), COARSE) == pytest.approx(by_hand(COARSE, 1.1), rel=1e-12)


def test_split_products():
    """28.01 + 6.02 · 5 units for a sum of 5, and an underflow that the factors' sizes scale."""
    split = replace(SINGLE, split=True)
    count = 28.01 + 6.02 * 5
    gamma = count * SINGLE.unit / (1 - count * SINGLE.unit)
    told = 2 * gamma * (1.01 * 0.5 * 2 + 1)
    assert bound(cell(), split) == pytest.approx(told, rel=1e-12)
    tiny = replace(split, unit=2.0**-60, tiny=2.0**-40)
    factors = 0.5 + 1.01 * 2 + 1 + 1
    assert bound(cell(), tiny) == pytest.approx(2 * count * tiny.tiny * (2 + factors), rel=1e-4)
    large = cell(W=0.0, U=2.0**-9)  # whose factors, not whose sums, are large
    assert bound(large, replace(split, largest=6.0)) is None
    assert bound(large, replace(split, largest=7.0, split=False)) is not None


def test_what_overflows():
    """Twice a sum (GELU takes 2z on its way), or a state, that may exceed the greatest number."""
    sums = 1.01 * 0.5 * 2 + 1
    for most, known in ((1.9 * sums, False), (2.1 * sums, True)):
        assert (bound(cell(), replace(SINGLE, largest=most)) is not None) is known
    still = cell(W=0.0)  # sums of 1, states of 2
    for most, known in ((2.015, False), (2.025, True)):
        assert (bound(still, replace(SINGLE, largest=most)) is not None) is known
    assert bound(cell(), replace(SINGLE, unit=0.2)) is None  # γ is no number


# In unit roundoffs of float32, and in half precision of that: twice the usual error of float64's
# functions, which a sum of 2.01 meets at its cap but for softplus, which has none.
FUNCTIONS = {
    "rnn-relu": (0.0, 0.0),
    "rnn-tanh": (8.0, 1.0),
    "rnn-arctan": (16.0, 1.5707963),
    "rnn-softplus": (8.0 + 8.0 * 2.01, 0.6931472 + 2.01),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_round_too(name):
    """By their error, and in half precision by what they may be rounded once more."""
    error, size = FUNCTIONS[name]
    own = bound(cell(name), SINGLE) / 2 - by_hand(SINGLE, 1.01) / 2
    assert own / SINGLE.unit == pytest.approx(error, rel=1e-3, abs=1e-6)
    half = Format(2.0**-11, 2.0**-40, 65504.0)
    own = bound(cell(name), half) / 2 - by_hand(half, 1.01) / 2
    assert own / half.unit == pytest.approx(size + error * 2.0**-13, rel=1e-2, abs=1e-6)
