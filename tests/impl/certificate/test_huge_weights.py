"""Weights that overflow in a float search end in a verdict, and in silence."""

import warnings

import pytest
import torch

from rnnbounds.impl.certificate.certify import certify

LARGEST = 1.7e308


@pytest.mark.parametrize("cell", ["rnn-relu", "rnn-leaky-relu", "rnn-gelu", "rnn-tanh", "linear"])
def test_nothing_leaks_from_huge_weights(cell):
    """A recurrent matrix near the largest float: no warning of NumPy's on standard error."""
    torch.manual_seed(0)
    weights = {
        "weight_hh_l0": (torch.rand(2, 2, dtype=torch.float64) * 2 - 1) * LARGEST,
        "weight_ih_l0": torch.rand(2, 2, dtype=torch.float64) * 0.6 - 0.3,
        "bias_ih_l0": torch.rand(2, dtype=torch.float64),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert certify(weights, 1.0, cell=cell).verdict != "certified"
