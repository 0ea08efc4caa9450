"""Predictions of a linear layer, in every kind of answer that commands give."""

import pytest
import torch


@pytest.fixture
def read(tmp_path):
    """A model with a head, and what all commands are told of it."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"rnn": torch.nn.RNN(1, 2), "head": torch.nn.Linear(2, 3)})
    with torch.no_grad():
        model["rnn"].weight_hh_l0.mul_(0.25)
    torch.save(model.state_dict(), tmp_path / "read.pt")
    return tmp_path / "read.pt", "--layer", "rnn", "--cell", "rnn-tanh", "--eps", 0.1


def test_columns_are_named_in_ascii(call, refused, read):
    """head[0:2] are columns; other digits are part of a name, which no tensor has."""
    asked = ("certify", *read, "--input-bound", 4, "--readout")
    assert call(*asked, "head[0:2]").code == 0
    assert "holds no readout head[٠:٢].weight" in refused(*asked, "head[٠:٢]")
