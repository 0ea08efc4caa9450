"""What holds of every experiment: its files, its page, its command; small, twice the same."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

import pytest
import torch
from small_runs import SMALL, chosen

from rnnbounds import experiments
from rnnbounds.experiments import HOMES, find_experiment
from rnnbounds.experiments.engine import running
from rnnbounds.experiments.engine.page import headline_text, lead_text, record_verdict
from rnnbounds.experiments.engine.parts import PartError
from rnnbounds.experiments.engine.record import decode_record, encode_record, without_times
from rnnbounds.experiments.engine.running import count_advances, experiment_page, run_experiment
from rnnbounds.reports.pages.experiment import render_page

EACH = pytest.mark.parametrize("name", SMALL)


@pytest.fixture
def ran(name, small_run):
    """A small run: its folder, its record, and how often it advanced."""
    return small_run(name)


@EACH
def test_files_and_progress(name, ran):
    """A record and a page, nothing else but weights; the work is that of the command's count."""
    folder, record, labels = ran
    others = {path.name for path in folder.iterdir()} - {f"{name}.json", "index.html"}
    assert all(other.endswith(".safetensors") for other in others)
    assert len(labels) == count_advances(find_experiment(name), SMALL[name])
    assert record.problems == ()
    assert {one.seed for one in record.runs} == set(SMALL[name].each_seed)


@EACH
def test_page_stands_alone(name, ran):
    """The page is made from the record as it was written; it loads nothing, runs one script."""
    folder, record, _ = ran
    told, page = (
        decode_record((folder / f"{name}.json").read_bytes()),
        (folder / "index.html").read_text(),
    )
    assert told == record
    assert page.encode() == render_page(experiment_page(told, find_experiment(name)))
    for absent in ("http:", "https:", "<script ", "<link", "src=", "FAILS"):
        assert absent not in page
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert b64encode(sha256(script.encode()).digest()).decode() in page
    assert page.count("url(") == page.count("url(#")
    assert f"rnnbounds experiment {name} " in page
    first = page.split('<p class="lead">')[1].split("</p>")[0]
    badge, words = first.split("</strong> ")
    assert badge.endswith(f"</span> {record.outcome.holds} at this size")
    assert unescape(words) == lead_text(record)
    assert lead_text(record).endswith(f"Found: {record.outcome.said}")
    assert headline_text(record).lower().startswith(record_verdict(record).word)
    body = page.split("<main")[1]
    assert body.index("<svg") < body.index("<table")


SIDE_BY_SIDE = ("urnn", "permuted-digits")  # which are killed late in a training as well
KILLED = [
    *((name, 1) for name in SMALL),
    *((name, 4) for name in SIDE_BY_SIDE),
]


@pytest.mark.parametrize(("name", "saves"), KILLED)
def test_killed_run_goes_on(name, ran, data, tmp_path, saves, monkeypatch):
    """Whatever it trains, draws or compares, a run goes on to the same record, bit for bit."""
    own, left = running.PartStore.save, iter(range(saves))
    monkeypatch.setattr(
        running.PartStore,
        "save",
        lambda *given: own(*given) if next(left, None) is not None else [][0],
    )
    one, path = chosen(name), str(data) if name == "permuted-digits" else None
    before = torch.random.get_rng_state()
    with pytest.raises(IndexError):
        run_experiment(one, tmp_path, setting=SMALL[name], data=path)
    monkeypatch.setattr(running.PartStore, "save", own)
    with pytest.raises(PartError, match="add --resume to go on"):
        run_experiment(one, tmp_path, setting=SMALL[name], data=path)
    record = run_experiment(one, tmp_path, setting=SMALL[name], data=path, resume=True)
    assert encode_record(without_times(record)) == encode_record(without_times(ran[1]))
    assert not (tmp_path / "parts").exists()
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_problem_fails_the_command(call, small_run, monkeypatch, tmp_path):
    """The command says what broke and ends with 1; so does the page's title."""
    _, record, _ = small_run("similarity")
    one, told = find_experiment("similarity"), record.outcome
    broken = type(told)(told.holds, told.said, ("a bound fell",))
    home = type("Home", (), {"EXPERIMENT": type(one)(**{
        **vars(one), "setting": SMALL["similarity"], "judge": lambda runs, setting: broken,
    })})  # fmt: skip
    monkeypatch.setattr(experiments, "import_module", lambda name: home)
    outcome = call("experiment", "similarity", "--seeds", 1, "--out", tmp_path)
    assert (outcome.code, outcome.err) == (1, "")
    assert "FAILS: a bound fell\n" in outcome.out
    page = (tmp_path / "index.html").read_text()
    assert "FAILS · A change of the states’ basis" in page
    assert json.loads((tmp_path / "similarity.json").read_text())["outcome"]["problems"]


DEEP = "[" * 3000 + "]" * 3000


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (DEEP, "--set similarity has a value that nests too deep; flatten it"),
        ("\udcff", "--set similarity has a value that is not UTF-8; write it so"),
    ],
)
def test_a_setting_that_is_not_read(refused, value, line):
    """JSON without end, and bytes that are no text: said of the setting."""
    assert (
        refused("experiment", "similarity", "--set", f"similarity={value}") == f"rnnbounds: {line}"
    )


@pytest.mark.parametrize("held", [f'{{"x":{DEEP}}}'.encode(), b'{"schema":"\xff"}'])
def test_a_record_that_is_not_read(refused, tmp_path, held):
    """It is no record of an experiment, like any other file."""
    (tmp_path / "similarity.json").write_bytes(held)
    assert "no record of an experiment is there" in refused("experiment", "--table", tmp_path)


@pytest.mark.parametrize("name", HOMES)
def test_texts(name):
    """Every experiment states a conclusion, its source, and a rule before the figures."""
    one = find_experiment(name)
    assert one.name == name
    assert all((one.title, one.question, one.conclusion, one.source, one.rule))
    assert one.setting.seeds >= 3
