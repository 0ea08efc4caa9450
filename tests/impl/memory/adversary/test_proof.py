"""The proof believes nothing of the search: gaps are those of real arithmetic."""

import sys
from fractions import Fraction

import pytest
import torch
from draws import doubles, normal

from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.memory.adversary import attack as proof
from rnnbounds.impl.memory.adversary.attack import affordable, proved_gap
from rnnbounds.impl.memory.adversary.search import gaps
from rnnbounds.impl.reading.adapters import load_model


def proved(model, x, past, epsilon):
    """Of a loaded model."""
    return proved_gap(Runner.of(model), x, past, epsilon)


def linear(W, U, b=None):
    """A linear system."""
    held = {"weight_hh": doubles(W), "weight_ih": doubles(U)}
    return load_model(held if b is None else held | {"bias_ih": doubles(b)}, "linear")


def test_the_gap_is_exact_at_a_tie():
    """h = h/2 + x under ones: the gap after k inputs is 2⁻ᵏ(2 − 2⁻³), and not above itself."""
    model, x = linear([[0.5]], [[1.0]]), torch.ones(12, 1, dtype=torch.float64)
    for k in (0, 1, 8):
        exact = float(Fraction(15, 8) / 2**k)
        assert proved(model, x, 4, exact)[0] == k - 1
        assert proved(model, x, 4, exact * (1 - 2.0**-52)) == (k, exact)


def test_the_window_starts_at_zero_where_the_past_ends():
    """An impulse in the past alone, then another in the window, which both runs see."""
    model = linear([[0.5]], [[1.0]])
    x = doubles([[1.0], [0.0], [1.0], [1.0]])
    assert proved(model, x, 2, 0.1) == (2, 0.125)
    assert proved(model, x, 0, 1e-9)[0] == -1
    assert proved(model, x, 3, 0.1) == (1, 0.625)


def test_both_biases_count():
    """b_ih + b_hh in real arithmetic: in float64 they cancel to 0."""
    held = {"weight_hh": doubles([[1.0]]), "weight_ih": doubles([[0.0]])}
    held |= {"bias_ih": doubles([2.0**60]), "bias_hh": doubles([2.0**-60 - 2.0**60])}
    model = load_model(held, "linear")
    assert float(model.cell.b) == 0
    held["bias_hh"] = doubles([-(2.0**60)])
    held["bias_ih"] = doubles([2.0**60 + 2.0**9])
    found = proved(load_model(held, "linear"), torch.zeros(4, 1).double(), 2, 1.0)
    assert found == (2, 2.0**10)


@pytest.mark.parametrize(
    "name", ["rnn-tanh", "rnn-erf", "lstm", "gru", "gru-cho", "stacked-rnn-tanh"]
)
def test_floats_and_balls_agree(name):
    """For inputs at random the proved gap is that of the floats."""
    n, rows = 3, {"lstm": 12, "gru": 9, "gru-cho": 9}.get(name, 3)
    held = {}
    for l in range(2 if name.startswith("stacked") else 1):
        held |= {f"weight_hh_l{l}": normal(rows, n, seed=l), f"bias_hh_l{l}": normal(rows, seed=7)}
        held[f"weight_ih_l{l}"] = normal(rows, n if l else 2, seed=l + 3)
    model, x = load_model(held, name), normal(9, 2, seed=5)
    told = gaps(Runner.of(model), x[:, :, None], 4)[:, 0]
    for k in range(6):
        found = proved(model, x[: 4 + k], 4, float(told[k]) * (1 - 1e-9))
        assert found[0] == k
        assert found[1] == pytest.approx(float(told[k]), rel=1e-12)
        assert proved(model, x[: 4 + k], 4, float(told[k]) * (1 + 1e-9))[0] < k


def test_more_bits_where_balls_grow(monkeypatch):
    """If orbits part, 128 bits lose them, and more decide, within the limit of work."""
    weights = {"weight_hh": doubles([[3.0, -3.0], [3.0, 3.0]]), "weight_ih": doubles([[1], [0]])}
    sine = load_model(weights, "rnn-sin")
    x = normal(200, 1)
    monkeypatch.setattr(proof, "BITS", (128,))
    assert proved(sine, x, 2, 1e-9)[0] < 198
    monkeypatch.setattr(proof, "BITS", (128, 256, 512, 1024))
    assert proved(sine, x, 2, 1e-9)[0] == 198
    monkeypatch.setattr(proof, "PROOF_WORK", 1)
    assert not affordable(Runner.of(sine), 1, 128)
    assert proved(sine, x, 2, 1e-9) == (-1, 0.0)


def test_what_overflows_is_not_proved():
    """Inputs that are no numbers prove nothing."""
    model = linear([[0.5]], [[1.0]])
    assert proved(model, doubles([[float("nan")], [1.0]]), 1, 1e-3)[0] == -1
    assert proved(model, doubles([[float("inf")], [1.0]]), 1, 1e-3)[0] == -1


def test_a_wide_ball_proves_nothing(monkeypatch):
    """If balls have grown, their upper ends are above ε, and the gap is not."""
    weights = {"weight_hh": doubles([[3.0, -3.0], [3.0, 3.0]]), "weight_ih": doubles([[1], [0]])}
    sine, x = load_model(weights, "rnn-sin"), normal(40, 1)
    for k in range(20, 38):
        monkeypatch.setattr(proof, "BITS", (256,))
        found, gap = proved(sine, x[: 2 + k], 2, 1e-9)
        assert found == k
        monkeypatch.setattr(proof, "BITS", (64,))
        assert proved(sine, x[: 2 + k], 2, gap * (1 + 1e-4))[0] < k


@pytest.mark.parametrize("epsilon", [1e300, 1e-320, 1.5e-323])
def test_gaps_at_the_ends_of_floats(epsilon):
    """Beyond the largest float the gap is that float; subnormal ones are stepped down too, and a
    gap is proved only if the float that is told of it is above ε."""
    x = torch.ones(800, 1, dtype=torch.float64)
    rate = 10.0 if epsilon > 1 else 0.7
    k, gap = proved(linear([[rate]], [[1.0]]), x if epsilon > 1 else x[:3], 2, epsilon)
    assert k == (798 if epsilon > 1 else 1)
    assert epsilon < gap <= sys.float_info.max


def test_a_gap_that_no_float_parts_from_epsilon_is_not_proved():
    """h = h + x after (1, 2⁻⁸⁰): the gap 1 + 2⁻⁸⁰ is above ε = 1, and no float lies between."""
    model, x = linear([[1.0]], [[1.0]]), doubles([[1.0], [2.0**-80], [0.0]])
    assert proved(model, x, 2, 1.0) == (-1, 0.0)
    assert proved(model, x, 2, 1 - 2.0**-53) == (1, 1.0)
