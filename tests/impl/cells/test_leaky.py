import pytest
import torch
from draws import doubles
from program_draws import weights

from rnnbounds.impl.cells.leaky_analysis import EUCLIDEAN_NORMS
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model


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


@pytest.mark.parametrize("norm", ["spectral", "infinity", "perron", "diagonal"])
def test_a_product_that_underflows_counts(norm):
    """A leak of 1/4 times the least number is rounded to 0, but λ is above 3/4."""
    weights = {"W": doubles([[5e-324]]), "W_in": doubles([[1.0]]), "leak": doubles([0.25])}
    assert certify(weights, 1.0, norm=norm, cell="leaky-tanh").lam > 0.75


def model(n=5, cell="leaky-tanh", scale=0.7, seed=0, low=0.3):
    """A random network with leaks from `low` to 1, in skewed coordinates."""
    draw = torch.Generator().manual_seed(seed)
    W, U, b, d = (
        torch.randn(shape, generator=draw, dtype=torch.float64)
        for shape in ((n, n), (n, 2), (n,), (n,))
    )
    skew = torch.exp(0.5 * d)
    W = scale * skew[:, None] * W / n**0.5 / skew
    held = {"W": W, "W_in": U, "b": b, "leak": torch.linspace(low, 1, n, dtype=torch.float64)}
    return load_model(held, cell)


def test_more_are_certified():
    """A network that neither its Euclidean nor its row norms certify, but several steps do."""
    loaded = model(8, scale=0.62, seed=1, low=0.8)
    certificate = certify(loaded, 1.0)
    tried = {name: lam for name, lam, _ in certificate.tried}
    assert min(tried["spectral"], tried["infinity"], tried["perron"]) > 1
    assert certificate.verdict == "certified"
    assert certificate.norm in EUCLIDEAN_NORMS
