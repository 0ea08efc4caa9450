"""Certificates that were forged on purpose, each false of its model: none of them holds."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from flint import arb, arb_mat

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.claimed import cell_of
from rnnbounds.impl.checker.definite import larger, largest, norm_above
from rnnbounds.impl.checker.truncated import Claim, proved
from rnnbounds.impl.format.fields import InputBox, RecordError, converted
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.tensors import digest, encoded

NAN = arb.nan()


@cache
def template():
    """A certificate of one linear unit in float64, without what it may lack."""
    weights = {name: torch.ones(1, 1).double() / 2 for name in ("weight_hh", "weight_ih")}
    told = certify(weights, inputs=1.0, cell="linear").to_dict()
    return {name: part for name, part in told.items() if name not in ("unit_gains", "other_norms")}


def forged(cell, weights, told, **more):
    """The findings about a record of these weights that says what it is told to, of |x| ≤ 1."""
    parts = {role: encoded(w, "float64") for role, w in weights.items()}
    constants = dict.fromkeys(("S_0", "B_h", "radius", "reach", "gain")) | {"B_x": 1.0} | more
    whole = template() | {
        "cell": cell, "sha256": digest(cell, parts), "weights": None,
        "shape": {"n": weights["weight_hh"].shape[1], "d": weights["weight_ih"].shape[1]},
        "rounding": {"dtype": "float64", "state": None, "reason": None},
    } | told  # fmt: skip
    return proved(Claim(weights, converted(whole | {"constants": constants}, Record)))


def test_a_forget_gate_that_is_left_out():
    """c = 43 and c = 0.3 both stay, at the same inputs: a cell that never forgets, of a side that
    is not bounded beside one that is 0, so that ∞ · 0 stands where the forget gate moves."""
    weights = {
        "weight_ih": np.zeros((8, 1)),
        "weight_hh": np.zeros((8, 2)),
        "bias_ih": np.array([8.0, 0, -15, 0, 0, 0, 8, 0]),
        "bias_hh": np.zeros(8),
    }
    weights["weight_hh"][2, 0], weights["weight_ih"][4, 0] = 20.0, 3.0
    told = {
        "norm": "spectral", "lambda": 0.995, "weights": [1.0, 1.01],
        "truncation": [{"eps": 0.1, "k": 1900}], "box": [None, 0.0, 1.0, 0.0],
    }  # fmt: skip
    found = forged("lstm", weights, told, drive=4.0, equivalence=1.01)
    assert {part.name for part in found if not part.holds} >= {"contraction"}


def test_two_numbers_of_one_float():
    """The larger of two that round to the same float64, the smaller of which comes first."""
    less, more = 1 - arb(2) ** -60, 1 + arb(2) ** -60
    for values in ([less, more], [more, less]):
        assert not largest(values) <= 1
        assert not norm_above([arb_mat([[v]]) for v in values]) <= 1
    weights = {
        "weight_hh": np.zeros((2, 2)),
        "weight_ih": np.array([[1 - 2.0**-53, 1.2e-8], [1.0, 1e-9]]),
    }
    told = {"norm": "infinity", "lambda": 0.0, "truncation": [{"eps": 3.0, "k": 1}]}
    unknown = dict.fromkeys(("M_rho", "W_norm", "U_norm", "L_x"))
    unknown |= {"L_rho": 1.0}
    for drive, holds in ((1.0, False), (math.nextafter(1.0, 2), True)):
        found = forged("rnn-relu", weights, told, drive=drive, equivalence=2.0, **unknown)
        assert all(part.holds for part in found) is holds


@pytest.mark.parametrize("name", BALL_ACTIVATIONS)
def test_nowhere(name):
    """Of an argument that may be anything an activation is anything within its bound."""
    rho = BALL_ACTIVATIONS[name]
    low, high = rho.image(NAN, NAN)
    assert low <= -rho.bound * 0.99
    assert high >= rho.bound * 0.99


@pytest.mark.parametrize("values", [[NAN, arb(1)], [arb(1), NAN]])
def test_what_is_no_number(values):
    """NaN is not left out of a largest, wherever it stands."""
    assert not largest(values) <= 9
    assert not larger(*values) <= 9
    assert not norm_above([arb_mat([values])]) <= 9
    assert not norm_above([arb_mat([[v]]) for v in values]) <= 9


def edges(cell, W, U, radius, rounding):
    """A unit with W = 1/2 under |x| ≤ 1, in |h|/2, where all that is stated is just what is true:
    a record, its weights and its constants."""
    R = math.inf if radius is None else radius
    size = min(U / 2 / (1 - W), R)
    told = {
        "norm": "perron", "lambda": W, "weights": [2.0],
        "truncation": [{"eps": 2 * W**3 * size, "k": 3}],
        "rounding": {"dtype": "float64", "state": rounding, "reason": None},
    }  # fmt: skip
    constants = {
        "L_rho": 1.0, "M_rho": radius and 1.0, "W_norm": W, "U_norm": U, "L_x": U, "S_0": U,
        "B_h": 2 * size, "gain": 2 * (U / 2) / (1 - W), "drive": U / 2, "equivalence": 2.0,
        "reach": 0.5, "radius": radius,
    }  # fmt: skip
    return cell, {"weight_hh": np.array([[W]]), "weight_ih": np.array([[U]])}, told, constants


def fallen(cell, weights, told, constants):
    """The names of what does not hold."""
    return {part.name for part in forged(cell, weights, told, **constants) if not part.holds}


NAMES = {"B_h": "states"}  # of findings that are called otherwise than what they are about


@pytest.mark.parametrize("bounded", [False, True])
def test_each_number_at_its_edge(bounded):
    """A linear unit, and one of tanh that its bound keeps smaller than its drive does: all that is
    true holds, and each number that is less by 10⁻⁹ falls."""
    # C c/(1 − λ) = 2 times what a sum of q |W| B_h, |U| and two zeros loses, in three additions of
    # 2 or more and the products, where B_h = 2 and q is the least.
    lost = 2.0**-53 * (1 + 2.0**-10) * (3 * 2 + 1.01 * 0.5 * 2 + 1)
    linear = edges("linear", 0.5, 1.0, None, 2 * lost * (1 + 1e-12))
    cell, weights, told, constants = edges("rnn-tanh", 0.5, 4.0, 0.5, None) if bounded else linear
    if bounded:
        constants["S_0"] = 2.0  # twice tanh 4, and no more is known than its slope: 4
        assert "S_0" in fallen(cell, weights, told, constants)
        constants["S_0"] = 4.0
    assert fallen(cell, weights, told, constants) == set()
    less = 1 - 1e-9
    for name, value in constants.items():
        if value is not None:
            found = fallen(cell, weights, told, constants | {name: value * less})
            assert NAMES.get(name, name) in found, name
    assert "contraction" in fallen(cell, weights, told | {"lambda": 0.5 * less}, constants)
    window = {"eps": told["truncation"][0]["eps"] * less, "k": 3}
    assert fallen(cell, weights, told | {"truncation": [window]}, constants) == {"window"}
    window = told["truncation"][0] | {"k": 2}
    assert fallen(cell, weights, told | {"truncation": [window]}, constants) == {"window"}
    if not bounded:
        smaller = told["rounding"] | {"state": told["rounding"]["state"] * less}
        assert fallen(cell, weights, told | {"rounding": smaller}, constants) == {"rounding"}


def test_leaks():
    """A leak is in (0, 1], or nothing is known of the cell."""
    weights = {"W": np.array([[0.5]]), "W_in": np.array([[1.0]])}
    assert cell_of("leaky-tanh", weights | {"leak": np.ones(1)}, arb(1), None, [1.0]).held()
    for leak in (0.0, 1.5, -0.5):
        with pytest.raises(RecordError, match="leak"):
            cell_of("leaky-tanh", weights | {"leak": np.array([leak])}, arb(1), None, [1.0])


def test_boxes_that_no_ball_meets():
    """The point of a box that is nearest to 0 is √2 away; and ends come in order."""
    box = InputBox("box", "", [1.0, -2.0], [2.0, -1.0])
    box.require(2, 1.42)
    with pytest.raises(RecordError, match="the ball holds nothing"):
        box.require(2, 1.41)
    with pytest.raises(RecordError, match="nothing in it"):
        InputBox("box", "", [1.0, 2.0], [2.0, 1.0]).require(2, 9.0)
