"""Every experiment, small: its record, its page, its command, its problems."""

import json
from functools import cache
from html import unescape
from types import SimpleNamespace

import pytest
import torch
from msgspec.structs import replace

from rnnbounds.experiments import NAMES, engine, find_experiment
from rnnbounds.experiments.engine import Run, change_setting, run_experiment, score_text, write_run
from rnnbounds.experiments.gradient_decay import certified_gradients
from rnnbounds.impl.certificate.certify import certify

ONE = {"seeds": 1, "tasks": ["characters"], "cells": ["RNN"], "states": 3, "steps": 3}
SMALL = {
    **dict.fromkeys(("truncation-curve", "gradient-decay", "data-stability"), ONE),
    "weights-apart": ONE | {"ks": [1, 4]},
    "stable-vs-unstable": {"seeds": 1, "tasks": ["words"], "states": 2, "steps": 2},
    "feed-forward": {"tasks": ["words"], "states": 4, "steps": 2},
    "deep-cell": {"depths": [1, 2], "states": 4, "length": 4, "steps": 3},
    "urnn": {"sequences": 12, "length": 60, "hidden": [2, 4], "steps": 3},
    "permuted-digits": {"seeds": 1, "hidden": 4, "steps": 3},
    "similarity": {"states": 3, "conditions": [1.0, 100.0]},
    "sigmoid-gap": {"sequences": 10, "hidden": [4, 6], "length": 4, "steps": 3},
}


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    """Runs an experiment once: its folder, its record, how often it advanced."""

    @cache
    def once(name):
        if name == "permuted-digits":
            pytest.importorskip("sklearn")
        one, labels, folder = find_experiment(name), [], tmp_path_factory.mktemp(name) / "new"
        setting = change_setting(one, {"seeds": 2} | SMALL[name])
        record = run_experiment(one, setting=setting, device="cpu", advance=labels.append)
        write_run(folder, one, record)
        return folder, record, len(labels) == len(one.units(setting))

    return once


@pytest.mark.parametrize("name", NAMES)
def test_each(name, ran):
    """A record and a page that is made of it alone, all seeds in it, and no bound broken."""
    folder, record, advanced = ran(name)
    assert advanced
    assert {path.name for path in folder.iterdir()} == {f"{name}.json", "index.html"}
    assert json.loads((folder / f"{name}.json").read_bytes())["name"] == record.name == name
    assert record.outcome.problems == ()
    assert {run.seed for run in record.runs} == set(range(record.settings["seeds"]))
    page = (folder / "index.html").read_text("utf-8")
    for absent in ("http:", "https:", "<script ", "<link", "src=", "FAILS"):
        assert absent not in page
    badge, words = page.split('<p class="lead">')[1].split("</p>")[0].split("</strong> ")
    assert badge.endswith(f"</span> {record.outcome.holds} at this size")
    assert unescape(words).endswith(f"Found: {record.outcome.summary}")
    assert f"rnnbounds experiment {name} " in page
    assert ("<table" in page, "<svg" in page) == (True, bool(record.runs[0].curves))


def test_gradients_of_an_input_that_one_unit_alone_sees():
    """At lag 0 all of it, though the gain is far less than 1/(1 − λ) of that."""
    core = torch.nn.RNN(1, 2, bias=False).double()
    core.load_state_dict({"weight_hh_l0": torch.tensor([[0.9, 0.0], [0.0, 0.0]]),
                          "weight_ih_l0": torch.tensor([[0.0], [1.0]])})  # fmt: skip
    model = SimpleNamespace(core=core, readout=torch.nn.Linear(2, 1).double())
    certificate = certify(core, inputs=1.0, eps=0.1)
    assert certificate.constants["gain"] * (1 - certificate.lam) < 0.2
    size = float(model.readout.weight.detach().norm())
    assert certified_gradients(certificate, model)[0] >= 2**0.5 * size


