"""Inputs beyond a ball from the command line: a box, an embedding's rows, recorded ones."""

import json
import shlex

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file


@pytest.fixture
def model(tmp_path):
    """An embedding and a small network that reads it."""
    torch.manual_seed(0)
    held = {f"rnn.{name}": part * 0.5 for name, part in torch.nn.RNN(2, 3).state_dict().items()}
    save_file(held | {"embed.weight": torch.randn(6, 2) * 0.3}, tmp_path / "m.safetensors")
    return tmp_path / "m.safetensors"


BOX = ("--inputs=-1:1,0:0.5",), "x_t in [-1.0, 1.0] × [0.0, 0.5], ‖x_t‖₂ ≤ "
ROWS = ("--inputs", "embed.weight"), "x_t in the rows of embed.weight, ‖x_t‖₂ ≤ "
ALIKE = ("--inputs", "0:1"), "x_t in [0.0, 1.0], each of 2 channels, ‖x_t‖₂ ≤ "
NEAR = (
    ("--input-bound", "from-data", "--data", "x.npy", "--margin", "0.25"),
    "x_t in the box around x.npy and all within 0.25 of it, ‖x_t‖₂ ≤ ",
)


@pytest.mark.parametrize(("told", "words"), [BOX, ROWS, ALIKE, NEAR])
def test_sets(call, model, tmp_path, monkeypatch, told, words):
    """What is certified says which inputs it speaks of."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.linspace(0, 1, 24).reshape(3, 4, 2))
    outcome = call("certify", model, "--cell", "rnn-tanh", *told, "--eps", "0.1")
    assert (outcome.code, outcome.err) == (0, "")
    assert words in outcome.out


def test_a_truncated_model_states_its_inputs(call, model, tmp_path):
    """The box around the rows, which is checked with the rest."""
    short = tmp_path / "short.safetensors"
    asked = ("--cell", "rnn-tanh", *ROWS[0], "--eps", "0.1", "--out", short)
    record = call("truncate", model, *asked, "--format", "json").json
    assert record["information"]["inputs"] == "the box around the rows of embed.weight"
    checked = call("check", short)
    assert checked.code == 0
    ends = zip(record["inputs"]["low"], record["inputs"]["high"], strict=True)
    sides = " × ".join(f"[{a!r}, {b!r}]" for a, b in ends)
    assert f"for every x_t in {sides}, ‖x_t‖₂ ≤ " in checked.out
    told = 'information, not checked: inputs: "the box around the rows of embed.weight"'
    assert told in checked.out


def test_many_channels(call, tmp_path):
    """The first few of a box are shown as they were proved, and all are counted."""
    held = {name: part * 0.25 for name, part in torch.nn.RNN(6, 2).state_dict().items()}
    save_file(held, tmp_path / "m.safetensors")
    asked = ("--cell", "rnn-tanh", "--inputs=-1:0.1", "--eps", "0.1", "--out", tmp_path / "s")
    assert call("truncate", tmp_path / "m.safetensors", *asked).code == 0
    sides = " × ".join(["[-1.0, 0.1]"] * 4)
    assert (
        f"for every x_t in {sides} × …, 6 channels, ‖x_t‖₂ ≤ " in call("check", tmp_path / "s").out
    )


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
    when data take the place of FILE, and records leave its folder out."""
    held = load_file(model)
    save_file({f"a b.{name}": part * 3.0 for name, part in held.items()}, model)
    given = ("--cell=rnn-tanh", "--layer=a b.rnn", BOX[0][0], "--eps=0.1", "--norm=infinity")
    told = call("certify", model, *given, "--out", tmp_path / "o")
    assert (told.code, told.err) == (1, "")
    (line,) = (line for line in told.out.splitlines() if "rnnbounds measure" in line)
    words = shlex.split(line)[line.split().index("rnnbounds") :]
    assert words[2:] == [str(model), "--data=FILE", *BOX[0], "--cell=rnn-tanh", "--layer=a b.rnn"]
    np.save(tmp_path / "x.npy", np.linspace(0, 0.5, 320).reshape(20, 8, 2))
    assert call(*[word.replace("FILE", str(tmp_path / "x.npy")) for word in words[1:]]).code == 0
    for name in ("certificate.json", "index.html"):
        text = (tmp_path / "o" / name).read_text()
        assert "rnnbounds measure" in text
        assert str(tmp_path) not in text


def test_what_a_check_does_not_prove(call, refused, model, tmp_path):
    """Rows of a table, and what is not certified: the line says so, and what to do instead."""
    asked = ("certify", model, "--cell", "rnn-tanh", "--out", tmp_path / "o")
    check = ("check", tmp_path / "o" / "certificate.json", "--source", model, "--cell", "rnn-tanh")
    assert call(*asked, *ROWS[0]).code == 0
    assert "the rows of a table, which are not in it; certify their box" in refused(*check)
    held = load_file(model)
    save_file({name: part * 9 for name, part in held.items()}, model)
    verdict = call(*asked, *BOX[0], "--format", "json").json["verdict"]
    assert f"is of a model that is {verdict}: there is no window" in refused(*check)


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ((), "give --input-bound or --inputs"),
        (("--input-bound", "1", "--inputs", "0:1"), "give --input-bound or --inputs"),
        (("--input-bound", "from-data"), "--input-bound from-data takes B from --data"),
        (("--input-bound", "1", "--margin", "1"), "--margin is for --input-bound from-data"),
        (("--inputs", "0:one"), "--inputs is no box"),
        (("--inputs", "1:0"), "a box's lower end"),
        (("--inputs", "0:1,0:1,0:1"), "the set of inputs has 3 channels"),
        (("--inputs", "rnn.weight_ih"), "has no tensor rnn.weight_ih; name one of embed.weight"),
        (("--inputs", "rnn.bias_ih_l0"), "is no table of numbers"),
        (("--inputs", "rnn.weight_hh_l0"), "the set of inputs has 3 channels"),
    ],
)
def test_what_is_no_set(refused, model, told, fault):
    """One line, with the remedy."""
    assert fault in refused("certify", model, "--cell", "rnn-tanh", *told)


def test_the_adversary_keeps_to_the_set(call, model, tmp_path):
    """Inputs that are found are of the set, the bracket is that of the set, and a check finds its
    table beside the model or says that it did not."""
    found = tmp_path / "found.json"
    told = ("--inputs", "embed.weight", "--eps", "0.001", "--witness", found)
    outcome = call("certify", model, "--cell", "rnn-tanh", *told)
    assert outcome.code == 0
    assert "memory at ε = 0.001: between " in outcome.out
    source = ("--source", model, "--cell", "rnn-tanh")
    assert call("check", found, *source).code == 0
    bare = tmp_path / "bare.safetensors"
    save_file({name: part for name, part in load_file(model).items() if "rnn" in name}, bare)
    told = call("check", found, "--source", bare, *source[2:])
    assert told.code == 1
    assert "the box around the table alone" in told.out
