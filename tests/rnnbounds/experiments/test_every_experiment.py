"""What holds of every experiment: its files, its page, its command; small, twice the same."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest
import torch
from safetensors import safe_open
from small_runs import SMALL, stop_after, without_environment

from reports.pages.experiment import render_experiment
from rnnbounds import experiments
from rnnbounds.experiments.engine.common import publish
from rnnbounds.experiments.engine.parts import PartError

EACH = pytest.mark.parametrize("name", SMALL)


@pytest.fixture
def ran(name, small_run):
    """A small run: its folder, its record, and how often it advanced."""
    if name == "sunspots":
        pytest.importorskip("statsmodels")
    return small_run(name)


@pytest.fixture
def told(name, ran, monkeypatch):
    """Lets the command find the record of the small run: told(problems)."""
    _, record, _ = ran

    def answer(*found):
        known, new = experiments.EXPERIMENTS[name], replace(record, problems=found)

        def run(out, *, seed, advance, **options):
            assert options == known.options
            publish(out, name, replace(new, seed=seed), known.page(new))
            return replace(new, seed=seed)

        monkeypatch.setattr(experiments, "EXPERIMENTS", {name: replace(known, run=run)})

    return answer


@EACH
def test_files_and_progress(name, ran):
    """A record and a page, nothing else but weights; the work is that of the command's count."""
    folder, record, labels = ran
    files = {f"{name}.json", "index.html"} | SMALL[name].files
    assert {path.name for path in folder.iterdir()} == files
    assert len(labels) == SMALL[name].work
    assert record.problems == ()
    told = json.loads((folder / f"{name}.json").read_text())
    assert told["schema"] == f"rnnbounds/{name}/1"


@EACH
def test_same_seed_same_record(name, ran, data, tmp_path, monkeypatch):
    """A seed gives the same record and weights twice, and leaves torch's generator as it was; a
    problem that is found is recorded, and the page says so."""
    small, before = SMALL[name], torch.random.get_rng_state()
    more = {"data": str(data)} if name == "permuted-digits" else {}
    monkeypatch.setattr(small.module, "problems", lambda record: ("a bound fell",))
    assert small.module.run(tmp_path, **small.options, **more).problems == ("a bound fell",)
    assert torch.equal(before, torch.random.get_rng_state())
    first, second = (without_environment(folder, name) for folder in (ran[0], tmp_path))
    assert (first.pop("problems"), second.pop("problems")) == ([], ["a bound fell"])
    assert first == second
    assert "FAILS · " in (tmp_path / "index.html").read_text()
    for file in SMALL[name].files:
        with safe_open(tmp_path / file, "np") as mine, safe_open(ran[0] / file, "np") as other:
            assert mine.metadata() == other.metadata()
            names = list(mine.keys())
            assert names == list(other.keys())
            assert all((mine.get_tensor(n) == other.get_tensor(n)).all() for n in names)


@pytest.mark.parametrize("name", ["urnn", "permuted-digits"])
@pytest.mark.parametrize("calls", [3, 7])
def test_interrupted_run_goes_on(name, ran, data, tmp_path, calls):
    """What was stored is not done again, is no other run's, and leaves the record bit for bit."""
    small = SMALL[name]
    options = small.options | ({"data": str(data)} if name == "permuted-digits" else {})
    with pytest.raises(KeyboardInterrupt):
        small.module.run(tmp_path, advance=stop_after(calls), **options)
    before = {path: path.read_bytes() for path in (tmp_path / "parts").iterdir()}
    for other in ({"seed": 1}, {"setting": replace(options["setting"], rate=0.02)}):
        with pytest.raises(PartError, match=r"other settings; remove .*parts to start afresh, or"):
            small.module.run(tmp_path, **(options | other))
    assert {path: path.read_bytes() for path in (tmp_path / "parts").iterdir()} == before
    labels = []
    small.module.run(tmp_path, advance=labels.append, **options)
    assert labels == ran[2]
    assert without_environment(ran[0], name) == without_environment(tmp_path, name)
    assert not (tmp_path / "parts").exists()


@EACH
def test_page_stands_alone(name, ran):
    """The page loads nothing, runs one script, as every page, and is made from the record alone."""
    folder, record, _ = ran
    page = (folder / "index.html").read_text()
    assert page.encode() == render_experiment(experiments.EXPERIMENTS[name].page(record))
    for absent in ("http:", "https:", "<script ", "<link", "src=", "FAILS"):
        assert absent not in page
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert b64encode(sha256(script.encode()).digest()).decode() in page
    assert page.count("url(") == page.count("url(#")
    assert page.count("<svg") == SMALL[name].figures
    assert all(words in page for words in SMALL[name].words)


@EACH
def test_command(name, call, told, tmp_path):
    """The command prints its table, ends with 0, needs no terminal, and says what it wrote; a run
    with problems says so and ends with 1."""
    head, out = SMALL[name].head, tmp_path / "out"
    for problems in ((), ("a bound fell",)):
        told(*problems)
        outcome = call("experiment", name, "--out", out)
        assert (outcome.code, outcome.err) == (len(problems), "")
        assert tuple(outcome.out.split()[: len(head)]) == head
        assert ("FAILS: a bound fell\n" in outcome.out) == bool(problems)
        wrote = f"wrote {out / 'index.html'} and {out / f'{name}.json'}\n"
        assert outcome.out.endswith(wrote)
        outcome = call("experiment", name, "--out", out, "--seed", 3, "--format", "json")
        assert outcome.code == len(problems)
        assert outcome.json == json.loads((out / f"{name}.json").read_text())
        assert (outcome.json["seed"], outcome.json["problems"]) == (3, list(problems))


@EACH
def test_bad_calls(name, refused, tmp_path):
    """Options of other experiments, sizes of none, a file in place of the folder: exit 2."""
    (tmp_path / "file").write_text("mine")
    call, foreign = ("experiment", name, "--out", tmp_path), SMALL[name].foreign
    line = refused(*call, f"--{foreign}", 3)
    assert line.endswith(f"the experiment {name} has no {foreign}; leave --{foreign} out")
    for option in set(experiments.EXPERIMENTS[name].options) & {"epochs", "instances"}:
        assert option in refused(*call, f"--{option}", 0)
    assert "seed" in refused(*call, "--seed", -1)
    assert "choose another place" in refused(*call[:3], tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_other_bad_calls(refused, tmp_path):
    """Flags and devices that are not there, and an experiment that nobody knows."""
    call = ("experiment", "urnn", "--out", tmp_path / "out")
    assert "realisations" in refused(*call, "--realisations", 0)
    assert "unknown device 'tpu'" in refused(*call, "--device", "tpu")
    assert "urnn has no data; leave --data out" in refused(*call, "--data", "digits")
    line = refused("experiment", "sunspots", "--out", tmp_path / "out", "--full")
    assert "sunspots has no full; leave --full out" in line
    line = refused("experiment", "moonspots", "--out", tmp_path / "out")
    assert "unknown experiment 'moonspots'; choose among sunspots, " in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["norms"])
def test_default_folder(name, call, told, tmp_path, monkeypatch):
    """Without --out the page goes to report/NAME."""
    monkeypatch.chdir(tmp_path)
    told()
    assert call("experiment", name).code == 0
    assert (tmp_path / "report" / name / "index.html").is_file()
