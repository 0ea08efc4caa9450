"""``rnnbounds check``: whose certificate it is, what is information, and what is not proved."""

import hashlib
import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from rnnbounds.impl.models.digest import digest


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A file of weights that may be those of a tanh or of a ReLU, and files that say which."""
    monkeypatch.chdir(tmp_path)
    held = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.tensor([[1.0]])}
    torch.save(held, "m.pt")
    for cell in ("rnn-tanh", "rnn-relu"):
        save_file(held, f"{cell}.safetensors", {"cell": cell})
    return tmp_path


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
