"""`rnnbounds guard`: models keep what pyproject.toml asks of them, in every format."""

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.cli import main

ASKED = """
[tool.rnnbounds.models.forecaster]
model = "model.safetensors"
layer = "rnn"
inputs = "-1:1"
eps = 0.1
baseline = "main.json"

[tool.rnnbounds.models.seen]
model = "model.safetensors"
layer = "rnn"
data = "data.npy"
eps = 0.5
share = 0.5
confidence = 0.9
"""


def model(scale, path="model.safetensors"):
    """An LSTM in a bigger model, whose weights are that large."""
    torch.manual_seed(0)
    rnn = torch.nn.LSTM(1, 4)
    with torch.no_grad():
        for part in rnn.parameters():
            part.mul_(scale)
    save_file({f"rnn.{key}": part for key, part in rnn.state_dict().items()}, path)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with two questions about one model, and its baseline."""
    monkeypatch.chdir(tmp_path)
    model(0.3)
    np.save("data.npy", np.random.default_rng(0).uniform(-1, 1, (40, 12, 1)))
    (tmp_path / "pyproject.toml").write_text(ASKED)
    assert main(["guard", "forecaster", "--update"]) == 0
    return tmp_path


def test_it_passes_and_writes_all(project, capsys):
    """A line a model, and each format."""
    capsys.readouterr()
    files = ["--junit", "j.xml", "--sarif", "s.sarif", "--summary", "s.md", "--history", "h.jsonl"]
    for _ in range(2):
        assert main(["guard", "--out", "pages", *files]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("passes: forecaster: ")
    assert "certified with λ ≤ 0." in lines[0]
    assert lines[1].startswith("passes: seen: ")
    assert (project / "pages" / "forecaster" / "index.html").exists()
    assert (project / "pages" / "seen" / "measurement.json").exists()
    suite = ElementTree.fromstring((project / "j.xml").read_bytes())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")
    assert json.loads((project / "s.sarif").read_bytes())["runs"][0]["results"] == []
    assert "all pass" in (project / "s.md").read_text()
    assert len((project / "h.jsonl").read_text().splitlines()) == 2
    assert "The last of 2 runs" in (project / "h.html").read_text()
    assert "all pass" in (project / "pages" / "index.html").read_text()


def test_what_a_page_says_to_add_passes(tmp_path, monkeypatch, capsys):
    """The lines of a measurement's page, pasted: of that layer and of its readout."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    parts = {"a": torch.nn.LSTM(1, 4), "b": torch.nn.GRU(1, 4), "head": torch.nn.Linear(4, 1)}
    torch.save(torch.nn.ModuleDict(parts).state_dict(), "my net.pt")
    np.save("data.npy", np.random.default_rng(0).uniform(-1, 1, (200, 12, 1)))
    asked = ["--data", "data.npy", "--layer", "b", "--readout", "head", "--eps", "0.2"]
    assert main(["measure", "my net.pt", *asked, "--out", "page"]) == 0
    page = unescape(Path("page/index.html").read_text())
    (lines,) = re.findall(r"(\[tool\.rnnbounds\.models\.my-net\].*?)</", page, re.DOTALL)
    Path("pyproject.toml").write_text(lines)
    capsys.readouterr()
    assert main(["guard"]) == 0
    assert capsys.readouterr().out.startswith("passes: my-net: ")


