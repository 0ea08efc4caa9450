"""The sunspot experiment: what NumPy says of it, honest when it fails."""

import math
import sys

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from safetensors.numpy import load_file
from small_runs import SMALL

import rnnbounds
from rnnbounds.experiments import gaps, sunspots
from rnnbounds.experiments.engine.running import run_experiment
from rnnbounds.experiments.tasks.sunspot_numbers import load_series

pytest.importorskip("statsmodels")


@pytest.fixture(scope="module")
def ran(small_run):
    """A small run: its folder, and its runs by way, or by ε."""
    folder, record, _ = small_run("sunspots")
    return folder, {one.figures.get("ε", one.variant): one for one in record.runs}


def rollout(weights, x, k):
    """h_T^k for every T in NumPy, one window after the other: the oracle."""
    W, U = weights["weight_hh_l0"], weights["weight_ih_l0"]
    b = weights["bias_ih_l0"] + weights["bias_hh_l0"]
    states = []
    for T in range(1, len(x) + 1):
        h = np.zeros(len(W))
        for value in x[max(0, T - k) : T]:
            h = np.tanh(W @ h + U[:, 0] * value + b)
        states.append(h)
    return np.array(states)


def test_files_carry_what_the_record_says(ran):
    """The weights that were written are those that were certified, truncated ones too."""
    folder, runs = ran
    bound = load_series().input_bound
    certificate = rnnbounds.certify(folder / "projected-0.safetensors", bound, (1e-2,))
    told = runs["projected"].certificate
    assert (told.verdict, told.lam, told.k) == (
        "certified",
        certificate.lam,
        certificate.window(1e-2),
    )
    assert told.lam <= sunspots.Sizes().ell
    for epsilon in sunspots.EPSILONS:
        file = folder / f"truncated-{epsilon:g}-0.safetensors"
        module, known = rnnbounds.load_truncated(file), rnnbounds.load_certificate(file)
        assert module.k == runs[epsilon].figures["years k"]
        assert known.digest == certificate.digest
        assert known.windows == ((epsilon, module.k),)


def test_numpy_agrees(ran):
    """Gaps and forecasts, recomputed in NumPy from the files, window by window, agree."""
    folder, runs = ran
    weights, series = load_file(folder / "projected-0.safetensors"), load_series()
    numbers = np.array(series.numbers)
    past = numbers[: -series.held_out]
    x = ((numbers - past.mean()) / past.std())[:-1]
    assert series.mean == pytest.approx(past.mean(), rel=1e-14)
    start, C = len(x) - series.held_out, weights["readout.weight"][0]
    full = rollout(weights, x, len(x))[start:]
    forecasts = series.mean + series.unit * (full @ C + weights["readout.bias"][0])
    told = runs["projected"]
    np.testing.assert_allclose(told.curves["forecast"].y, forecasts, rtol=1e-11)
    error = np.sqrt(np.mean((forecasts - numbers[start + 1 :]) ** 2))
    assert told.figures[sunspots.ERROR] == pytest.approx(error)
    for k in (0, 1, 7):
        gap = np.linalg.norm(full - rollout(weights, x, k)[start:], axis=1).max()
        assert told.curves["gap"].y[k] == pytest.approx(gap, rel=1e-9)
    cut = runs[1e-1].figures
    apart = full - rollout(weights, x, int(cut["years k"]))[start:]
    assert np.linalg.norm(apart, axis=1).max() <= cut["states apart"] <= 0.1
    assert series.unit * abs(apart @ C).max() <= cut[sunspots.APART] <= cut[sunspots.BOUND]
    bound = 0.1 * np.linalg.norm(C) * series.unit
    assert bound <= cut[sunspots.BOUND] <= bound * (1 + 1e-12)


def test_certified_curve_is_the_lemma(ran):
    """The drawn bound is C min(S/(1 − λ), R) λᵏ, not below it, and each window is the least one."""
    folder, runs = ran
    found = rnnbounds.certify(folder / "projected-0.safetensors", load_series().input_bound)
    told = np.array(runs["projected"].curves["gap, certified"].y)
    most = min(found.constants["drive"] / (1 - found.lam), found.constants["radius"])
    exact = found.constants["equivalence"] * most * found.lam ** np.arange(len(told))
    np.testing.assert_allclose(told, exact, rtol=1e-13)
    for epsilon in sunspots.EPSILONS:
        k = int(runs[epsilon].figures["years k"])
        assert told[k] <= epsilon < told[k - 1]


def test_uncertified_projection_fails(tmp_path):
    """Without a certificate nothing is truncated, and record and page say that it fails."""
    setting = replace(SMALL["sunspots"], epochs=20, ell=3.0)
    record = run_experiment(sunspots.EXPERIMENT, tmp_path, setting=setting)
    assert len(record.runs) == 2
    (problem,) = record.problems
    assert problem.startswith("seed 0: the projected network is ")
    assert record.outcome.holds == "does not hold"
    assert "FAILS · Sunspots" in (tmp_path / "index.html").read_text()
    assert not list(tmp_path.glob("truncated-*"))


@pytest.mark.parametrize("wrong", [None, 1e3], ids=str)
def test_broken_bounds_are_convicted(ran, wrong):
    """Each comparison can fail, and what is not finite fails it."""
    _, runs = ran
    cut, whole = runs[1e-1], runs["projected"]
    state, forecast = (
        replace(cut, figures=cut.figures | {name: wrong})
        for name in ("states apart", sunspots.APART)
    )
    gap = whole.curves["gap"]
    memory = replace(whole, curves=whole.curves | {"gap": replace(gap, y=(wrong, *gap.y[1:]))})
    for broken, words in (
        (state, "states"),
        (forecast, "forecasts"),
        (memory, "k = 0: the states"),
    ):
        (found,) = sunspots.find_problems([broken])
        assert words in found
    assert sunspots.find_problems([cut, whole]) == ()


def test_gaps_are_rounded_up():
    """An observed gap is at least the true one with its rounding, and NaN is no small gap."""
    apart = torch.tensor([[3.0, 4.0], [0.0, -1.0]], dtype=torch.float64)
    C = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    assert 5 <= gaps.state_gap(apart, 0.0) <= 5 * (1 + 1e-15)
    assert 5.5 <= gaps.state_gap(apart, 0.25) <= 5.5 * (1 + 1e-15)
    assert 2 <= gaps.forecast_gap(apart, C, 0.0, 2.0) <= 2 * (1 + 1e-14)
    assert gaps.forecast_gap(apart, C, 1.0, 1.0) >= 1 + 2 * math.sqrt(2)
    assert gaps.state_gap(apart * math.nan, 0.0) == math.inf
    assert gaps.certified_forecast_gap(0.5, C, 2.0) >= math.sqrt(2)


def test_unknown_rounding_fails_closed(ran):
    """A certificate without a rounding bound leaves every gap unbounded."""
    from dataclasses import replace as changed

    found = rnnbounds.certify(ran[0] / "projected-0.safetensors", load_series().input_bound)
    assert 0 < gaps.rounding_or_inf(found) < 1e-10
    assert gaps.rounding_or_inf(changed(found, rounding=None)) == math.inf


def test_missing_statsmodels(refused, tmp_path, monkeypatch):
    """Without statsmodels: one line with the remedy, exit 2, nothing written."""
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    line = refused("experiment", "sunspots", "--out", tmp_path / "out")
    assert line.endswith("install it with: pip install statsmodels")
    assert not (tmp_path / "out").exists()
