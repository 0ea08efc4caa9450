"""The experiment on norms: its systems by NumPy, honest when it fails."""

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from small_runs import SMALL as EVERY

import rnnbounds.impl.norms.solver.client
from rnnbounds.experiments.engine.record import CertificateSummary, Run
from rnnbounds.experiments.engine.running import run_experiment
from rnnbounds.experiments.engine.scores import select_runs
from rnnbounds.experiments.stable import norms_told as norms
from rnnbounds.experiments.stable.gated_cells import DRAWN, EDGE, TRAINED, draw_weights
from rnnbounds.experiments.stable.norms import CELL, CHO, EXPERIMENT, list_units
from rnnbounds.experiments.stable.norms_drawn import Sizes, draw_planted
from rnnbounds.experiments.stable.published import BOUNDED, CONDITIONS
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model

SMALL = EVERY["norms"]
BETWEEN = SMALL.norms
TERZI = CONDITIONS["lstm"][0].name


def problems(runs, setting):
    """What fails of these runs."""
    return norms.find_problems(runs, setting.norms)


@pytest.fixture(scope="module")
def record(small_run):
    """That of a small run."""
    return small_run("norms")[1]


def test_run(record):
    """All are certified, although ‖W‖₂ ≥ 1."""
    random = select_runs(record.runs, task=norms.RNNS)
    assert len(norms.sorted_lengths(random, norms.AUTO)) == SMALL.seeds
    assert not norms.sorted_lengths(random, "spectral")
    assert record.outcome.holds == "holds"
    for task in (norms.LSTMS, norms.GRUS):
        some = select_runs(record.runs, task=task)
        assert len(some) == SMALL.seeds
        assert all(set(norms.PUBLISHED) & set(norms.norm_names([one])) for one in some)


def test_systems_are_what_they_should_be():
    """Of 200 systems ‖W‖₂ is uniform in [1, 1.3], and the planted norm is below 1: by NumPy."""
    sizes = []
    for index in range(200):
        drawn = draw_planted(Sizes(), index)
        W, d = drawn.W.numpy(), drawn.d.numpy()
        sizes.append(np.linalg.norm(W, 2))
        assert 0.8 * (1 - 1e-9) <= np.linalg.norm(d[:, None] * W / d, 2) <= 0.99 * (1 + 1e-9)
    assert min(sizes) >= 1
    assert max(sizes) <= 1.3 * (1 + 1e-12)
    assert np.abs(np.sort(sizes) - np.linspace(1, 1.3, 200)).max() < 0.03
    assert torch.equal(draw_planted(Sizes(), 7).W, draw_planted(Sizes(seeds=3), 7).W)
    assert not torch.equal(draw_planted(Sizes(), 7).U, draw_planted(Sizes(), 8).U)


def test_methods_are_the_single_norms(record):
    """What the record says of a method is what `certify` says in that norm alone."""
    drawn, told = draw_planted(SMALL, 0), record.runs[0].figures
    loaded = load_model({"weight_hh": drawn.W, "weight_ih": drawn.U}, CELL)
    own = [name for name in norms.norm_names(record.runs[:1]) if name not in norms.PUBLISHED]
    for name in own:
        alone = certify(loaded, 1.0, (SMALL.epsilon,), name)
        assert told[f"λ, {name}"] == alone.lam
        assert told[f"k, {name}"] == alone.window(SMALL.epsilon)
    known = norms.lengths_by_norm(record.runs[0])
    assert told[f"k, {norms.AUTO}"] == min(known.values())


def made(first, second):
    """A system with windows of two norms."""
    figures = {"k, first": first, "k, second": second, "k, auto": 3.0, norms.NORM: 1.1}
    told = figures | {norms.PLANTED: 0.9}
    return Run(task=norms.RNNS, model="", variant="", seed=0, figures=told)


def test_counts(record):
    """Shortest and alone are counted from the windows; ties count for each."""
    runs = [made(*ks) for ks in ((3, 4), (4, 3), (3, 3), (None, 3), (None, None))]
    assert norms.sorted_lengths(runs, "first") == [3, 3, 4]
    (section,) = norms.extra_sections(replace(record, runs=tuple(runs)))
    table = next(block for block in section.blocks if hasattr(block, "rows"))
    assert table.rows[0] == ("first", "3", "2", "0", "3", "4", "3", "1")
    assert table.rows[1][2:4] == ("3", "1")
    assert "auto certifies 5" in norms.judge_runs(runs, BETWEEN).said


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
    assert norms.judge_runs([broken], BETWEEN).holds == "does not hold"


def gated(verdict, k, published, lam=0.5):
    """An LSTM with a window of its own, and of Terzi's condition."""
    told = CertificateSummary(verdict, "perron", 0.5, 1e-3, k, "")
    figures = {"k, perron": k, "k, auto": k, f"λ, {TERZI}": lam, f"k, {TERZI}": published}
    return Run(
        task=norms.LSTMS, model="", variant="", seed=1, certificate=told,
        figures=figures | {BOUNDED: 0.9},
    )  # fmt: skip


def test_a_condition_that_does_better_is_a_problem(record):
    """A published condition that certifies what the search does not, or with a shorter k; what it
    bounds alone is told with the verdicts."""
    good = gated("certified", 3.0, 5.0), gated("refuted", None, None, 1.5)
    assert problems(good, SMALL) == ()
    for worse, words in (
        (gated("certified", 3.0, 2.0), f"k = 3.0, but 2 by {TERZI}"),
        (gated("undecided", None, 7.0), f"k = None, but 7 by {TERZI}"),
        (gated("undecided", None, None), f"not certified, but λ = 0.5 by {TERZI}"),
    ):
        (found,) = problems([*good, worse], SMALL)
        assert words in found
        assert norms.judge_runs([*record.runs, worse], BETWEEN).holds == "does not hold"
    said = norms.judge_runs([*record.runs, *good], BETWEEN).said
    assert f"{TERZI} " in said
    (section,) = norms.extra_sections(replace(record, runs=good))
    assert "these 1 certified, 0 undecided, 1 refuted" in section.blocks[-1].text


def test_units():
    """As many of each kind; a quarter trained, in all ways, both conventions of GRUs among them."""
    found = list_units(Sizes(seeds=24))
    for task in (norms.LSTMS, norms.GRUS):
        some = [unit for unit in found if unit.task == task]
        counts = [sum(unit.variant == one for unit in some) for one in (*TRAINED, DRAWN, EDGE)]
        assert counts == [2, 2, 2, 6, 12]
        assert sum(unit.model == CHO for unit in some) == (9 if task == norms.GRUS else 0)


@pytest.mark.parametrize("cell", CONDITIONS)
def test_drawn_to_the_edge(cell):
    """Some condition of the cell holds with the λ that was drawn."""
    for seed in range(4):
        weights = {
            role: part.numpy() for role, part in draw_weights(cell, True, seed, (2, 4), 2).items()
        }
        lams = [condition.evaluate(weights, 1e-3).lam for condition in CONDITIONS[cell]]
        assert min(abs(lam - edge) for lam in lams for edge in (0.999, 0.99, 0.9, 0.7)) < 1e-9


def test_without_the_solver(monkeypatch, tmp_path):
    """Without the optional solver its norm is missing, and the page says so."""
    monkeypatch.setattr(rnnbounds.impl.norms.solver.client, "find_spec", lambda name: None)
    record = run_experiment(EXPERIMENT, tmp_path, setting=replace(SMALL, seeds=1))
    assert "diagonal-sdp" not in norms.norm_names(record.runs)
    assert not record.problems
    assert "diagonal-sdp was not tried" in (tmp_path / "index.html").read_text()
