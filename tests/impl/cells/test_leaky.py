import math

import pytest
import torch
from draws import doubles
from program_draws import weights

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.leaky import LEAKY_KINDS
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify


def of_torch(module: torch.nn.RNN, leak: float = 1.0):
    """The echo-state network of a torch layer."""
    state = module.state_dict()
    return {
        "W": state["weight_hh_l0"],
        "W_in": state["weight_ih_l0"],
        "b": state["bias_ih_l0"] + state["bias_hh_l0"],
        "leak": torch.full((module.hidden_size,), leak, dtype=torch.float64),
    }


def test_without_a_leak_it_is_certified_as_the_rnn_is():
    """The Euclidean factor of a = 1 is the RNN's own."""
    torch.manual_seed(1)
    module = torch.nn.RNN(2, 4, dtype=torch.float64)
    told = certify(of_torch(module), 1.0, norm="spectral", cell="leaky-tanh")
    plain = certify(module, 1.0, norm="spectral")
    assert math.isclose(told.lam, plain.lam, rel_tol=1e-12)


@pytest.mark.parametrize("leak", [0.1, 0.5, 1.0])
def test_equal_leaks(leak):
    """λ = (1 − a) + a L‖W‖₂ for equal leaks, which W = w I attains at the origin."""
    n = 3
    eye, none = torch.eye(n, dtype=torch.float64), torch.zeros(n, 1, dtype=torch.float64)
    held = {"W": 0.7 * eye, "W_in": none, "leak": torch.full((n,), leak, dtype=torch.float64)}
    for name in ("leaky-tanh", "leaky-identity"):
        told = certify(held, 0.0, norm="spectral", cell=name)
        assert told.lam == pytest.approx(1 - leak + leak * 0.7, rel=1e-12)
        s = torch.full((1, n), 1e-8).double()
        moved = kind_of(name).step(held, torch.zeros(1, 1).double(), s)
        assert float(moved.norm() / s.norm()) > told.lam * (1 - 1e-9)


def test_a_leak_certifies_what_the_reservoir_alone_does_not():
    """Perron's vector sees a leak that the Euclidean norm does not; both are tried."""
    held = weights("leaky-tanh", scale=0.35, seed=4)
    told = certify(held, 1.0, cell="leaky-tanh")
    assert {name: lam for name, lam, _ in told.tried}["spectral"] >= told.lam
    assert 0 < told.constants["leak_low"] <= told.constants["leak_high"] <= 1


def test_every_activation_is_a_kind():
    """One kind for each activation, none of which is meant unless it is named."""
    assert [kind.name for kind in LEAKY_KINDS] == [f"leaky-{name}" for name in ACTIVATIONS]
    assert [kind.name for kind in LEAKY_KINDS if kind.default] == []


@pytest.mark.parametrize("norm", ["spectral", "infinity", "perron", "diagonal", "iterated"])
def test_a_product_that_underflows_counts(norm):
    """A leak of 1/4 times the least number is rounded to 0, but λ is above 3/4."""
    weights = {"W": doubles([[5e-324]]), "W_in": doubles([[1.0]]), "leak": doubles([0.25])}
    assert certify(weights, 1.0, norm=norm, cell="leaky-tanh").lam > 0.75
