"""``rnnbounds check``: whose certificate it is, what is information, and what is not proved."""

import hashlib
import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from rnnbounds.impl.models.loaded import digest


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A file of weights that may be those of a tanh or of a ReLU, and files that say which."""
    monkeypatch.chdir(tmp_path)
    held = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.tensor([[1.0]])}
    torch.save(held, "m.pt")
    for cell in ("rnn-tanh", "rnn-relu"):
        save_file(held, f"{cell}.safetensors", {"cell": cell})
    return tmp_path


def test_a_relu_equivalent_of_a_tanh_source(call, weights):
    """The same weights are not the same model: the source's cell is compared, and asked for."""
    made = ("unitary", "rnn-relu.safetensors", "--cell", "rnn-relu", "--input-bound", 1)
    assert call(*made, "--out", "u").code == 0
    assert call("check", "u", "--source", "rnn-relu.safetensors").code == 0
    assert call("check", "u", "--source", "m.pt", "--cell", "rnn-relu").code == 0
    for told in (("rnn-tanh.safetensors",), ("m.pt", "--cell", "rnn-tanh")):
        outcome = call("check", "u", "--source", *told)
        assert outcome.code == 1
        fallen = [line.split()[0] for line in outcome.out.splitlines() if " FAILS " in line]
        assert fallen == ["source"]


def test_a_truncated_file_of_another_cell(call, weights):
    """A truncated ReLU is not that of a tanh source, nor of a source of another dtype."""
    short = ("truncate", "rnn-relu.safetensors", "--input-bound", 1, "--eps", 0.1, "--out", "t")
    assert call(*short).code == 0
    assert call("check", "t", "--source", "rnn-relu.safetensors").code == 0
    assert call("check", "t", "--source", "rnn-tanh.safetensors").code == 1
    held = {name: part.double() for name, part in load_file("rnn-relu.safetensors").items()}
    save_file(held, "double.safetensors", {"cell": "rnn-relu"})
    assert call("check", "t", "--source", "double.safetensors").code == 1


def test_a_cell_of_no_source(call, refused, weights):
    """--cell without --source says nothing."""
    call("truncate", "rnn-relu.safetensors", "--input-bound", 1, "--eps", 0.1, "--out", "t")
    assert refused("check", "t", "--cell", "rnn-relu").endswith("name a source, or leave them out")


def test_what_is_printed(call, weights):
    """What the certificate speaks of, all that was proved, and what is information alone."""
    call("truncate", "rnn-relu.safetensors", "--input-bound", 1, "--eps", 0.1, "--out", "t")
    lines = call("check", "t").out.splitlines()
    assert lines[:2] == [
        "t: the certificate holds",
        "of rnn-relu, n = 1, d = 1, float32, for every ‖x_t‖₂ ≤ 1",
    ]
    parts = {line.split()[0] for line in lines[3:]}
    assert parts >= {
        "L_rho",
        "W_norm",
        "U_norm",
        "L_x",
        "B_x",
        "S_0",
        "reach",
        "rounding",
        "window",
    }
    assert 'information, not checked: model: "rnn-relu.safetensors"' in lines


@pytest.mark.parametrize("module", [torch.nn.LSTM(1, 2), torch.nn.GRU(1, 2), torch.nn.RNN(1, 2, 2)])
def test_gated_cells_and_stacks(call, weights, module):
    """What truncate just wrote of them is proved, and is certified again as a model."""
    with torch.no_grad():
        for part in module.parameters():
            part.mul_(0.1)
    torch.save(module.state_dict(), "gated.pt")
    cell = {"LSTM": "lstm", "GRU": "gru", "RNN": "rnn-tanh"}[type(module).__name__]
    made = ("truncate", "gated.pt", "--cell", cell, "--input-bound", 1, "--eps", 0.1, "--out", "t")
    assert call(*made).code == 0
    outcome = call("check", "t", "--source", "gated.pt", "--cell", cell)
    assert outcome.code == 0
    assert outcome.out.startswith("t: the certificate holds")
    assert call("certify", "t", "--input-bound", 1).code == 0


def test_a_second_tensor(call, refused, weights):
    """A file with weight_hh_l0, that is certified, and weight_hh beside it is refused each time."""
    call("truncate", "rnn-relu.safetensors", "--input-bound", 1, "--eps", 0.1, "--out", "t")
    with safe_open("t", framework="pt") as file:
        told = dict(file.metadata())
    held = load_file("t")
    held["weight_hh"] = held["weight_hh_l0"] * 50
    stamp = {name: told[name] for name in ("format", "k", "cell", "output", "certificate")}
    name = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()
    save_file(held, "t", stamp | {"sha256": digest(name, held)})
    assert "does not hold exactly the weights of its cell" in refused("check", "t")


@pytest.mark.parametrize("name", ["short.pt2", "short.onnx"])
def test_an_export(refused, tmp_path, name):
    """It is not taken for a damaged file of another kind."""
    (tmp_path / name).write_bytes(b"PK")
    message = refused("check", tmp_path / name)
    assert "is an export, which is not checked" in message
    assert message.endswith("check the .safetensors that it was written beside")
