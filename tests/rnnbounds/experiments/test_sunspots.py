"""The sunspot experiment: small, twice the same, honest when it fails."""

import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import rnnbounds
from reports.pages.experiment import render_experiment
from rnnbounds.experiments import gaps
from rnnbounds.experiments.engine.common import encode, up
from rnnbounds.experiments.sunspots import run as sunspots
from rnnbounds.experiments.sunspots.forecast import Forecaster
from rnnbounds.experiments.sunspots.page import page as page_of
from rnnbounds.experiments.sunspots.record import problems
from rnnbounds.experiments.sunspots.run import run

pytest.importorskip("statsmodels")


@pytest.fixture(scope="module")
def ran(small_run):
    """A small run: its folder, its record, and how often it advanced."""
    return small_run("sunspots")


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """A run whose projection is too weak to certify anything."""
    folder = tmp_path_factory.mktemp("failed")
    return folder, run(folder, epochs=20, ell=3.0)


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


def test_projected_network_is_certified(ran):
    """The projected network is certified with λ ≤ ℓ and nothing is wrong."""
    _, record, _ = ran
    assert record.stable.verdict == "certified"
    assert record.stable.certificate["lambda"] <= sunspots.ELL
    assert record.unconstrained.verdict in ("certified", "refuted", "undecided")
    assert record.unconstrained.ell is None


def test_seed_matters():
    """Another seed is another network; the same one is the same."""
    first, again, other = (Forecaster(seed).rnn.weight_hh_l0 for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_files_carry_what_the_record_says(ran):
    """The weights that were written are those that were certified, truncated ones too."""
    folder, record, _ = ran
    certificate = rnnbounds.certify(folder / "stable.safetensors", record.input_bound, (1e-2,))
    assert certificate.digest == record.stable.certificate["sha256"]
    assert certificate.verdict == "certified"
    for cut in record.truncations:
        module = rnnbounds.load_truncated(folder / cut.file)
        told = rnnbounds.load_certificate(folder / cut.file)
        assert module.k == cut.k
        assert told["sha256"] == record.stable.certificate["sha256"]
        assert told["truncation"] == [{"eps": cut.epsilon, "k": cut.k}]


def test_numpy_agrees(ran):
    """Gaps and forecasts, recomputed in NumPy from the files, window by window, agree."""
    folder, record, _ = ran
    weights = load_file(folder / "stable.safetensors")
    numbers = np.array(record.series.numbers)
    past = numbers[: -record.series.held_out]
    x = ((numbers - past.mean()) / past.std())[:-1]
    assert record.series.mean == pytest.approx(past.mean(), rel=1e-14)
    assert record.input_bound == pytest.approx(abs((numbers - past.mean()) / past.std()).max())
    start, C = len(x) - record.series.held_out, weights["readout.weight"][0]
    full = rollout(weights, x, len(x))[start:]
    forecasts = record.series.mean + record.series.unit * (full @ C + weights["readout.bias"][0])
    np.testing.assert_allclose(record.stable.forecasts, forecasts, rtol=1e-11)
    error = np.sqrt(np.mean((forecasts - numbers[start + 1 :]) ** 2))
    assert record.stable.error == pytest.approx(error)
    for k in (0, 1, 7):
        gap = np.linalg.norm(full - rollout(weights, x, k)[start:], axis=1).max()
        assert record.memory.stable[k] == pytest.approx(gap, rel=1e-9)
    cut = record.truncations[0]
    apart = full - rollout(weights, x, cut.k)[start:]
    assert np.linalg.norm(apart, axis=1).max() <= cut.gap <= cut.epsilon
    assert record.series.unit * abs(apart @ C).max() <= cut.forecast_gap <= cut.forecast_bound
    bound = cut.epsilon * np.linalg.norm(C) * record.series.unit
    assert bound <= cut.forecast_bound <= bound * (1 + 1e-12)


def test_certified_curve_is_the_lemma(ran):
    """The drawn bound is C min(S/(1 − λ), R) λᵏ, not below it, and each window is the least one."""
    _, record, _ = ran
    constants, lam = record.stable.certificate["constants"], record.stable.certificate["lambda"]
    k = np.arange(len(record.memory.certified))
    most = min(constants["drive"] / (1 - lam), constants["radius"])
    exact = constants["equivalence"] * most * lam**k
    np.testing.assert_allclose(record.memory.certified, exact, rtol=1e-13)
    for cut in record.truncations:
        assert record.memory.certified[cut.k] <= cut.epsilon < record.memory.certified[cut.k - 1]


@pytest.mark.parametrize("verdict", ["certified", "refuted", "undecided"])
def test_page_says_each_verdict(ran, verdict):
    """Whatever the network that was left alone turns out to be, the page says that and no more."""
    _, record, _ = ran
    witness = {"text": "a fixed point repels"} if verdict == "refuted" else None
    certificate = record.unconstrained.certificate | {"verdict": verdict, "witness": witness}
    page = render_experiment(
        page_of(
            replace(record, unconstrained=replace(record.unconstrained, certificate=certificate))
        )
    )
    text = page.decode()
    assert f"The one that was left alone is {verdict}." in text
    assert ("a fixed point repels" in text) == (verdict == "refuted")
    assert ("says nothing about it" in text) == (verdict == "undecided")
    assert ("happens to be certified" in text) == (verdict == "certified")


def test_uncertified_projection_fails(failed):
    """Without a certificate nothing is truncated, and record and page say that it fails."""
    folder, record = failed
    assert record.stable.verdict != "certified"
    assert record.truncations == ()
    assert record.memory.certified == ()
    (problem,) = record.problems
    assert problem.startswith("the projected network is ")
    assert "FAILS · Sunspots" in (folder / "index.html").read_text()
    assert not list(folder.glob("truncated-*"))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e3], ids=str)
def test_broken_bounds_are_convicted(ran, wrong):
    """Each comparison can fail, and NaN fails it."""
    _, record, _ = ran
    first, *rest = record.truncations
    state = replace(record, truncations=(replace(first, gap=wrong), *rest))
    forecast = replace(record, truncations=(replace(first, forecast_gap=wrong), *rest))
    memory = replace(
        record, memory=replace(record.memory, stable=(wrong, *record.memory.stable[1:]))
    )
    for broken, words in (
        (state, "states"),
        (forecast, "forecasts"),
        (memory, "k = 0: the states"),
    ):
        found = problems(broken)
        assert len(found) == 1
        assert words in found[0]


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
    folder, record, _ = ran
    certificate = rnnbounds.certify(folder / "stable.safetensors", record.input_bound)
    assert 0 < gaps.known_rounding(certificate) < 1e-10
    assert gaps.known_rounding(replace(certificate, rounding=None)) == math.inf


def test_json_has_no_nan(ran):
    """The record is strict JSON; what is not finite is null."""
    _, record, _ = ran
    broken = replace(record, persistence_error=math.nan)
    assert json.loads(encode(broken))["persistence_error"] is None
    assert json.loads(encode(record))["schema"] == "rnnbounds/sunspots/1"


def test_numbers_on_the_page_are_rounded_up():
    """Three digits, never below the number."""
    given = {0.8: "0.801", 0.5: "0.5", 8.541: "8.55", 1234.0: "1240", 0.0: "0", 100.0: "100"}
    assert {value: up(value) for value in given} == given


def test_missing_statsmodels(refused, tmp_path, monkeypatch):
    """Without statsmodels: one line with the remedy, exit 2, nothing written."""
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    line = refused("experiment", "sunspots", "--out", tmp_path / "out")
    assert line.endswith("install it with: pip install statsmodels")
    assert not (tmp_path / "out").exists()
