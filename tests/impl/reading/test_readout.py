"""Readouts: ε of predictions, which are within ‖C‖₂ times what outputs are within."""

import pytest
import torch
from refusals import refused

import rnnbounds
from rnnbounds.impl.errors import InputError, NotFiniteError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.readout import Readout, ReadoutError
from rnnbounds.impl.reading.recognition.misfit import WeightsError


@pytest.fixture
def model():
    """A GRU that contracts, a head, and one that expands."""
    torch.manual_seed(0)
    parts = {
        "rnn": torch.nn.GRU(2, 3),
        "head": torch.nn.Linear(3, 2),
        "loud": torch.nn.Linear(3, 1),
    }
    with torch.no_grad():
        for part in parts["rnn"].parameters():
            part /= 4
        parts["loud"].weight.fill_(100.0)
    return torch.nn.ModuleDict(parts).eval()


@pytest.mark.parametrize("head", ["head", "loud", "head.weight"])
def test_predictions_keep_to_eps(model, head):
    """Two runs that agree on the last k inputs: their predictions are within ε, and not by luck."""
    found = rnnbounds.certify(model, 1.0, 1e-2, readout=head)
    k = found.window(1e-2)
    C = model[head.removesuffix(".weight")].weight.detach().double()
    told = found.to_json()["readout"]
    assert told["norm"] >= float(torch.linalg.matrix_norm(C, 2))
    assert told["norm"] == pytest.approx(float(torch.linalg.matrix_norm(C, 2)), rel=1e-9)
    assert k == rnnbounds.certify(model, 1.0, 1e-2 / told["norm"] * (1 - 1e-9)).windows[0][1]
    x = torch.nn.functional.normalize(torch.randn(60, 50, 2, dtype=torch.float64), dim=2)
    with torch.no_grad():
        whole, short = (model["rnn"].double()(part.mT.transpose(1, 2).transpose(0, 1))[0][-1]
                        for part in (x, x[:, 50 - k:]))  # fmt: skip
    assert float(((whole - short) @ C.mT).norm(dim=1).max()) <= 1e-2


def test_gain_is_of_predictions(model):
    """‖C‖₂ times that of the output, rounded up."""
    plain, read = (rnnbounds.certify(model, 1.0, 1e-2, readout=r) for r in (None, "loud"))
    assert "readout" not in plain.to_json()
    scale = read.to_json()["readout"]["norm"]
    assert read.constants["gain"] >= plain.constants["gain"] * scale * (1 - 1e-15)


def test_edges():
    """A readout of zeros, one that is huge, and an ε that is none for it."""
    assert Readout("C", torch.zeros(1, 2)).within(1e-2) > 1e300
    huge = Readout("C", torch.full((1, 1), 1e300, dtype=torch.float64))
    assert 0 < huge.within(1.0) * 1e300 <= 1.0
    with pytest.raises(InputError, match="larger for a readout"):
        huge.within(1e-300)


def test_what_is_no_readout(model):
    """Not there, of other shapes, not finite; of a model that was read; and beside a training."""
    refused(model, ReadoutError, "no readout tail.weight; .* are .*head.weight", readout="tail")
    refused(model, ReadoutError, r"shape \(2,\) reads no output of 3", readout="head.bias")
    with torch.no_grad():
        model["head"].weight[0, 0] = torch.nan
    refused(model, NotFiniteError, "head.weight", readout="head")
    refused(load_model(model), WeightsError, "where it is read", readout="head")
    net = torch.nn.ModuleDict({"rnn": torch.nn.RNN(2, 3), "head": torch.nn.Linear(3, 1)})
    task = rnnbounds.Task(steps=10, alpha=1e-4)
    with pytest.raises(InputError, match="training is certified for the output h"):
        rnnbounds.certify(net, 1.0, readout="head", training=task)
