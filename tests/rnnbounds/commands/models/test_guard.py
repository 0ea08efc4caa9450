"""`rnnbounds guard`: models keep what pyproject.toml asks of them, in every format."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

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


def test_what_a_page_says_to_add_passes(tmp_path, monkeypatch, capsys):
    """The lines of a measurement's page, pasted: of that layer and its readout."""
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


@pytest.mark.slow
def test_the_fixture(project, plugin, capsys):
    """A test of the project's own, without a frame of ours."""
    tests = "def test_it(guarded):\n    guarded('forecaster')\n\ndef test_other():\n    assert 0\n"
    (project / "test_it.py").write_text(tests)
    model(8.0)
    fixed = ("-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(project), *plugin)
    assert pytest.main([*fixed, "-m", "guarded", "test_it.py"]) == 1
    told = capsys.readouterr().out
    assert "1 failed, 1 deselected" in told
    assert "AssertionError: " in told
    assert "guarding.py" not in told


def test_no_baseline_is_written_over_another_file(project, capsys):
    """Neither over the model nor over another model's baseline."""
    settings = project / "pyproject.toml"
    before = (project / "model.safetensors").read_bytes()
    settings.write_text(ASKED.replace("main.json", "model.safetensors"))
    assert main(["guard", "forecaster", "--update"]) == 2
    assert "baseline is no name of a certificate" in capsys.readouterr().out
    assert (project / "model.safetensors").read_bytes() == before
    settings.write_text(ASKED + ASKED.replace("forecaster", "other").replace("seen", "known"))
    assert main(["guard", "--update"]) == 2
    assert "main.json is the baseline of two models; name another" in capsys.readouterr().err
