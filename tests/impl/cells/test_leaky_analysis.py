"""Echo-state networks in diagonal norms and after several steps: constants, gaps, reach."""

import pytest
import torch

from rnnbounds.impl.cells.leaky_analysis import SCALED
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model


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


def test_without_a_leak():
    """With a = 1 the norms are those of the RNN with the same weights."""
    loaded = model(low=1.0, scale=0.5)
    weights = {"weight_hh": loaded.weights["W"], "weight_ih": loaded.weights["W_in"]}
    plain = load_model(weights | {"bias_hh": loaded.weights["b"]}, "rnn-tanh")
    for name in ("diagonal", "iterated"):
        leaky, vanilla = (certify(part, 1.0, norm=name) for part in (loaded, plain))
        assert leaky.lam == pytest.approx(vanilla.lam, rel=1e-12)
        assert leaky.constants["drive"] == pytest.approx(vanilla.constants["drive"], rel=1e-12)


def test_more_are_certified():
    """A network that neither its Euclidean nor its row norms certify, but several steps do."""
    loaded = model(8, scale=0.62, seed=1, low=0.8)
    certificate = certify(loaded, 1.0)
    tried = {name: lam for name, lam, _ in certificate.tried}
    assert min(tried["spectral"], tried["infinity"], tried["perron"]) > 1
    assert certificate.verdict == "certified"
    assert certificate.norm in SCALED


def test_two_norm_steps():
    """r steps contract in ‖·‖₂ by C c λʳ < 1, for norms by diagonal weights too."""
    loaded = model(scale=0.5)
    certificate = certify(loaded, 1.0, norm="iterated")
    told = certificate.constants
    r, factor = told["two_norm_steps"], told["two_norm_factor"]
    spread = told["equivalence"] * told["reach"]
    assert spread * certificate.lam**r == pytest.approx(factor, rel=1e-9)
    assert factor < 1 <= spread * certificate.lam ** (r - 1) * (1 + 1e-9)
