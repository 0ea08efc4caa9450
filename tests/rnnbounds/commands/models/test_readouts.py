"""Predictions of a linear layer, in every kind of answer that commands give."""

import json

import numpy as np
import pytest
import torch


@pytest.fixture
def data(tmp_path):
    """40 normal sequences of 12 inputs, the seed's own."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(40, 12, 1)))
    return tmp_path / "x.npy"


@pytest.fixture
def read(tmp_path):
    """A model with a head, and what all commands are told of it."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"rnn": torch.nn.RNN(1, 2), "head": torch.nn.Linear(2, 3)})
    with torch.no_grad():
        model["rnn"].weight_hh_l0.mul_(0.25)
    torch.save(model.state_dict(), tmp_path / "read.pt")
    return tmp_path / "read.pt", "--layer", "rnn", "--cell", "rnn-tanh", "--eps", 0.1


def test_all_kinds_of_answers_are_of_predictions(call, read, data, tmp_path):
    """Certified, attacked, seen, stated and near: text, records and page say so."""
    of, out, witness = ("--readout", "head"), tmp_path / "told", tmp_path / "witness.json"
    told = ("--data", data, "--near", 0.01, "--out", out)
    text = call("measure", *read, *of, *told).out
    assert "in float64, predictions head.weight h" in text
    assert "seen: gap between the prediction after all" in text
    assert "‖C h_T − C h_T^k‖₂ ≤" in text
    seen, certificate = (
        json.loads((out / f"{name}.json").read_text()) for name in ("measurement", "certificate")
    )
    for readout in (seen["readout"], certificate["attacked"]["readout"]):
        assert (readout["tensor"], readout["outputs"]) == ("head.weight", 3)
    assert certificate["unread"] == ["head.bias"]
    page = (out / "index.html").read_text()
    assert "the prediction to within" in page
    asked = ("certify", *read, *of, "--input-bound", 4, "--witness", witness, "--data", data)
    both = call(*asked).out
    assert "longer than k steps, of predictions head.weight h" in both
    assert "memory at ε = 0.1: between " in both
    assert "in float64, predictions head.weight h" in both
    checked = ("check", witness, "--source", read[0], *read[1:5])
    told = call(*checked)
    assert told.code == 0
    assert "of rnn-tanh, of predictions head.weight h" in told.out
    assert "‖C h_T − C h_T^k‖₂ ≥ " in told.out
    assert "‖h_T" not in told.out


def test_a_witness_of_another_readout_falls(call, refused, read, tmp_path):
    """Or is refused where the source has none, or the record is none."""
    witness, model = tmp_path / "witness.json", read[0]
    asked = ("certify", *read, "--readout", "head", "--input-bound", 4, "--witness", witness)
    assert call(*asked).code == 0
    checked = ("check", witness, "--source", model, *read[1:5])
    held = torch.load(model)
    torch.save({**held, "head.weight": held["head.weight"] * 0.5}, model)
    assert call(*checked).code == 1
    torch.save({n: part for n, part in held.items() if n != "head.weight"}, model)
    assert "no readout head.weight" in refused(*checked)
    text = witness.read_text()
    for change in ({"readout": None}, {"readout": {"tensor": 3}}):
        witness.write_text(json.dumps(json.loads(text) | change))
        assert "no readable witnesses" in refused(*checked)
