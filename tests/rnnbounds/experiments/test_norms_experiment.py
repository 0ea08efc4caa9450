"""The experiment on norms: small, twice the same, honest when it fails."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_runs import NORMS as SMALL

import impl.norms.semidefinite
from impl.certificate.certify import certify
from impl.reading.adapters import load_model
from reports.pages.experiment import render_experiment
from rnnbounds.experiments.norms.page import outcome, rows
from rnnbounds.experiments.norms.page import page as page_of
from rnnbounds.experiments.norms.record import Method, Setting, problems, windows
from rnnbounds.experiments.norms.run import CELL, certified, draw, run


@pytest.fixture(scope="module")
def ran(small_run):
    """A small run: its folder, its record, and how often it advanced."""
    return small_run("norms")


def test_run(ran):
    """All are certified, although ‖W‖₂ ≥ 1."""
    _, record, _ = ran
    assert len(record.chosen) == SMALL.systems
    assert not record.certified("spectral")


def test_systems_are_what_they_should_be():
    """Of 200 systems ‖W‖₂ is uniform in [1, 1.3], and the planted norm is below 1: by NumPy."""
    sizes = []
    for index in range(200):
        drawn = draw(Setting(), 0, index)
        W, d = drawn.W.numpy(), drawn.d.numpy()
        sizes.append(np.linalg.norm(W, 2))
        assert 0.8 * (1 - 1e-9) <= np.linalg.norm(d[:, None] * W / d, 2) <= 0.99 * (1 + 1e-9)
    assert min(sizes) >= 1
    assert max(sizes) <= 1.3 * (1 + 1e-12)
    assert np.abs(np.sort(sizes) - np.linspace(1, 1.3, 200)).max() < 0.03
    assert torch.equal(draw(Setting(), 0, 7).W, draw(replace(Setting(), systems=3), 0, 7).W)
    assert not torch.equal(draw(Setting(), 0, 7).U, draw(Setting(), 1, 7).U)


def test_methods_are_the_single_norms():
    """What the record says of a method is what `certify` says in that norm alone."""
    drawn = draw(SMALL, 5, 0)
    told = certified(drawn, SMALL)
    loaded = load_model({"weight_hh": drawn.W, "weight_ih": drawn.U}, CELL)
    for name, method in told.methods.items():
        alone = certify(loaded, 1.0, (SMALL.epsilon,), name)
        assert method.factor == alone.lam
        assert method.k == alone.window(SMALL.epsilon)
    assert told.k == min(windows(told.methods).values())
    assert told.k == windows(told.methods)[told.norm_name]


def test_counts(ran):
    """Shortest and alone are counted from the windows; ties count for each."""
    _, record, _ = ran
    a, b, no = Method(0.5, 3), Method(0.6, 4), Method(1.2, None)
    systems = tuple(
        replace(record.systems[0], methods={"first": x, "second": y}, k=3, verdict="certified")
        for x, y in ((a, b), (b, a), (a, a), (no, a), (no, no))
    )
    told = replace(record, systems=systems)
    assert told.certified("first") == [3, 3, 4]
    assert (told.best("first"), told.best("second")) == (2, 3)
    assert (told.alone("first"), told.alone("second")) == (0, 1)
    assert rows(told)[0] == ("first", "3", "2", "0", "3", "4")
    assert "auto certifies 5" in outcome(told)
    assert b"<svg" in render_experiment(page_of(told))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"norm": 1.4}, "is not in [1, 1.3]"),
        ({"norm": float("nan")}, "is not in [1, 1.3]"),
        ({"planted": 1.0}, "is not below 1"),
        ({"verdict": "undecided"}, "certifies it"),
        ({"k": 10**6}, "k = 1000000, but"),
        ({"k": None}, "k = None, but"),
    ],
)
def test_problems(ran, change, words):
    """Systems that are not what they should be, and a choice that is not best, are failures."""
    _, record, _ = ran
    assert problems(record) == ()
    broken = replace(record, systems=(replace(record.systems[0], **change), *record.systems[1:]))
    assert any(words in problem for problem in problems(broken))
    shown = render_experiment(page_of(replace(broken, problems=problems(broken)))).decode()
    assert words.split("[")[0] in shown


def test_auto_certifies_as_many(ran):
    """Fewer than a single norm is a failure of the run."""
    _, record, _ = ran
    undecided = tuple(replace(system, verdict="undecided") for system in record.systems)
    told = problems(replace(record, systems=undecided))
    assert told[-1] == "auto certifies 0 systems, a single norm 2"


def test_without_the_solver(monkeypatch, tmp_path):
    """Without the optional solver its norm is missing, and the page says so."""
    monkeypatch.setattr(impl.norms.semidefinite, "find_spec", lambda name: None)
    record = run(tmp_path, instances=1, setting=SMALL)
    assert "diagonal-sdp" not in record.names
    assert not record.problems
    assert "diagonal-sdp was not tried" in (tmp_path / "index.html").read_text()
