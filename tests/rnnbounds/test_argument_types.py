"""Arguments of another type than they are: one line that names them, from every public function."""

import pytest
import torch

import rnnbounds
from rnnbounds.impl.errors import InputError

GRU = torch.nn.GRU(2, 3)
QUIET = {"weight_hh_l0": torch.zeros(9, 3), "weight_ih_l0": torch.zeros(9, 2)}  # is certified
RELU = {"weight_hh_l0": torch.full((2, 2), 0.25), "weight_ih_l0": torch.ones(2, 1)}
X = torch.zeros(1, 4, 2)
B = "the input bound B = .*, but it must be a number ≥ 0; choose another"
WRONG = ["1", None, [1.0], 1j, torch.ones(2), b"1", 10**400]


@pytest.mark.parametrize("bound", WRONG, ids=lambda one: str(one)[:9])
@pytest.mark.parametrize(
    "function",
    [
        lambda B: rnnbounds.certify(GRU, inputs=B),
        lambda B: rnnbounds.truncate(GRU, eps=0.1, inputs=B),
        lambda B: rnnbounds.contraction(GRU, inputs=B),
        lambda B: rnnbounds.stable_(torch.nn.GRU(2, 3), 0.9, inputs=B),
        lambda B: rnnbounds.assert_contractive(GRU, inputs=B),
    ],
    ids=["certify", "truncate", "contraction", "stable_", "assert_contractive"],
)
def test_input_bounds(function, bound):
    """Text that reads as a number is no number; nothing is guessed."""
    with pytest.raises(InputError, match=B):
        function(bound)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: rnnbounds.certify(GRU, inputs=1, norm=3), "unknown norm 3"),
        (lambda: rnnbounds.certify(GRU, inputs=1, cell=3), "unknown cell 3"),
        (
            lambda: rnnbounds.certify(GRU, inputs=1, device=3),
            "unknown device 3; choose cpu or cuda",
        ),
        (lambda: rnnbounds.certify(GRU, inputs=1, ignore=3), "ignore = 3 is no list"),
        (lambda: rnnbounds.certify(GRU, inputs=1, eps="1"), "ε = '1', but it must be a number > 0"),
        (lambda: rnnbounds.stable(torch.eye(2), "1"), "the radius ℓ = '1', but it must"),
        (lambda: rnnbounds.stable_(torch.nn.GRU(2, 3), "1"), "λ = '1', but it must be above 0"),
        (
            lambda: rnnbounds.stable_(torch.nn.GRU(2, 3), 0.9, forget="1"),
            "the bound on the .* gate = '1', but",
        ),
        (lambda: rnnbounds.assert_contractive(QUIET, inputs=1, lam="1"), "lam = '1', but"),
        (
            lambda: rnnbounds.assert_remembers(QUIET, at_most="1", eps=0.1, inputs=1),
            "at_most = '1', but it must be a number of inputs",
        ),
        (lambda: rnnbounds.assert_truncation(QUIET, [X], eps=0.1), "inputs has shape list, but"),
        (lambda: rnnbounds.assert_receptive_field(GRU, X, 1), "returns a tuple, no tensor; wrap"),
        (lambda: rnnbounds.assert_receptive_field(GRU, [X], 1), "inputs has shape list, but"),
        (
            lambda: rnnbounds.assert_receptive_field(torch.nn.Identity(), X, "1"),
            "field = '1', but it must be a number of inputs",
        ),
    ],
)
def test_other_arguments(call, told):
    """One line each, never a traceback."""
    with pytest.raises(InputError, match=told) as caught:
        call()
    assert "\n" not in str(caught.value)