def test_the_same_twice(ran):
    """All but the environment is a function of the settings."""
    for name in ("sigmoid-gap", "urnn"):
        one, (_, record, _) = find_experiment(name), ran(name)
        state = torch.random.get_rng_state()
        again = run_experiment(one, setting=change_setting(one, record.settings), device="cpu")
        assert torch.equal(state, torch.random.get_rng_state())
        assert again.runs == record.runs


def test_certified_models_are_read_off(ran):
    """Stable networks are certified, and their bounds are compared with what was observed."""
    for name in ("truncation-curve", "gradient-decay"):
        for run in (run for run in ran(name)[1].runs if run.variant == "stable"):
            assert run.figures["certified λ"] <= 0.96
            assert run.figures["certified bounds broken"] == 0


@pytest.mark.parametrize("name", ["truncation-curve", "gradient-decay"])
def test_what_is_broken_is_a_problem(ran, name):
    """A bound that fell."""
    broken = {"certified bounds broken": 2.0}
    runs = [replace(run, figures=run.figures | broken) for run in ran(name)[1].runs]
    (line, *_) = find_experiment(name).judge(runs, None).problems
    assert line == "characters, RNN, stable, seed 0: 2 bounds are broken"


def test_an_uncertified_stable_network_is_a_problem(ran):
    """The projection has to make networks that `certify` certifies."""
    _, record, _ = ran("stable-vs-unstable")
    lost = [replace(run, figures=run.figures | {"certified λ": None}) for run in record.runs]
    problems = find_experiment(record.name).judge(lost, None).problems
    assert len(problems) == 2
    assert problems[0] == "words: the stable RNN of seed 0 is not certified"


def test_command(call, refused, monkeypatch, tmp_path):
    """Options, settings, the first line; exit 1 for what is broken; refusals have a remedy."""
    out = tmp_path / "out"
    small = ("similarity", "--set", "states=2", "--seeds", 1, "--seed", 3, "--out", out)
    done = call("experiment", *small)
    assert (done.code, done.err) == (0, "")
    assert done.out.split()[:2] == ["model", "variant"]
    assert "\nHolds at this size. Outputs in float64 differ" in done.out
    again = "rnnbounds experiment similarity --set=seed=3 --set=seeds=1 --set=states=2 "
    assert again in unescape((out / "index.html").read_text("utf-8"))
    assert call("experiment", *small, "--format", "json").json["settings"]["states"] == 2
    for value, line in (
        ("depth=2", "unknown setting of similarity 'depth'; choose among seed, seeds,"),
        ("states=many", "Expected `int`"),
        ("states", "give it as NAME=VALUE"),
        (f"states={'[' * 3000}{']' * 3000}", "nests too deep; flatten it"),
        ("states=\udcff", "not UTF-8; write it so"),
    ):
        assert line in refused("experiment", "similarity", "--set", value)
    new = ("experiment", "similarity", "--out", tmp_path / "new")
    assert "unknown device 'tpu'" in refused(*new, "--device", "tpu")
    assert not (tmp_path / "new").exists()
    one = find_experiment("similarity")
    broken = engine.Outcome("holds", "All is well.", ("a bound fell",))
    fails = engine.Experiment(**vars(one) | {"judge": lambda runs, setting: broken})
    monkeypatch.setattr("rnnbounds.experiments.similarity.EXPERIMENT", fails)
    done = call("experiment", *small)
    assert (done.code, done.out.splitlines()[-2]) == (1, "FAILS: a bound fell")
    assert "FAILS · Similarity" in (out / "index.html").read_text("utf-8")


def test_spread():
    """Mean and standard deviation of what is known, and how many are."""
    for values, text in (
        ([1.0, 2.0, 3.0], "2 ± 1"), ([2e-9, 2.1234e-9], "2.1·10⁻⁹ ± 8.7·10⁻¹¹"),
        ([1.0, None], "1 (1 of 2)"), ([None], "–"),
    ):  # fmt: skip
        runs = [Run(task="", model="", variant="", seed=0, figures={"loss": v}) for v in values]
        assert score_text(runs, "loss") == text
