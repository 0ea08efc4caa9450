"""Cells by hand: published steps, boxes and factors, of LSTMs, GRUs and leaky cells."""

import math

import numpy as np
import pytest
import torch
from cell_systems import weights_of
from draws import doubles
from gated_draws import MAKES, cho, draw, gru, lstm, scalar
from program_draws import SAMPLES, inputs, weights

from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.gated import GRU
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model

RHO = {
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0),
    "softplus": lambda a: np.logaddexp(0, a),
}


def sigmoid(a):
    """1/(1 + e^{−a})."""
    return 1 / (1 + np.exp(-a))


def cho_step(w, h, x, rho):
    """h⁺ = (1 − z) tanh(U_n x + b_n + W_n(r∘h)) + z h."""
    W_r, W_z, W_n = np.split(w["weight_hh"], 3)
    r, z, n = np.split(w["weight_ih"] @ x + w["bias_ih"] + w["bias_hh"], 3)
    r, z = sigmoid(r + W_r @ h), sigmoid(z + W_z @ h)
    return (1 - z) * np.tanh(n + W_n @ (r * h)) + z * h


def leaky(w, h, x, rho):
    """h⁺ = (1 − a) h + a ρ(W h + U x + b)."""
    return (1 - w["leak"]) * h + w["leak"] * rho(w["W"] @ h + w["W_in"] @ x + w["b"])


def deep(w, h, x, rho):
    """h⁺ = ρ(W_2 ρ(W_1 h + U x) + b_2)."""
    first = rho(w["transition_1_weight"] @ h + w["input_weight"] @ x)
    return rho(w["transition_2_weight"] @ first + w["transition_2_bias"])


FORMULAS = {"leaky": leaky, "deep": deep}


@pytest.mark.parametrize("name", [*SAMPLES, "gru-cho"])
def test_steps_are_the_published_ones(name):
    """Along a run from zero, to rounding."""
    kind = kind_of(name)
    held = weights(name, seed=3) if name in SAMPLES else weights_of(name, n=4, d=2)
    held = {role.removesuffix(kind.suffix): part.double() for role, part in held.items()}
    family, _, rho = name.partition("-")
    formula = cho_step if name == "gru-cho" else FORMULAS[family]
    plain = {role: part.numpy() for role, part in held.items()}
    x = inputs(1, 12, 2, 1.0)[0]
    s = x.new_zeros(1, kind.layout(held).sizes(held).state)
    h = s[0].numpy()
    for row in x:
        s = kind.step(held, kind.drive(held, row[None]), s)
        h = formula(plain, h, row.numpy(), RHO.get(rho))
        assert np.allclose(s[0].numpy(), h, rtol=0, atol=1e-13)
    assert np.abs(h).max() > 1e-2


@MAKES
def test_gates_at_their_ends(make):
    """Without weights the state rests at zero, and half of it is kept at each step; weights beyond
    all measure are not certified, and nothing becomes NaN."""
    found = scalar(make).comparison(1.0)
    assert not found.box.any()
    assert not found.drive.any()
    assert found.norm("infinity").lam == 0.5
    for size in (1e10, 1e300):
        found = draw(make, 3, scale=size).comparison(1.0)
        for name in ("spectral", "infinity", "perron", *(["comparison"] if make is lstm else [])):
            norm = found.norm(name)
            assert norm.lam >= 1
            assert norm.window(1.0) is None
            assert not math.isnan(norm.lam + norm.drive + norm.equivalence)


@MAKES
@pytest.mark.parametrize("b", [1e300, -1e300, 700.0, -700.0])
def test_saturated_gates(make, b):
    """A gate that copies for ever never certifies; one that is shut, or overwrites, does."""
    parts = {"W_f": 0.1, "W_z": 0.1, "U_z": 1.0, "b_f": b} if make is lstm else (
        {"W_n": 0.3, "U_n": 1.0, "b_z": b}
    )  # fmt: skip
    cell = scalar(make, **parts)
    norm = cell.comparison(1.0).norm("perron")
    assert (norm.lam < 1) == (b < 0)
    assert (norm.window(1e-3) is None) == (b > 0)
    one = torch.ones(1, 2 if make is lstm else 1, 1).double()
    assert math.isfinite(float(cell.step(0 * one, one[:, :1]).sum()))