def test_a_regression_is_red_and_a_better_model_green(project, capsys):
    """Against the baseline: larger weights fail, smaller ones pass, and say so."""
    model(0.4)
    capsys.readouterr()
    assert main(["guard", "forecaster", "--sarif", "s.sarif", "--junit", "j.xml"]) == 1
    told = capsys.readouterr().out
    assert told.startswith("FAILS: forecaster: ")
    assert "since main.json: " in told
    results = json.loads((project / "s.sarif").read_bytes())["runs"][0]["results"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "pyproject.toml"
    assert ASKED.splitlines()[place["region"]["startLine"] - 1].startswith("[tool.rnnbounds.models")
    failure = ElementTree.fromstring((project / "j.xml").read_bytes()).find(".//failure")
    assert "since main.json" in failure.get("message")
    assert main(["guard", "--out", "pages"]) == 1
    page = (project / "pages" / "forecaster" / "index.html").read_text()
    for words in ("masthead fails", "Changes since the baseline", "regressed", "--update"):
        assert words in page
    assert 'class="verdict bad"' in page
    assert page.count("k for ε = 0.1") == 2  # why it fails, at the head, and among the changes
    assert "1 of 2 models fails" in (project / "pages" / "index.html").read_text()
    assert "--update" in failure.text
    assert "--update" in results[0]["message"]["text"]
    capsys.readouterr()
    assert main(["guard", "forecaster", "--update"]) == 0
    assert "  accepted: lstm: k for ε = 0.1: 1 → " in capsys.readouterr().out
    model(0.2)
    assert main(["guard", "forecaster"]) == 0
    assert "improved: " in capsys.readouterr().out


def test_what_is_asked_fails_by_itself(project, capsys):
    """A longer memory than at-most, no certificate, a share that is not stated."""
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text.replace('baseline = "main.json"', "at-most = 0"))
    assert main(["guard", "forecaster"]) == 1
    assert "more than 0" in capsys.readouterr().out
    model(8.0)
    assert main(["guard", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["outcomes"][0]["problems"][0].startswith(("undecided: ", "refuted: "))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it asks about no model; write \\[tool.rnnbounds.models.NAME\\]"),
        ("[tool", "correct the file"),
        ("tool.rnnbounds.models = 3\n", "it asks about no model"),
        (
            "[tool.rnnbounds.model.a]\nmodel='m'\n",
            "tool.rnnbounds.model\\] .*; name it \\[tool.rnn",
        ),
    ],
)
def test_bad_settings_are_one_line(tmp_path, monkeypatch, capsys, text, said):
    """Exit code 2, the remedy, and nothing written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    assert main(["guard", "--junit", "j.xml"]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert re.search(said, error), error
    assert [path.name for path in tmp_path.iterdir()] == ["pyproject.toml"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("model = 'm'\n", "models.seen: it needs the key eps; it may set model, eps, layer"),
        ("model='m'\neps=0.1\n", "one of inputs, input-bound and data"),
        ("model='m'\neps=0\ninputs='0:1'\n", "models.seen: eps: .*0.0"),
        ("modle='m'\neps=1\ninputs='0:1'\n", "it has no key modle; did you mean model?"),
        ("model='m'\neps=1\ndata='x'\nshar=0.9\n", "it has no key shar; did you mean share?"),
        ("model='m'\neps=1\ndata='x'\nat_most=3\n", "it has no key at_most; did you mean at-most?"),
        (
            "model='m'\neps=1\ndata='x'\nshare=2\n",
            "models.seen: share: .*1.0; it may set .*confidence",
        ),
    ],
)
def test_a_bad_table_hides_no_other_model(project, capsys, table, said):
    """Its line says why, in plain words; the other model is judged, and reports are written."""
    good, _, _ = ASKED.partition("[tool.rnnbounds.models.seen]")
    (project / "pyproject.toml").write_text(f"{good}[tool.rnnbounds.models.seen]\n{table}")
    capsys.readouterr()
    assert main(["guard", "--junit", "j.xml"]) == 2
    first, second, why = capsys.readouterr().out.splitlines()
    assert first.startswith("passes: forecaster: ")
    assert second == "UNREAD: seen: it is not judged"
    assert re.search(said, why), why
    assert "`" not in why
    assert main(["guard", "forecaster"]) == 0
    assert (project / "j.xml").exists()


def test_a_measured_model_says_what_is_stated(project, capsys):
    """Its k is the one that at-most is about; a share and a k that fail are both said."""
    settings = project / "pyproject.toml"
    text = settings.read_text()
    settings.write_text(text.replace("share = 0.5", "share = 0.5\nat-most = 12"))
    capsys.readouterr()
    assert main(["guard", "seen", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["outcomes"]
    assert one["line"].endswith(f"is within ε = 0.5 from k = {one['k']} on")
    stricter = "eps = 1e-3\nshare = 0.5\nconfidence = 0.9\nat-most = 0"
    settings.write_text(text.replace("eps = 0.5\nshare = 0.5\nconfidence = 0.9", stricter))
    assert main(["guard", "seen"]) == 1
    said = capsys.readouterr().out
    assert "more than 0" in said


def test_names_and_baselines_that_are_missing(project, capsys):
    """A name that is not there, and a baseline that was not written."""
    assert main(["guard", "forcaster"]) == 2
    assert "name one of forecaster, seen" in capsys.readouterr().err
    (project / "main.json").unlink()
    assert main(["guard", "forecaster"]) == 2
    assert "main.json does not exist; write it with 'rnnbounds guard --update'" in (
        capsys.readouterr().out
    )


def test_at_most_is_the_largest_k_that_passes(project, capsys):
    """With it a longer memory than the baseline's is information; with a factor λ is asked too."""
    text = (project / "pyproject.toml").read_text()
    model(0.4)
    at_most = text.replace("baseline =", "at-most = 30\nbaseline =")
    (project / "pyproject.toml").write_text(at_most)
    capsys.readouterr()
    assert main(["guard", "forecaster"]) == 0
    assert "changed: lstm: λ: 0." in capsys.readouterr().out
    (project / "pyproject.toml").write_text(at_most.replace("at-most", "factor = 0.01\nat-most"))
    assert main(["guard", "forecaster"]) == 1
    told = capsys.readouterr().out
    assert "since main.json: lstm: λ: 0." in told
    accept = "if this is intended, write main.json anew and commit it: rnnbounds guard forecaster"
    assert f"{accept} --update" in told
    wide = text.replace("baseline =", "window = 30\nbaseline =")
    (project / "pyproject.toml").write_text(wide)
    assert main(["guard", "forecaster"]) == 0


