"""Recorded inputs on the command line: their box, and what is said of others beside them."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

FRAMES = np.stack([np.sin(np.arange(48)), np.sin(np.arange(48) + 0.2)], 1).astype(np.float32)


@pytest.fixture
def gru(tmp_path, monkeypatch):
    """A GRU whose gates open further in the corners of the box than on the recorded inputs."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(3)
    made = torch.nn.GRU(2, 4)
    with torch.no_grad():
        for name, part in made.named_parameters():
            part.mul_(0.35 if "hh" in name else 1.0)
    save_file(made.state_dict(), "m.safetensors")
    np.save("x.npy", FRAMES.reshape(6, 8, 2))
    return "m.safetensors"


def test_numbers_are_ascii(refused, gru) -> None:
    """As those of all other options are."""
    assert "has no tensor ٣" in refused("certify", gru, "--inputs=٣")
    assert "is no box; write LOW:HIGH" in refused("certify", gru, "--inputs=-1:١")


def test_a_witness_far_from_the_data(call, gru) -> None:
    """A refuted model: how far the witness lies from the data, in text, record and page, whose lead
    says what holds on the data behind the verdict."""
    held = {name: torch.zeros_like(part) for name, part in torch.nn.GRU(1, 1).state_dict().items()}
    held["weight_hh_l0"][2], held["bias_ih_l0"][0] = 4.0, 4.0
    save_file(held, "gru.safetensors")
    np.save("y.npy", np.linspace(0.5, 1, 160).reshape(20, 8, 1))
    told = call("certify", "gru.safetensors", "--data=y.npy", "--inputs=-1:1", "--out", "o")
    assert told.code == 1
    assert "two distinct fixed points, 0.5 from the nearest recorded input" in told.out
    assert "certify k near the recorded inputs: rnnbounds measure gru.safetensors" in told.out
    assert "train with a penalty: loss + c * torch.relu(rnnbounds.contraction(module" in told.out
    assert "ask of inputs" not in told.out  # the witness's is 0
    assert "or ask of inputs without" in call("certify", "gru.safetensors", "--inputs=0.5:1").out
    record = json.loads(Path("o/certificate.json").read_text())
    assert record["witness"]["distance"] == 0.5
    page = Path("o/index.html").read_text()
    verdict = page.index("0.5 from the nearest recorded input")
    assert verdict < page.index("On these 20 windows") < page.index("What to do next")


def test_an_undecided_model_has_five_lines(call, stable_model, tmp_path) -> None:
    """Verdict, inputs, the ladder of k, ε beside the outputs, and one command that keeps every
    option and runs; all else is behind --verbose."""
    held = torch.load(stable_model)
    torch.save({k: v * 2 if "hh" in k else v for k, v in held.items()}, tmp_path / "m.pt")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(30, 4, 1)))
    data = f"--data={tmp_path / 'x.npy'}"
    asked = (str(tmp_path / "m.pt"), "--inputs=4", "--cell=rnn-tanh", "--eps=0.1", data)
    told = call("certify", *asked)
    verdict, inputs, ladder, size, step = told.out.splitlines()
    assert (told.code, verdict.startswith("undecided: no norm")) == (1, True)
    assert inputs.startswith("inputs: every ‖x_t‖₂ ≤ 4")
    rungs = r"(≥ \d+ for some inputs · )?.* · undecided for all inputs"
    assert re.fullmatch(f"k at ε = 0.1: {rungs}", ladder)
    assert size.startswith("ε = 0.1 is ")
    words, _, command_line = step.rpartition(": ")
    assert words == "what to do next: certify k near the recorded inputs"
    command = shlex.split(command_line)
    assert command[:2] == ["rnnbounds", "measure"]
    assert set(asked) < set(command)
    assert "near your data" in call(*command[1:]).out
    assert "norm tried" in call("certify", *asked, "--verbose").out


def test_what_data_fill_is_checked(call, gru) -> None:
    """Certified for the box of data and checked; data outside of it are refused."""
    asked = ("--cell=gru", "--inputs=x.npy")
    assert call("certify", gru, *asked, "--eps=0.1", "--out", "o").code == 0
    assert call("check", "o/certificate.json", "--source", gru, "--cell=gru").code == 0
    np.save("far.npy", 3 * FRAMES[None])
    far = call("measure", gru, "--cell=gru", "--data=far.npy", "--inputs=-1:1")
    assert (far.code, far.err.count("\n")) == (2, 1)
    assert "inputs leave [-1.0, 1.0]" in far.err


def test_the_command_that_measures(call, tmp_path):
    """Of an undecided model the first thing to do next is to measure it, as it was given; it runs
    when data take the place of FILE, and stands in the record and on the page."""
    torch.manual_seed(0)
    held, model = torch.nn.RNN(2, 3).state_dict(), tmp_path / "m.safetensors"
    save_file({f"a b.rnn.{name}": part * 1.5 for name, part in held.items()}, model)
    box = "--inputs=-1:1,0:0.5"
    given = ("--cell=rnn-tanh", "--layer=a b.rnn", box, "--eps=0.1", "--norm=infinity")
    told = call("certify", model, *given, "--out", tmp_path / "o")
    assert (told.code, told.err) == (1, "")
    (line,) = (line for line in told.out.splitlines() if "rnnbounds measure" in line)
    words = shlex.split(line)[line.split().index("rnnbounds") :]
    assert words[2:] == [str(model), "--data=FILE", box, "--cell=rnn-tanh", "--layer=a b.rnn",
                         "--eps=0.1"]  # fmt: skip
    np.save(tmp_path / "x.npy", np.linspace(0, 0.5, 320).reshape(20, 8, 2))
    assert call(*[word.replace("FILE", str(tmp_path / "x.npy")) for word in words[1:]]).code == 0
    for name in ("certificate.json", "index.html"):
        assert "rnnbounds measure" in (tmp_path / "o" / name).read_text()