@pytest.mark.slow
def test_better_than_the_proposition():
    """λ in the ∞-norm is at most Miller and Hardt's, and Perron's at most either."""
    for seed in range(20):
        cell = draw(lstm, 3, scale=0.5, seed=seed)
        box = cell.box(1.0)
        told, found = cell.constants(box, 1.0), cell.compare_on(box, 1.0)
        whole = told["a"] + told["f_bar"]
        published = max(whole, told["q"] + told["o_bar"] * whole)
        factors = [float(found.factor(getattr(found, name)())) for name in
                   ("infinity", "comparison", "perron")]  # fmt: skip
        assert factors[0] <= published * (1 + 1e-12)
        assert factors[2] <= min(factors[0], factors[1] * (1 + 1e-6))
        if told["theta"] < 1:
            assert factors[0] <= 1 - (1 - told["theta"]) * (1 - told["f_bar"]) + 1e-12


def test_box_by_hand():
    """Without recurrence and inputs: c = σ(b_i) tanh(b_z)/(1 − σ(b_f)) at most, h = R(o tanh c)."""
    b = {"i": 0.3, "f": -0.2, "z": 0.7, "o": 0.1}
    weights = {
        "weight_ih_l0": torch.zeros(4, 1), "weight_hh_l0": torch.zeros(4, 1),
        "weight_hr_l0": torch.tensor([[-2.0]]), "bias_ih_l0": torch.tensor(list(b.values())),
    }  # fmt: skip
    b = {gate: float(torch.tensor(value)) for gate, value in b.items()}
    i, f, o = (1 / (1 + math.exp(-b[gate])) for gate in "ifo")
    c = i * math.tanh(b["z"]) / (1 - f)
    box = load_model(weights).cell.box(1.0)[0].tolist()
    assert box == pytest.approx([c, 2 * o * math.tanh(c)], rel=1e-14)
    assert box[0] >= c
    constants = certify(weights, inputs=1.0).constants
    assert constants["B_c"] == box[0]
    assert constants["h_bar"] == box[1]
    assert constants["B_h"] <= box[1] * (1 + 1e-15)


BOTH = pytest.mark.parametrize("make", [gru, cho])


def slope(cell: GRU, h: float, x: float) -> float:
    """|dh⁺/dh| of a scalar system."""
    state = torch.tensor([[[h]]], dtype=torch.float64, requires_grad=True)
    cell.step(state, torch.tensor([[[x]]], dtype=torch.float64)).sum().backward()
    return abs(float(state.grad))


@BOTH
def test_attained(make):
    """W_z = W_r = 0, r → 1, h = 0: the factor is the slope, z + (1 − z) W_n."""
    cell = scalar(make, W_n=0.5, b_r=40.0)
    found = cell.comparison(0.0).norm("infinity")
    assert found.lam == pytest.approx(0.75, abs=1e-12)
    assert slope(cell, 0.0, 0.0) == pytest.approx(found.lam, abs=1e-12)


@pytest.mark.parametrize("cell", ["gru", "gru-cho"])
def test_constants(cell):
    """What the certificate names bounds what a run of the cell does."""
    torch.manual_seed(1)
    model = load_model(torch.nn.GRU(2, 4).state_dict(), cell)
    told = model.cell.constants(model.cell.box(1.0), 1.0)
    assert 0 < told["z_low"] < told["z_bar"] < 1
    assert told["nu_bar"] <= told["h_bar"] * (1 + 1e-12)
    norm = ProgramAnalysis.of(model, 1.0).norm("infinity")
    assert norm.lam <= max(z + (1 - z) * told["kappa"] for z in (told["z_low"], told["z_bar"])) + (
        0.25 * (told["h_bar"] + told["nu_bar"]) * told["W_z_norm"] + 1e-12
    )


@pytest.mark.parametrize("leak", [0.1, 0.5, 1.0])
def test_equal_leaks(leak):
    """λ = (1 − a) + a L‖W‖₂ for equal leaks, which W = w I attains at the origin."""
    n = 3
    eye, none = torch.eye(n, dtype=torch.float64), torch.zeros(n, 1, dtype=torch.float64)
    held = {"W": 0.7 * eye, "W_in": none, "leak": torch.full((n,), leak, dtype=torch.float64)}
    for name in ("leaky-tanh", "leaky-identity"):
        told = certify(held, inputs=0.0, norm="spectral", cell=name)
        assert told.lam == pytest.approx(1 - leak + leak * 0.7, rel=1e-12)
        s = torch.full((1, n), 1e-8).double()
        moved = kind_of(name).step(held, torch.zeros(1, 1).double(), s)
        assert float(moved.norm() / s.norm()) > told.lam * (1 - 1e-9)


@pytest.mark.parametrize("norm", ["spectral", "infinity", "perron", "diagonal"])
def test_a_product_that_underflows_counts(norm):
    """A leak of 1/4 times the least number is rounded to 0, but λ is above 3/4."""
    weights = {"W": doubles([[5e-324]]), "W_in": doubles([[1.0]]), "leak": doubles([0.25])}
    assert certify(weights, inputs=1.0, norm=norm, cell="leaky-tanh").lam > 0.75
