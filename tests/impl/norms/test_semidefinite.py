"""Diagonal weights from a solver: the best ones, and certified whatever the solver says."""

import math
import sys

import numpy as np
import pytest
import torch
from flint import fmpq
from scipy.optimize import minimize

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.definite import norm_at_most
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.norms import metric, semidefinite
from rnnbounds.impl.norms.semidefinite import (
    FAST_SIZES,
    reason_to_omit,
    semidefinite_scaling,
    solve,
)
from rnnbounds.impl.norms.solver import client as solver_client
from rnnbounds.impl.norms.solver.client import (
    DIAGONAL_SDP,
    LARGEST_SIZE,
    METRIC_SDP,
    MissingSolverError,
    Solver,
    UnansweredError,
    is_installed,
)
from rnnbounds.impl.norms.weighted import diagonal_scaling
from rnnbounds.impl.reading.adapters import load_model

needs_solver = pytest.mark.skipif(not is_installed(), reason="the extra sdp is not installed")


def draw(n, seed=0, spread=1.0):
    """A Gaussian matrix in skewed coordinates, (1, n, n)."""
    generator = torch.Generator().manual_seed(seed)
    G = torch.randn(1, n, n, dtype=torch.float64, generator=generator) / n**0.5
    d = torch.exp(spread * torch.randn(n, dtype=torch.float64, generator=generator))
    return d[:, None] * G / d


def proved(W, found):
    """True if ‖DWD⁻¹‖₂ ≤ factor for the float weights as they are, in rationals and balls."""
    exact = [fmpq(*float(d).as_integer_ratio()) for d in found.weights[0].diagonal()]
    rows = [
        [d * fmpq(*w.as_integer_ratio()) / e for w, e in zip(row, exact, strict=True)]
        for d, row in zip(exact, W[0].tolist(), strict=True)
    ]
    return norm_at_most(rows, float(found.factor))


@needs_solver
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_least_factor(n):
    """No diagonal that SciPy's simplex search finds does better, and the factor is proved."""
    for seed in range(3):
        W = draw(n, seed)
        found = semidefinite_scaling(W)
        assert proved(W, found)
        assert not proved(W, type(found)(found.weights, 0.999 * found.factor, found.condition))
        matrix = W[0].numpy()
        best = minimize(
            lambda x, A=matrix: float(np.linalg.norm(np.exp(x)[:, None] * A * np.exp(-x), 2)),
            found.weights[0].diagonal().log().numpy() + 0.1 * np.arange(n),
            method="Nelder-Mead",
            options={"maxiter": 2000},
        )
        assert float(found.factor) <= best.fun * (1 + 1e-6)
        assert float(found.factor) <= float(diagonal_scaling(W).factor)


@needs_solver
def test_underflow_is_not_raised():
    """A host may have NumPy raise: the search in floats goes on, and the factor is proved."""
    W = torch.eye(3, dtype=torch.float64)[None].clone()
    W[0, 0, 1] = 1e-200
    with np.errstate(all="raise"):
        found = semidefinite_scaling(W)
    assert proved(W, found)


@needs_solver
def test_better_than_descent():
    """The descent in floats is met, and beaten by a part in a hundred on some systems."""
    ratios = [
        float(semidefinite_scaling(W).factor / diagonal_scaling(W).factor)
        for W in (draw(16, seed) for seed in range(4))
    ]
    assert max(ratios) <= 1
    assert min(ratios) < 0.99


@pytest.mark.parametrize(
    "lie",
    [
        lambda W, square: np.full(len(W), math.nan),
        lambda W, square: np.full(len(W), math.inf),
        lambda W, square: -np.ones(len(W)),
        lambda W, square: np.zeros(len(W)),
        lambda W, square: np.logspace(-300, 300, len(W)),
        lambda W, square: np.logspace(0, 8, len(W)),
        lambda W, square: np.arange(1.0, 1 + len(W)),
    ],
)
def test_lying_solver(lie):
    """Whatever a solver proposes, the factor stays proved and no more than without it."""
    for seed in range(5):
        W = draw(4, seed, spread=2.0)
        found = semidefinite_scaling(W, lie)
        assert proved(W, found)
        assert float(found.factor) <= float(diagonal_scaling(W).factor)
        assert bool((found.weights[0].diagonal() > 0).all())


