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


def test_a_truncated_file_of_another_cell(call, weights):
    """A truncated ReLU is not that of a tanh source, nor of a source of another dtype."""
    short = ("truncate", "rnn-relu.safetensors", "--input-bound", 1, "--eps", 0.1, "--out", "t")
    assert call(*short).code == 0
    assert call("check", "t", "--source", "rnn-relu.safetensors").code == 0
    assert call("check", "t", "--source", "rnn-tanh.safetensors").code == 1
    held = {name: part.double() for name, part in load_file("rnn-relu.safetensors").items()}
    save_file(held, "double.safetensors", {"cell": "rnn-relu"})
    assert call("check", "t", "--source", "double.safetensors").code == 1


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
