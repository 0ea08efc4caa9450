"""The sunspot experiment: small, twice the same, honest when it fails."""

import json
import math
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file

import rnnbounds
from reports.pages.experiment import render_experiment
from rnnbounds import experiments
from rnnbounds.cli import main
from rnnbounds.experiments import gaps
from rnnbounds.experiments.common import encode, up
from rnnbounds.experiments.sunspots import run as sunspots
from rnnbounds.experiments.sunspots.forecast import Forecaster
from rnnbounds.experiments.sunspots.page import page as page_of
from rnnbounds.experiments.sunspots.record import problems
from rnnbounds.experiments.sunspots.run import run

pytest.importorskip("statsmodels")
EPOCHS = 12
FILES = {
    "index.html",
    "stable.safetensors",
    "sunspots.json",
    "truncated-0.001.safetensors",
    "truncated-0.01.safetensors",
    "truncated-0.1.safetensors",
    "unconstrained.safetensors",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A short run: its folder and its record."""
    folder = tmp_path_factory.mktemp("sunspots") / "new" / "folder"
    return folder, run(folder, epochs=EPOCHS)


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """A run whose projection is too weak to certify anything."""
    folder = tmp_path_factory.mktemp("failed")
    return folder, run(folder, epochs=20, ell=3.0)


def without_environment(document):
    """The record but for the times and the machine."""
    return {name: part for name, part in json.loads(document).items() if name != "environment"}


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
    folder, record = ran
    assert {path.name for path in folder.iterdir()} == FILES
    assert record.problems == ()
    assert record.stable.verdict == "certified"
    assert record.stable.certificate["lambda"] <= sunspots.ELL
    assert record.unconstrained.verdict in ("certified", "refuted", "undecided")
    assert record.unconstrained.ell is None


def test_same_seed_same_everything(ran, tmp_path):
    """A seed gives the same record and the same weights twice, and leaves torch's generator."""
    folder, _ = ran
    before = torch.random.get_rng_state()
    run(tmp_path, epochs=EPOCHS)
    assert torch.equal(before, torch.random.get_rng_state())
    for name in FILES - {"index.html", "sunspots.json"}:
        with safe_open(tmp_path / name, "np") as mine, safe_open(folder / name, "np") as other:
            assert mine.metadata() == other.metadata()
            names = list(mine.keys())
            assert names == list(other.keys())
            assert all((mine.get_tensor(n) == other.get_tensor(n)).all() for n in names)
    first, second = ((where / "sunspots.json").read_text() for where in (folder, tmp_path))
    assert without_environment(first) == without_environment(second)


def test_seed_matters():
    """Another seed is another network; the same one is the same."""
    first, again, other = (Forecaster(seed).rnn.weight_hh_l0 for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_files_carry_what_the_record_says(ran):
    """The weights that were written are those that were certified, truncated ones too."""
    folder, record = ran
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
    folder, record = ran
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
    """The drawn bound is C S λᵏ/(1 − λ), not below it, and each window is the least one."""
    _, record = ran
    constants, lam = record.stable.certificate["constants"], record.stable.certificate["lambda"]
    k = np.arange(len(record.memory.certified))
    exact = constants["equivalence"] * constants["drive"] * lam**k / (1 - lam)
    np.testing.assert_allclose(record.memory.certified, exact, rtol=1e-13)
    for cut in record.truncations:
        assert record.memory.certified[cut.k] <= cut.epsilon < record.memory.certified[cut.k - 1]


def test_page_stands_alone(ran):
    """The page loads nothing, runs nothing, and shows both verdicts and both figures."""
    folder, record = ran
    page = (folder / "index.html").read_text()
    assert page.encode() == render_experiment(page_of(record))
    for absent in ("http:", "https:", "<script", "<link", "src=", "FAILS"):
        assert absent not in page
    assert page.count("url(") == page.count("url(#")
    assert page.count("<svg") == 2
    assert f"<td>{record.unconstrained.verdict}</td>" in page
    assert f"seed 0 · {EPOCHS} epochs each" in page


@pytest.mark.parametrize("verdict", ["certified", "refuted", "undecided"])
def test_page_says_each_verdict(ran, verdict):
    """Whatever the network that was left alone turns out to be, the page says that and no more."""
    _, record = ran
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
    assert len(record.problems) == 1
    assert "FAILS · Sunspots" in (folder / "index.html").read_text()
    assert not list(folder.glob("truncated-*"))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e3], ids=str)
