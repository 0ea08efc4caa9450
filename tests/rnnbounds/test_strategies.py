"""The public strategies draw what they say."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rnnbounds
from rnnbounds import strategies
from rnnbounds.impl.errors import RangeError


@pytest.mark.slow
@settings(max_examples=8)
@given(strategies.networks(lam=0.8, input_bound=2.0, units=5, layers=2), st.data())
def test_networks_are_certified_and_forget(network, data):
    """At the rate asked for, layer by layer, of every cell; and inputs are within the bound."""
    certificate = rnnbounds.certify(network, inputs=2.0, eps=1e-2)
    assert certificate.verdict == "certified"
    if network.num_layers == 1:
        assert certificate.lam <= 0.8
    x = data.draw(strategies.sequences(network.input_size, input_bound=2.0))
    assert x.norm(dim=2).max() <= 2
    k = certificate.window(1e-2)
    with torch.no_grad():
        gap = (network(x)[0][:, -1] - network(x[:, -k:])[0][:, -1]).norm(dim=1).max()
    assert gap <= 1e-2 + 1e-5


def test_what_makes_no_sense_is_refused():
    """Before anything is drawn."""
    for wrong in ({"lam": 1.0}, {"lam": 0.0}, {"units": 0}, {"inputs": 0}, {"layers": 0}):
        with pytest.raises(RangeError, match="choose another value"):
            strategies.networks(**wrong)
