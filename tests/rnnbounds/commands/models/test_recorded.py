"""Options of recorded inputs: columns, groups, time and lengths, in every command with --data."""

import shlex

import numpy as np
import pytest
import torch

import rnnbounds
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.reading.data.sequences import read_data

CELL = ("--cell", "rnn-tanh")


@pytest.fixture
def table(tmp_path):
    """Thirty series of 4 to 9 numbers, their rows in one order of time."""
    draws = np.random.default_rng(0)
    rows = [(t, i, draws.normal()) for t in range(9) for i in range(30) if t < 4 + i % 6]
    lines = ["t,id,note,x", *(f"{t},s{i},2,{x}" for t, i, x in rows)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    return tmp_path / "x.csv"


def named(table, **more):
    """The options that say where the series are."""
    options = {"--data": str(table), "--columns": "x", "--group": "id", "--time": "t"} | more
    return [word for option in options.items() for word in option]


def test_series_of_a_table_are_measured(call, stable_model, table):
    """As from Python; series that are shorter than a window are counted."""
    told = call("measure", stable_model, *named(table), *CELL, "--eps", 0.1, "--format", "json")
    read = read_data(table, columns="x", group="id", time="t")
    assert told.json == measure(stable_model, read, cell="rnn-tanh", eps=0.1).to_json()
    assert told.json["data"]["windows"] == sum((4 + i % 6) // 4 for i in range(30))
    assert told.json["data"]["length"] == 4
    told = call("measure", stable_model, *named(table), *CELL, "--eps", 0.1, "--window", 6)
    assert "20 windows of 6 inputs" in told.out
    assert "x.csv (10 of 30 sequences, which are shorter, left out)" in told.out


def test_lengths_beside_padded_sequences(call, stable_model, table, tmp_path):
    """Padding is no input: it may be anything."""
    read = read_data(table, columns="x", group="id")
    x = np.full((30, 9, 1), np.nan)
    x[np.arange(9) < read.lengths[:, None]] = read.rows
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "n.npy", read.lengths)
    options = ("--eps", 0.1, "--format", "json")
    padded = ("--data", tmp_path / "x.npy", "--lengths", tmp_path / "n.npy")
    one = call("measure", stable_model, *padded, *CELL, *options).json
    other = call("measure", stable_model, *named(table), *CELL, *options).json
    assert one | {"data": None} == other | {"data": None}


def test_boxes_of_chosen_columns(call, stable_model, table, tmp_path):
    """Of certify and truncate alike, and in the commands that they suggest."""
    bound = ("--input-bound", "from-data", "--eps", 0.1, *CELL)
    certify = call("certify", stable_model, *bound, *named(table))
    assert certify.code == 0
    (line,) = (line for line in certify.out.splitlines() if "rnnbounds truncate" in line)
    words = shlex.split(line)[line.split().index("rnnbounds") :]
    assert {"--columns=x", "--group=id", "--time=t"} < set(words)
    out = tmp_path / "short.safetensors"
    assert call(*words[1:], "--out", out).code == 0
    box = rnnbounds.input_data(read_data(table, columns="x"))
    told = rnnbounds.load_certificate(out).inputs
    assert (told.low.tolist(), told.high.tolist()) == (box.low.tolist(), box.high.tolist())


@pytest.mark.parametrize("scale", [2.0, 20.0])
def test_what_was_measured_is_not_advised(call, stable_model, table, tmp_path, scale):
    """Of an undecided and of a refuted model, in text and on the page; without data it is."""
    held = torch.load(stable_model)
    torch.save({k: v * scale if "hh" in k else v for k, v in held.items()}, tmp_path / "m.pt")
    asked = (tmp_path / "m.pt", "--input-bound", 4, *CELL, "--eps", 0.1)
    told = call("certify", *asked, *named(table), "--out", tmp_path / "o")
    assert told.code == 1
    what = "ee what it remembers of recorded inputs"
    assert f"s{what}" not in told.out
    assert f"S{what}" not in (tmp_path / "o" / "index.html").read_text()
    assert "or certify k near the recorded inputs: rnnbounds measure" in told.out
    assert f"s{what}" in call("certify", *asked).out


@pytest.mark.parametrize("command", ["certify", "truncate"])
def test_options_of_data_that_are_not_there(refused, stable_model, command, tmp_path):
    """They are refused, not ignored."""
    out = ("--eps", 0.1, "--out", tmp_path / "s.safetensors") if command == "truncate" else ()
    line = refused(command, stable_model, "--input-bound", 1, *out, "--group", "id")
    assert "--columns, --group, --time and --lengths are of --data; name its file" in line