def test_update_accepts_what_changed(project, capsys):
    """The baseline is written, and said to be; of a model that is not certified it stays."""
    before = (project / "main.json").read_bytes()
    model(0.4)
    capsys.readouterr()
    assert main(["guard", "forecaster", "--update"]) == 0
    assert "  wrote main.json\n" in capsys.readouterr().out
    kept = (project / "main.json").read_bytes()
    assert kept != before
    model(8.0)
    assert main(["guard", "forecaster", "--update"]) == 1
    assert "main.json was not written: undecided: " in capsys.readouterr().out
    assert (project / "main.json").read_bytes() == kept


def test_another_question_names_the_way_to_accept_it(project, capsys):
    """Other inputs than the baseline's: exit 2, or a new baseline."""
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text.replace('"-1:1"', '"-0.5:1"'))
    capsys.readouterr()
    assert main(["guard", "forecaster"]) == 2
    line = capsys.readouterr().out
    assert "different inputs" in line
    assert "or accept this one with 'rnnbounds guard --update'" in line
    assert main(["guard", "forecaster", "--update"]) == 0


def test_the_gate_reads_its_own_settings_beside(project, capsys):
    """`compare` leaves questions about models alone."""
    assert main(["compare", "main.json", "main.json"]) == 0


@pytest.mark.slow
def test_the_fixture(project):
    """A test of the project's own, without a frame of ours."""
    (project / "test_it.py").write_text("def test_it(guarded):\n    guarded('forecaster')\n")
    run = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".")
    model(8.0)
    told = subprocess.run((*run, "test_it.py"), capture_output=True, text=True)
    assert told.returncode == 1
    assert "AssertionError: " in told.stdout
    assert "guarding.py" not in told.stdout
    none = subprocess.run((*run, "-m", "not guarded", "test_it.py"), capture_output=True)
    assert none.returncode == 5


def test_assert_measured(project):
    """The statement, or what is missing of it."""
    weights = "model.safetensors"
    asked = {"eps": 0.5, "share": 0.5, "confidence": 0.9, "layer": "rnn"}
    found = rnnbounds.assert_measured(weights, "data.npy", **asked)
    k = found.statement.lines[0].k
    rnnbounds.assert_measured(weights, "data.npy", at_most=k, **asked)
    with pytest.raises(AssertionError, match=rf"needs the last {k} inputs, more than {k - 1}"):
        rnnbounds.assert_measured(weights, "data.npy", at_most=k - 1, **asked)


def test_one_model_that_cannot_be_read_hides_no_other(project, capsys):
    """Exit 2; the others are judged, and every format has the error."""
    text = (project / "pyproject.toml").read_text()
    torn = text + '\n[tool.rnnbounds.models.torn]\nmodel = "torn.pt"\ninputs = "0:1"\neps = 1.0\n'
    (project / "pyproject.toml").write_text(torn)
    (project / "torn.pt").write_bytes(b"PK\x03\x04")
    model(0.4)
    capsys.readouterr()
    assert main(["guard", "--junit", "j.xml", "--sarif", "s.sarif", "--summary", "s.md"]) == 2
    told = capsys.readouterr().out
    assert "FAILS: forecaster: " in told
    assert "UNREAD: torn: torn.pt is not judged\n" in told
    suite = ElementTree.fromstring((project / "j.xml").read_bytes())
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    assert "torn.pt" in suite.find(".//error").get("message")
    assert "torn" in (project / "s.md").read_text()
    assert len(json.loads((project / "s.sarif").read_bytes())["runs"][0]["results"]) == 2


def test_update_keeps_the_baseline_of_a_model_that_fails(project, capsys):
    """What at-most refuses is no baseline; the page has the reason at its top."""
    before = (project / "main.json").read_bytes()
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text.replace("baseline =", "at-most = 0\nbaseline ="))
    capsys.readouterr()
    assert main(["guard", "forecaster", "--update", "--out", "pages"]) == 1
    assert "main.json was not written: ε = 0.1 needs the last " in capsys.readouterr().out
    assert (project / "main.json").read_bytes() == before
    page = (project / "pages" / "forecaster" / "index.html").read_text()
    assert 'class="problems"' in page
    assert "more than 0" in page


def test_what_is_asked_of_data_says_its_remedy(project, capsys):
    """More windows for a share, a larger at-most for a k; its page fails."""
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text.replace("eps = 0.5", "eps = 1e-3\nat-most = 0"))
    capsys.readouterr()
    assert main(["guard", "seen", "--out", "pages"]) == 1
    assert "if this is intended, set at-most = " in capsys.readouterr().out
    assert "masthead fails" in (project / "pages" / "seen" / "index.html").read_text()


def test_a_history_that_is_none_is_refused_before_the_work(project, capsys):
    """Exit 2, and the file stays as it was."""
    (project / "h.jsonl").write_text("{}\n")
    capsys.readouterr()
    assert main(["guard", "--history", "h.jsonl"]) == 2
    assert "h.jsonl: line 1: " in capsys.readouterr().err
    assert (project / "h.jsonl").read_text() == "{}\n"
    assert not (project / "h.html").exists()
