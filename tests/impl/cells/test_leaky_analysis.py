"""Echo-state networks in diagonal norms and after several steps: constants, gaps, reach."""

import pytest
import torch

from impl.cells.leaky_analysis import SCALED
from impl.cells.table import kind_of
from impl.certificate.certify import certify
from impl.norms.semidefinite import SOLVED, installed
from impl.numbers.window import least_window
from impl.reading.adapters import load_model


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


def run(loaded, x, start=0):
    """The states (T, M, n) from the zero state, reading inputs (T, M, 2) from `start` on."""
    kind, weights = kind_of(loaded.name), loaded.weights
    h = torch.zeros(x.shape[1], loaded.n, dtype=torch.float64)
    states = []
    for t in range(start, len(x)):
        h = kind.step(weights, x[t], h)
        states.append(h)
    return torch.stack(states)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["leaky-tanh", "leaky-relu", "leaky-gelu", "leaky-identity"])
@pytest.mark.parametrize("name", SCALED)
def test_constants_hold(name, cell):
    """Contraction, drive, radius and equivalence bound what random states and inputs do."""
    if name == SOLVED and not installed():
        return
    for seed in range(3):
        loaded = model(cell=cell, seed=seed, scale=0.4)
        norm = kind_of(cell).analyse(loaded, 1.0).norm(name)
        d = torch.tensor(norm.weights, dtype=torch.float64)
        draw = torch.Generator().manual_seed(seed)
        h, other = (torch.randn(300, 5, generator=draw, dtype=torch.float64) for _ in range(2))
        x = torch.randn(300, 2, generator=draw, dtype=torch.float64)
        x = x / x.norm(dim=1, keepdim=True)
        step = kind_of(cell).step
        gap = (step(loaded.weights, x, h) - step(loaded.weights, x, other)) * d
        if norm.steps == 1:
            assert float((gap.norm(dim=1) / ((h - other) * d).norm(dim=1)).max()) <= norm.lam
        drive = (step(loaded.weights, x, 0 * h) * d).norm(dim=1)
        assert float(drive.max()) <= norm.drive
        assert float((h.norm(dim=1) / (h * d).norm(dim=1)).max()) <= norm.equivalence * (1 + 1e-14)
        seen = run(loaded, x[:40, None].expand(40, 8, 2))
        assert float((seen * d).norm(dim=2).max()) <= norm.radius


@pytest.mark.parametrize("name", SCALED)
def test_gap_is_never_violated(name):
    """‖h_T − h_T^k‖₂ ≤ C c(k) for the certified bound at every k."""
    if name == SOLVED and not installed():
        return
    loaded = model(4, "leaky-relu", scale=0.35, seed=3)
    norm = kind_of("leaky-relu").analyse(loaded, 1.0).norm(name)
    assert norm.lam < 1
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(60, 20, 2, generator=draw, dtype=torch.float64)
    x = x / x.norm(dim=2, keepdim=True)
    full = run(loaded, x)[-1]
    for k in range(1, 40):
        gap = float((full - run(loaded, x, 60 - k)[-1]).norm(dim=1).max())
        assert gap <= norm.equivalence * norm.drive * norm.lam**k / (1 - norm.lam)
        epsilon = 1.001 * norm.equivalence * norm.drive * norm.lam**k / (1 - norm.lam)
        assert least_window(norm.equivalence * norm.drive, norm.lam, epsilon) <= k


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