def test_degenerate():
    """Zero, huge and non-finite matrices pass through without a solution, fail closed."""
    never = pytest.fail
    assert float(semidefinite_scaling(torch.zeros(1, 3, 3).double(), never).factor) == 0
    for value in (math.nan, math.inf):
        W = torch.full((1, 2, 2), value, dtype=torch.float64)
        assert float(semidefinite_scaling(W, never).factor) == math.inf
    with pytest.raises(RangeError, match=f"at most {LARGEST_SIZE}"):
        semidefinite_scaling(torch.zeros(1, LARGEST_SIZE + 1, LARGEST_SIZE + 1).double(), never)


@needs_solver
def test_solver_that_gives_up():
    """A program that no P solves, or numbers that are none, give NaN."""
    assert np.isnan(solve(np.full((2, 2), math.nan), 1.0)).all()


def cell(n=3):
    """A model that is certified."""
    weights = {"weight_hh": 0.3 * draw(n)[0], "weight_ih": torch.ones(n, 1).double()}
    return load_model(weights, "rnn-tanh")


def test_without_the_extra(monkeypatch):
    """By name one line with the remedy; the search goes on without it, and says so."""
    monkeypatch.setattr(solver_client, "find_spec", lambda name: None)
    with pytest.raises(MissingSolverError, match="pip install 'rnnbounds\\[sdp\\]'") as caught:
        certify(cell(), 1.0, norm="diagonal-sdp")
    assert "\n" not in str(caught.value)
    certificate = certify(cell(), 1.0)
    assert certificate.verdict == "certified"
    assert [name for name, _ in certificate.skipped] == [DIAGONAL_SDP, METRIC_SDP]
    for name, entry in zip(
        (DIAGONAL_SDP, METRIC_SDP), certificate.to_json()["norms_tried"][-2:], strict=True
    ):
        assert (entry["norm"], entry["lambda"], entry["k"]) == (name, None, None)
        assert "pip install" in entry["skipped"]


@needs_solver
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory there")
def test_a_solver_without_memory(monkeypatch):
    """By name one line with the remedy; the search goes on without it, is right, and says so."""
    for user in (semidefinite, metric):
        monkeypatch.setattr(user, "SOLVER", Solver(memory=2**25))
    with pytest.raises(UnansweredError, match=r"ended with code .*; give it more memory"):
        certify(cell(), 1.0, norm="diagonal-sdp")
    certificate = certify(cell(), 1.0)
    assert certificate.verdict == "certified"
    assert [name for name, _ in certificate.skipped] == [DIAGONAL_SDP, METRIC_SDP]
    assert not {DIAGONAL_SDP, METRIC_SDP} & {name for name, *_ in certificate.tried}
    entry = certificate.to_json()["norms_tried"][-1]
    assert "ended with code" in entry["skipped"]


@needs_solver
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of time there")
def test_a_solver_that_takes_too_long(monkeypatch):
    """The kernel ends it; the next program has another process."""
    monkeypatch.setattr(solver_client, "EXTRA_SECONDS", 0.0)
    hasty = Solver(seconds=0.001)
    with pytest.raises(UnansweredError, match="gave no answer in 0 s of CPU time"):
        hasty.diagonal_program(np.ones((40, 40)), 1.0, 1e-9)
    hasty._seconds = 60.0
    assert np.isfinite(hasty.diagonal_program(np.eye(2), 1.0, 1e-9)).all()
    hasty.end()


@needs_solver
def test_a_solver_that_cannot_start(monkeypatch, capfd):
    """No word of its own reaches the terminal."""
    monkeypatch.setattr(solver_client.sys, "executable", "/no/such/python")
    with pytest.raises(UnansweredError, match=r"cannot be started \(No such file"):
        Solver().diagonal_program(np.eye(2), 1.0, 1e-9)
    assert capfd.readouterr() == ("", "")


@needs_solver
def test_many_states():
    """Above USUAL states the solver runs by name alone."""
    many = cell(FAST_SIZES["diagonal-sdp"] + 1)
    assert dict(certify(many, 1.0).skipped).keys() == {DIAGONAL_SDP, METRIC_SDP}
    assert reason_to_omit("diagonal-sdp", FAST_SIZES["diagonal-sdp"]) is None
    assert not certify(cell(), 1.0).skipped
    assert certify(many, 1.0, norm="diagonal-sdp").norm == "diagonal-sdp"
