"""What is found travels: it is pickled and copied whole."""

import copy
import pickle

import pytest
import torch

import rnnbounds
from rnnbounds.impl.arithmetic.inputs.sets import input_box

COPIES = {"pickled": lambda found: pickle.loads(pickle.dumps(found)), "copied": copy.deepcopy}
EACH = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


def module(size: float) -> torch.nn.RNN:
    """Two units with a diagonal W of that norm."""
    made = torch.nn.RNN(1, 2)
    with torch.no_grad():
        made.weight_hh_l0.copy_(torch.diag(torch.tensor([size, 0.5])))
        made.bias_hh_l0.fill_(2.0)
    return made


@EACH
@pytest.mark.parametrize("size", [0.5, 1.05])
def test_a_certificate(copied, size):
    """With its advice, where it is undecided; of a ball and of a box of inputs."""
    for asked in (0.5, input_box(-0.5, 0.5, 1)):
        found = rnnbounds.certify(module(size), inputs=asked, eps=0.1)
        assert (found.advice is None) == (size < 1)
        told = copied(found)
        assert told.to_json() == found.to_json()
        assert told == found
    assert told.input_set.holds([0.5])
    assert not told.input_set.holds([0.7])


@EACH
def test_a_measurement(copied):
    """With its model."""
    found = rnnbounds.measure(module(0.5), torch.rand(60, 4, 1), eps=[0.1])
    assert copied(found).to_json() == found.to_json()
