"""The experiment on norms: its systems by NumPy, honest when it fails."""

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from small_runs import SMALL as EVERY

import impl.norms.semidefinite
from impl.certificate.certify import certify
from impl.reading.adapters import load_model
from rnnbounds.experiments.engine.record import Run
from rnnbounds.experiments.engine.running import run
from rnnbounds.experiments.stable import norms
from rnnbounds.experiments.stable.norms import CELL, Sizes, draw, problems

SMALL = EVERY["norms"]


@pytest.fixture(scope="module")
def record(small_run):
    """That of a small run."""
    return small_run("norms")[1]


def test_run(record):
    """All are certified, although ‖W‖₂ ≥ 1."""
    assert len(norms.of_norm(record.runs, norms.AUTO)) == SMALL.seeds
    assert not norms.of_norm(record.runs, "spectral")
    assert record.outcome.holds == "holds"


def test_systems_are_what_they_should_be():
    """Of 200 systems ‖W‖₂ is uniform in [1, 1.3], and the planted norm is below 1: by NumPy."""
    sizes = []
    for index in range(200):
        drawn = draw(Sizes(), index)
        W, d = drawn.W.numpy(), drawn.d.numpy()
        sizes.append(np.linalg.norm(W, 2))
        assert 0.8 * (1 - 1e-9) <= np.linalg.norm(d[:, None] * W / d, 2) <= 0.99 * (1 + 1e-9)
    assert min(sizes) >= 1
    assert max(sizes) <= 1.3 * (1 + 1e-12)
    assert np.abs(np.sort(sizes) - np.linspace(1, 1.3, 200)).max() < 0.03
    assert torch.equal(draw(Sizes(), 7).W, draw(Sizes(seeds=3), 7).W)
    assert not torch.equal(draw(Sizes(), 7).U, draw(Sizes(), 8).U)


def test_methods_are_the_single_norms(record):
    """What the record says of a method is what `certify` says in that norm alone."""
    drawn, told = draw(SMALL, 0), record.runs[0].figures
    loaded = load_model({"weight_hh": drawn.W, "weight_ih": drawn.U}, CELL)
    for name in norms.names(record.runs):
        alone = certify(loaded, 1.0, (SMALL.epsilon,), name)
        assert told[f"λ, {name}"] == alone.lam
        assert told[f"k, {name}"] == alone.window(SMALL.epsilon)
    known = norms.windows(record.runs[0])
    assert told[f"k, {norms.AUTO}"] == min(known.values())


def made(first, second):
    """A system with windows of two norms."""
    figures = {"k, first": first, "k, second": second, "k, auto": 3.0, norms.NORM: 1.1}
    return Run(task="", model="", variant="", seed=0, figures=figures | {norms.PLANTED: 0.9})


def test_counts(record):
    """Shortest and alone are counted from the windows; ties count for each."""
    runs = [made(*ks) for ks in ((3, 4), (4, 3), (3, 3), (None, 3), (None, None))]
    assert norms.of_norm(runs, "first") == [3, 3, 4]
    (section,) = norms.sections(replace(record, runs=tuple(runs)))
    table = next(block for block in section.blocks if hasattr(block, "rows"))
    assert table.rows[0] == ("first", "3", "2", "0", "3", "4")
    assert table.rows[1][2:4] == ("3", "1")
    assert "auto certifies 5" in norms.judge(runs, SMALL).said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({norms.NORM: 1.4}, "is not in [1, 1.3]"),
        ({norms.NORM: None}, "is not in [1, 1.3]"),
        ({norms.PLANTED: 1.0}, "is not below 1"),
        ({"k, auto": 1e6}, "k = 1000000.0, but"),
        ({"k, auto": None}, "k = None, but"),
    ],
)
def test_problems(record, change, words):
    """Systems that are not what they should be, and a choice that is not best, are failures."""
    assert problems(record.runs, SMALL) == ()
    broken = replace(record.runs[0], figures=record.runs[0].figures | change)
    (found,) = problems([broken], SMALL)
    assert words in found
    assert norms.judge([broken], SMALL).holds == "does not hold"


def test_without_the_solver(monkeypatch, tmp_path):
    """Without the optional solver its norm is missing, and the page says so."""
    monkeypatch.setattr(impl.norms.semidefinite, "find_spec", lambda name: None)
    record = run(norms.EXPERIMENT, tmp_path, setting=replace(SMALL, seeds=1))
    assert "diagonal-sdp" not in norms.names(record.runs)
    assert not record.problems
    assert "diagonal-sdp was not tried" in (tmp_path / "index.html").read_text()
