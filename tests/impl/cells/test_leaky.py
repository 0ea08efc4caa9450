import pytest
import torch
from draws import doubles

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify


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
