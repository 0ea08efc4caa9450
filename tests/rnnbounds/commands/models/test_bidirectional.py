"""Models in both directions on the command line."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file


@pytest.fixture
def model(tmp_path):
    """A bidirectional GRU, and one of two layers, as files."""
    for name, layers in (("one", 1), ("two", 2)):
        torch.manual_seed(0)
        module = torch.nn.GRU(2, 3, layers, bidirectional=True)
        tensors = {key: part.detach() * 0.4 for key, part in module.state_dict().items()}
        save_file(tensors, tmp_path / f"{name}.safetensors")
    x = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 9, 2))
    np.save(tmp_path / "x.npy", x)
    return tmp_path


def test_certified(call, model):
    """The answer, both windows, the gain and what to do next; then the file, proved again."""
    path, out = str(model / "one.safetensors"), str(model / "out")
    said = call("certify", path, "--input-bound=1", "--eps=0.3", "--out", out)
    assert said.code == 0
    assert (
        "forgets in both directions: output t is fixed to within ε = 0.3 by input t, " in said.out
    )
    assert "k₁ before t" in said.out
    assert "rnnbounds truncate" in said.out
    checked = call("check", f"{out}/certificate.json", "--source", path)
    assert checked.code == 0
    assert "the certificate holds" in checked.out
    short = str(model / "short.safetensors")
    said = call("truncate", path, "--input-bound=1", "--eps=0.3", "--out", short)
    assert said.code == 0
    assert "output t from input t, the " in said.out
    checked = call("check", short, "--source", path, "--format", "json")
    assert checked.code == 0
    assert json.loads(checked.out)["holds"] is True
    assert call("check", short, "--source", str(model / "two.safetensors")).code == 1


def test_one_direction(call, model):
    """--direction reads a cell, of which all else is said as of any."""
    path = str(model / "one.safetensors")
    for command in ("certify", "measure"):
        asked = ["--input-bound=1", "--eps=0.3", "--direction=reverse"]
        more = ["--data", str(model / "x.npy")] if command == "measure" else []
        said = call(command, path, *asked, *more)
        assert said.code == 0
        assert "gru" in said.out
    said = call("certify", str(model / "two.safetensors"), "--input-bound=1", "--direction=forward")
    assert said.code == 2
    assert "2 layers, of which the second reads both directions" in said.err


def test_measured(call, model):
    """The forgetting curve, the statement, and the share that is asked for."""
    path, data = str(model / "two.safetensors"), str(model / "x.npy")
    said = call("measure", path, "--data", data, "--eps=0.3")
    assert said.code == 0
    assert "seen within ε = 0.3: from k = " in said.out
    assert "stated with confidence 0.99 (all lines together): at least this share" in said.out
    assert "is within ε at k, counted either side, in real arithmetic" in said.out
    assert "this presupposes that the windows are independent draws" in said.out
    said = call("measure", path, "--data", data, "--eps=0.3", "--format=json")
    assert json.loads(said.out)["cell"] == "bidirectional gru, 2 layers"
    said = call("certify", path, "--input-bound=1", "--eps=0.3", "--data", data)
    assert "on your data: 60 windows of 9 inputs" in said.out
    assert "see what it remembers" not in said.out
    assert (
        call("certify", path, "--list")
        .out.splitlines()[1]
        .startswith(".      bidirectional gru, 2")
    )


@pytest.mark.parametrize(
    ("command", "options", "told"),
    [
        ("truncate", ["--latest"], "--latest is for models in one direction; leave it out"),
        ("truncate", ["--page=p"], "--page is for models in one direction; leave it out"),
        ("measure", ["--near=0.1"], "--near is for models in one direction; leave it out"),
    ],
)
def test_refused(call, model, command, options, told):
    """Options of models in one direction: one line, and exit code 2."""
    path, needed = str(model / "one.safetensors"), {"certify": ["--input-bound=1"]}
    needed |= {
        "truncate": ["--input-bound=1", "--eps=0.3", "--out", str(model / "s.safetensors")],
        "measure": ["--data", str(model / "x.npy")],
    }
    said = call(command, path, *needed[command], *options)
    assert said.code == 2
    assert told in said.err


def test_undecided(call, model):
    """A model that does not contract is refuted by its first cell, with exit code 1."""
    torch.manual_seed(0)
    module = torch.nn.RNN(2, 3, bidirectional=True)
    save_file({k: v * 5 for k, v in module.state_dict().items()}, model / "big.safetensors")
    path = str(model / "big.safetensors")
    for command, more in (
        ("certify", []),
        ("truncate", ["--eps=0.1", "--out", str(model / "s.safetensors")]),
    ):
        said = call(command, path, "--input-bound=1", "--cell=rnn-tanh", *more)
        assert said.code == 1
        assert "layer 1, forward" in said.out
