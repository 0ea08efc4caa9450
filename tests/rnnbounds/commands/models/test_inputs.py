"""Inputs beyond a ball from the command line: a box, an embedding's rows, recorded ones."""

import json
import shlex

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

BOX = "--inputs=-1:1,0:0.5"


@pytest.fixture
def model(tmp_path):
    """An embedding and a small network that reads it."""
    torch.manual_seed(0)
    held = {f"rnn.{name}": part * 0.5 for name, part in torch.nn.RNN(2, 3).state_dict().items()}
    save_file(held | {"embed.weight": torch.randn(6, 2) * 0.3}, tmp_path / "m.safetensors")
    return tmp_path / "m.safetensors"


def test_a_refuted_gru_with_a_set(call, tmp_path):
    """Of a GRU with two orbits under inputs of a box, all records are written, as text and JSON."""
    held = {name: torch.zeros_like(part) for name, part in torch.nn.GRU(1, 1).state_dict().items()}
    held["weight_hh_l0"][2], held["bias_ih_l0"][0] = 4.0, 4.0
    path, data = tmp_path / "gru.safetensors", tmp_path / "x.npy"
    save_file(held, path)
    np.save(data, np.linspace(-1, 1, 160).reshape(20, 8, 1))
    box = "--inputs=-1:1"
    assert call("certify", path, box, "--format", "json").json["witness"]["input_bound"] == 1.0
    for out, command in (("a", ("certify",)), ("b", ("measure", "--data", data))):
        told = call(command[0], path, *command[1:], box, "--out", tmp_path / out)
        assert (told.code, told.err) == (int(out == "a"), "")
        record = json.loads((tmp_path / out / "certificate.json").read_text())
        assert (record["verdict"], record["inputs"]["what"]) == ("refuted", "[-1.0, 1.0]")


def test_the_command_that_measures(call, model, tmp_path):
    """Of an undecided model the first thing to do next is to measure it, as it was given; it runs
    when data take the place of FILE, and stands in the record and on the page."""
    held = load_file(model)
    save_file({f"a b.{name}": part * 3.0 for name, part in held.items()}, model)
    given = ("--cell=rnn-tanh", "--layer=a b.rnn", BOX, "--eps=0.1", "--norm=infinity")
    told = call("certify", model, *given, "--out", tmp_path / "o")
    assert (told.code, told.err) == (1, "")
    (line,) = (line for line in told.out.splitlines() if "rnnbounds measure" in line)
    words = shlex.split(line)[line.split().index("rnnbounds") :]
    assert words[2:] == [str(model), "--data=FILE", BOX, "--cell=rnn-tanh", "--layer=a b.rnn"]
    np.save(tmp_path / "x.npy", np.linspace(0, 0.5, 320).reshape(20, 8, 2))
    assert call(*[word.replace("FILE", str(tmp_path / "x.npy")) for word in words[1:]]).code == 0
    for name in ("certificate.json", "index.html"):
        assert "rnnbounds measure" in (tmp_path / "o" / name).read_text()