def test_broken_bounds_are_convicted(ran, wrong):
    """Each comparison can fail, and NaN fails it."""
    _, record = ran
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
    folder, record = ran
    certificate = rnnbounds.certify(folder / "stable.safetensors", record.input_bound)
    assert 0 < gaps.known_rounding(certificate) < 1e-10
    assert gaps.known_rounding(replace(certificate, rounding=None)) == math.inf


def test_json_has_no_nan(ran):
    """The record is strict JSON; what is not finite is null."""
    _, record = ran
    broken = replace(record, persistence_error=math.nan)
    assert json.loads(encode(broken))["persistence_error"] is None
    assert json.loads(encode(record))["schema"] == "rnnbounds/sunspots/1"


def test_numbers_on_the_page_are_rounded_up():
    """Three digits, never below the number."""
    given = {0.8: "0.801", 0.5: "0.5", 8.541: "8.55", 1234.0: "1240", 0.0: "0", 100.0: "100"}
    assert {value: up(value) for value in given} == given


def test_command(tmp_path, capsys):
    """The command prints what it found, ends with 0 and needs no terminal."""
    assert main(["experiment", "sunspots", "--out", str(tmp_path), "--epochs", "2"]) == 0
    printed = capsys.readouterr()
    assert "certified" in printed.out
    assert f"wrote {tmp_path / 'index.html'}" in printed.out
    assert printed.err == ""


def test_command_json(tmp_path, capsys):
    """With --format json one document is printed, the one that is written."""
    arguments = ["experiment", "sunspots", "--out", str(tmp_path), "--epochs", "2", "--seed", "3"]
    assert main([*arguments, "--format", "json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads((tmp_path / "sunspots.json").read_text())
    assert json.loads(printed)["seed"] == 3


def test_command_fails_with_one(tmp_path, capsys, monkeypatch):
    """A run that certifies nothing ends with 1 and says why."""
    known = experiments.EXPERIMENTS["sunspots"]
    weak = {"sunspots": replace(known, run=partial(run, ell=3.0))}
    monkeypatch.setattr(experiments, "EXPERIMENTS", weak)
    assert main(["experiment", "sunspots", "--out", str(tmp_path), "--epochs", "20"]) == 1
    assert "FAILS: the projected network is" in capsys.readouterr().out


def test_default_folder(tmp_path, monkeypatch):
    """Without --out the page goes to report/NAME."""
    monkeypatch.chdir(tmp_path)
    assert main(["experiment", "sunspots", "--epochs", "1"]) == 0
    assert (tmp_path / "report" / "sunspots" / "index.html").is_file()


def refused(capsys, *arguments):
    """The one line that a refused call prints."""
    assert main(["experiment", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line


def test_missing_statsmodels(tmp_path, capsys, monkeypatch):
    """Without statsmodels: one line with the remedy, exit 2, nothing written."""
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    line = refused(capsys, "sunspots", "--out", str(tmp_path / "out"))
    assert line.endswith("install it with: pip install statsmodels")
    assert not (tmp_path / "out").exists()


def test_unknown_experiment(tmp_path, capsys):
    """An unknown experiment: one line that names the known ones, exit 2, nothing written."""
    line = refused(capsys, "moonspots", "--out", str(tmp_path / "out"))
    assert "unknown experiment 'moonspots'; choose among sunspots, gradients-close" in line
    assert not (tmp_path / "out").exists()


def test_bad_calls(tmp_path, capsys):
    """A file in place of the folder, no epochs, a negative seed: exit 2 before any training."""
    place = tmp_path / "file"
    place.write_text("mine")
    assert "choose another place" in refused(capsys, "sunspots", "--out", str(place))
    assert place.read_text() == "mine"
    assert "epochs" in refused(capsys, "sunspots", "--out", str(tmp_path), "--epochs", "0")
    assert "seed" in refused(capsys, "sunspots", "--out", str(tmp_path), "--seed", "-1")
    line = refused(capsys, "sunspots", "--out", str(tmp_path), "--instances", "3")
    assert line.endswith("the experiment sunspots has no instances; leave --instances out")
