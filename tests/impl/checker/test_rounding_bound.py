"""The checker's bound on rounding, against its formula at sizes where each part of it matters."""

import math
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
    found = rounding_bound(of, [(arb(bias), arb(0))] * of.n, states, arb(factor), form)
    return None if found is None else float(found)


def binade(size):
    """2ᵉ for 2ᵉ ≤ size < 2ᵉ⁺¹."""
    return 2.0 ** math.floor(math.log2(size)) if size else 0.0


def summed(form, terms):
    """δ = u′ (Σ_{m ≥ 2} 2^⌊log₂ g P_m⌋ + g P_K) of K terms."""
    g, units = 1 + 2 * len(terms) * form.unit, 1 + 2.0**-10
    ordered = sorted(terms, reverse=True)
    partial = [g * sum(ordered[:m]) for m in range(1, len(terms) + 1)]
    return form.unit * units * (sum(map(binade, partial[1:])) + partial[-1])


def by_hand(form, q, W=0.5, U=1.0, states=2.0, factor=2.0, bias=0.0, most=math.inf):
    """factor (δ + η) of a linear unit with the terms |W||h|, |U|, |b| and 0, η = 5 tiny, for |h| ≤
    q B_h and |h| ≤ sup |ρ| + (q − 1) B_h."""
    reached = min(q * states, most + (q - 1) * states)
    delta = summed(form, [abs(W) * reached, abs(U), bias, 0.0])
    return factor * (delta + 5 * form.tiny)


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
    delta = summed(SINGLE, [2.02 / 4, 2.02 * (0.5**0.5 - 0.5) / 2, 0.0, 0.0, 0.0])
    gamma = 6 * SINGLE.unit / (1 - 6 * SINGLE.unit)
    lost = 2 * 6 * SINGLE.tiny
    assert 2**0.5 * delta < gamma * 1.01 * 0.5 * 2
    assert bound(two, SINGLE) == pytest.approx(2 * (2**0.5 * delta + lost), rel=1e-12)


def test_errors_do_not_cancel():
    """Of W = (0 1; −1 0)/2 the errors may add up as those of |W| do: ‖v‖ for v = ρ + |W|v."""
    half = fmpq(1, 2)
    rho, rows = BALL_ACTIVATIONS["linear"], [[fmpq(0), half], [-half, fmpq(0)]]
    two = Cell(rows, [[fmpq(1)], [fmpq(0)]], [arb(0)] * 2, rho, arb(1), [rho.bound] * 2)
    lost = 2 * 6 * SINGLE.tiny
    rho = [
        summed(SINGLE, [1.01, 1.0, 0.0, 0.0, 0.0]) + lost,
        summed(SINGLE, [1.01, 0, 0, 0, 0]) + lost,
    ]
    v = [(4 * a + 2 * b) / 3 for a, b in (rho, rho[::-1])]
    assert bound(two, SINGLE, factor=8.0) == pytest.approx(math.hypot(*v), rel=1e-9)


def test_what_underflows():
    """A tiny of 2⁻¹⁴ is most of what a small state is off by."""
    small = by_hand(COARSE, 16.0, W=2.0**-20, U=2.0**-20, states=2.0**-8)
    assert bound(cell(W=2.0**-20, U=2.0**-20), COARSE, states=2.0**-8) < small * (1 + 1e-12)
    assert bound(cell(W=2.0**-20, U=2.0**-20), COARSE, states=2.0**-8) > 5 * COARSE.tiny


def test_states_stay_within_the_headroom():
    """The least q B_h that exceeds B_h by more than the error is taken: 1.1 B_h here."""
    assert by_hand(COARSE, 1.01) > 0.01 * 2
    assert by_hand(COARSE, 1.1) < 0.1 * 2
    assert bound(cell(), COARSE) == pytest.approx(by_hand(COARSE, 1.1), rel=1e-12)


def test_what_overflows():
    """Twice a sum (GELU takes 2z on its way), or a state, that may exceed the greatest number."""
    sums = 1.01 * 0.5 * 2 + 1
    for most, known in ((1.9 * sums, False), (2.1 * sums, True)):
        assert (bound(cell(), replace(SINGLE, largest=most)) is not None) is known
    still = cell(W=0.0)  # sums of 1, states of 2
    for most, known in ((2.015, False), (2.025, True)):
        assert (bound(still, replace(SINGLE, largest=most)) is not None) is known
    assert bound(cell(), replace(SINGLE, unit=0.2)) is None  # γ is no number


# In unit roundoffs of float32, and in half precision of that, with sup |ρ|: twice the usual error
# of float64's functions, of a sum of 2.01 or, of arctan, 1.8: at the cap of tanh alone.
FUNCTIONS = {
    "rnn-relu": (0.0, 0.0, math.inf),
    "rnn-tanh": (8.0, 1.0, 1.0),
    "rnn-arctan": (8.0 * 1.7953982, 1.5707963, math.pi / 2),
    "rnn-softplus": (8.0 + 8.0 * 2.01, 0.6931472 + 2.01, math.inf),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_round_too(name):
    """By their error, and in half precision by what they may be rounded once more."""
    error, size, most = FUNCTIONS[name]
    own = (bound(cell(name), SINGLE) - by_hand(SINGLE, 1.01, most=most)) / 2
    assert own / SINGLE.unit == pytest.approx(error, rel=1e-3, abs=1e-6)
    half = Format(2.0**-11, 2.0**-40, 65504.0)
    own = (bound(cell(name), half) - by_hand(half, 1.01, most=most)) / 2
    assert own / half.unit == pytest.approx(size + error * 2.0**-13, rel=1e-2, abs=1e-6)
