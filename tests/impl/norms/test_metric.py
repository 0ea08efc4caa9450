"""Dense norms with multipliers: proved whatever the solver says, and seldom worse than others."""

import numpy as np
import pytest
import torch
from flint import arb, arb_mat, ctx

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import InputError, RangeError
from rnnbounds.impl.norms import metric
from rnnbounds.impl.norms.metric import (
    FAST,
    LARGEST,
    METRIC_SDP,
    UnansweredError,
    is_installed,
    metric_norm,
    slope_system,
)
from rnnbounds.impl.numbers.spectra.exact_norm import positive_definite
from rnnbounds.impl.reading.adapters import load_model

needs_solver = pytest.mark.skipif(not is_installed(), reason="the extra sdp is not installed")
CELLS = ("rnn-tanh", "rnn-relu", "rnn-silu", "leaky-tanh", "leaky-elu", "leaky-silu")


def model(cell, n=4, seed=0, size=0.7):
    """A random model."""
    generator = torch.Generator().manual_seed(seed)
    W = size * torch.randn(n, n, generator=generator, dtype=torch.float64) / n**0.5
    U = torch.randn(n, 2, generator=generator, dtype=torch.float64)
    if cell.startswith("leaky"):
        leak = 0.1 + 0.9 * torch.rand(n, generator=generator, dtype=torch.float64)
        return load_model({"W": W, "W_in": U, "leak": leak}, cell)
    return load_model({"weight_hh": W, "weight_ih": U}, cell)


@needs_solver
@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_steps_contract(cell):
    """No pair of states that was drawn moves apart by more than λ in ‖Q·‖₂."""
    for seed in range(6):
        loaded = model(cell, seed=seed)
        norm = kind_of(cell).analyse(loaded, 1.0).norm("quadratic-sdp")
        Q = torch.tensor(norm.weights[:-1], dtype=torch.float64)
        generator = torch.Generator().manual_seed(seed)
        shapes = [(1, 4, 2000)] * 2 + [(1, 2, 2000)]
        s, other, x = (torch.randn(at, generator=generator, dtype=torch.float64) for at in shapes)
        close = s + 1e-3 * other
        for pair in ((s, other), (s, close), (3 * s, 3 * close)):
            gap = Q @ (pair[0] - pair[1])[0]
            moved = Q @ (loaded.cell.step(pair[0], x) - loaded.cell.step(pair[1], x))[0]
            assert bool((moved.norm(dim=0) <= norm.lam * gap.norm(dim=0) * (1 + 1e-9)).all())


@needs_solver
@pytest.mark.slow
def test_more_is_certified():
    """Of networks that the other norms leave undecided some are certified, and no k is longer."""
    more = 0
    for seed in range(12):
        loaded = model("rnn-tanh", 8, seed, size=0.8)
        tried = {name: (lam, k) for name, lam, k in certify(loaded, inputs=1.0, eps=1e-2).tried}
        lam, k = tried.pop("quadratic-sdp")
        others = [one for _, one in tried.values() if one is not None]
        assert k is None or not others or k <= min(others)
        more += lam < 1 and not others
    assert more >= 3


@pytest.mark.parametrize("lie", [np.nan, np.inf, -1.0, 0.0, 1e-300, 1e300, 1.0])
def test_lying_solver(lie):
    """Whatever is proposed, the factor is proved or infinite."""
    loaded = model("rnn-tanh", size=0.3)
    system = slope_system(kind_of("rnn-tanh").analyse(loaded, 1.0).parts)
    found = metric_norm(system, np.ones(4), lambda *asked: (lie * np.eye(4), np.full(4, lie)))
    assert found.factor == np.inf or found.factor >= np.linalg.norm(system.W, 2) * (1 - 1e-9)


def skipped(certificate):
    """Why the norm was not tried; it is not among those that were."""
    assert METRIC_SDP not in {name for name, *_ in certificate.tried}
    reason = {one.what: one.reason for one in certificate.skipped}[METRIC_SDP]
    assert certificate.to_dict()["norms_tried"][-1]["skipped"] == reason
    return reason


def test_without_the_extra(monkeypatch):
    """By name one line with the remedy; the search goes on without it, and says so."""
    monkeypatch.setattr(metric, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'rnnbounds\[sdp\]'$"):
        certify(model("rnn-tanh", size=0.3), inputs=1.0, norm=METRIC_SDP)
    certificate = certify(model("rnn-tanh", size=0.3), inputs=1.0)
    assert certificate.verdict == "certified"
    assert "pip install" in skipped(certificate)


@needs_solver
@pytest.mark.parametrize(("limit", "why"), [("STEPS", "MaxIterations"), ("SECONDS", "MaxTime")])
def test_a_solver_that_gives_up(monkeypatch, limit, why):
    """Within its steps and its time: by name one line, and else it stands under what was skipped;
    of programs after the first what was found before is kept."""
    loaded, exact = model("rnn-tanh", size=0.3), metric.largest_margin
    monkeypatch.setattr(metric, limit, 0)
    with pytest.raises(UnansweredError, match=rf"gave up \({why}\); choose another norm"):
        certify(loaded, inputs=1.0, norm=METRIC_SDP)
    assert why in skipped(certify(loaded, inputs=1.0))
    monkeypatch.undo()
    asked = []

    def once(*program):
        asked.append(program)
        return exact(*program) if len(asked) == 1 else raising(*program)

    monkeypatch.setattr(metric, "largest_margin", once)
    assert certify(loaded, inputs=1.0, norm=METRIC_SDP).lam < 1
    assert len(asked) == 2
    monkeypatch.undo()
    undecided = certify(model("rnn-tanh", 3, 4, size=0.9), inputs=1.0, norm=METRIC_SDP)
    monkeypatch.setattr(metric, "largest_margin", raising)
    assert undecided.verdict == "undecided"
    assert undecided.next_steps  # none of which is a model that the norm certifies


def raising(*program):
    """A solver that answers nothing."""
    raise UnansweredError("NumericalError")


@needs_solver
def test_many_states():
    """Above so many states the solver runs by name alone."""
    assert "ask for it by name" in skipped(
        certify(model("rnn-tanh", FAST + 1, size=0.3), inputs=1.0)
    )
    assert certify(model("rnn-tanh", FAST + 1, size=0.3), inputs=1.0, norm=METRIC_SDP).lam < 1


def test_too_many_states():
    """One line by name."""
    loaded = model("rnn-tanh", LARGEST + 1)
    with pytest.raises(RangeError, match=f"at most {LARGEST}"):
        certify(loaded, inputs=1.0, norm="quadratic-sdp")


def test_definite():
    """Definite matrices, singular, indefinite and not finite ones."""
    with ctx.workprec(128):
        for rows, definite in (
            ([[2, 1], [1, 2]], True), ([[1, 1], [1, 1]], False), ([[1, 2], [2, 1]], False),
            ([[-1]], False), ([[float("nan")]], False),
        ):  # fmt: skip
            assert positive_definite(arb_mat(rows)) is definite
        wide = arb_mat([[arb(1), arb(0, 0.6)], [arb(0, 0.6), arb(0.3)]])
        assert not positive_definite(wide)
