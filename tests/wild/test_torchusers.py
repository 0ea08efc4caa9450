"""Checkpoints of Lightning, policies of stable-baselines and TorchScript against their libraries.

The fixtures were written by these libraries, with the outputs of their recurrent layers; with the
libraries at hand new ones are made.
"""

import runpy
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.layers import layers

FILES = Path(__file__).with_name("files")
MAKE = runpy.run_path(str(Path(__file__).with_name("make_torchusers.py")))


def outputs(model, x):
    """The outputs h (N, T, n) of a model from the zero state in float64, for inputs (N, T, d)."""
    size = kind_of(model.name).layout(model.weights).sizes(model.weights).state
    s = torch.zeros(1, size, len(x), dtype=torch.float64)
    found = []
    for t in range(x.shape[1]):
        s = model.cell.step(s, torch.tensor(x[:, t]).double().mT[None])
        found.append(s[0, -model.n :].mT)
    return torch.stack(found, 1)


def check(path, recorded, layer, readout):
    """The layer has the outputs that the library recorded."""
    held = np.load(recorded)
    model = load_model(path, layer=layer, readout=readout)
    assert abs(outputs(model, held["x"]).numpy() - held["h"]).max() < 1e-6
    return model


def check_lightning(folder):
    """A checkpoint of Lightning: one layer beside classes, functions and optimisers."""
    path = folder / "lightning.ckpt"
    assert [(one.name, one.cell) for one in layers(path)] == [("state_dict.encoder", "gru")]
    model = check(path, folder / "lightning.npz", None, "state_dict.head")
    assert {"optimizer_states", "hyper_parameters.loss"} <= set(model.unread)
    assert model.unread[0] == "state_dict.head.bias"


def check_policy(folder, name="ppo.zip"):
    """A recurrent policy: its actor and its critic."""
    path = folder / name
    assert [one.name for one in layers(path)] == ["lstm_actor", "lstm_critic"]
    assert check(path, folder / "ppo.npz", "lstm_actor", None).name == "lstm"


def test_fixtures():
    """Files of Lightning 2.6 and stable-baselines 2.9."""
    check_lightning(FILES)
    check_policy(FILES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path):
    """A checkpoint that is written now."""
    pytest.importorskip("pytorch_lightning")
    MAKE["lightning"](tmp_path)
    check_lightning(tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_stable_baselines(tmp_path):
    """A policy that is written now, with all that the library puts beside it."""
    pytest.importorskip("sb3_contrib")
    MAKE["stable_baselines"](tmp_path)
    check_policy(tmp_path)
    check_policy(tmp_path, "whole.zip")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_silero(tmp_path):
    """The voice-activity detector that its package ships as TorchScript: both LSTMs, as torch
    reads them."""
    pytest.importorskip("silero_vad")
    path = files("silero_vad").joinpath("data", "silero_vad.jit")
    found = {one.name: (one.cell, one.n, one.d) for one in layers(str(path))}
    assert found == dict.fromkeys(
        ("_model.decoder.rnn", "_model_8k.decoder.rnn"), ("lstm", 128, 128)
    )
    state = torch.jit.load(str(path)).state_dict()
    for layer in found:
        model = load_model(str(path), layer=layer)
        assert model.digest == load_model(state, layer=layer).digest
        cell = torch.nn.LSTMCell(128, 128)
        cell.load_state_dict({name: state[f"{layer}.{name}"] for name in cell.state_dict()})
        assert load_model(cell).digest == model.digest
