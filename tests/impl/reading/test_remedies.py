"""What an error says to do is done, and the answer is right."""

import re

import pytest
import torch

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

GRU = {name: one / 4 for name, one in torch.nn.GRU(2, 3).state_dict().items()}


@pytest.mark.parametrize(
    "name", ["rnn.ln_hh.weight", "rnn.layer_norm.bias", "rnn.gamma", "rnn.clip"]
)
def test_another_network_is_not_to_be_ignored(name):
    """A cell with a normalisation or a clip is none of torch's, whatever is left out."""
    weights = {f"rnn.{key}": one for key, one in GRU.items()} | {name: torch.ones(3)}
    with pytest.raises(InputError, match="state it as a cell of your own") as told:
        load_model(weights)
    assert "--ignore" not in str(told.value)


def test_a_hint_of_readouts_names_no_weight_of_the_cell():
    """Of the matrices with as many columns as the cell has outputs."""
    weights = {f"rnn.{key}": one for key, one in GRU.items()} | {"head.weight": torch.ones(1, 3)}
    with pytest.raises(InputError, match=r"columns are head.weight$") as told:
        load_model(weights, readout="readout")
    name = str(told.value).rpartition(" ")[2]
    assert load_model(weights, readout=name).readout.name == "head.weight"


def test_one_window_at_a_time():
    """A model that mixes the windows of a batch is measured as the error says."""

    def centred(x):
        return x.cumsum(1) - x.mean(0, keepdim=True)

    x = torch.randn(20, 12, 2, generator=torch.Generator().manual_seed(0))
    with pytest.raises(InputError, match="run one window at a time") as told:
        rnnbounds.measure(centred, x, eps=1.0)
    (batch,) = re.findall(r"--batch (\d+)", str(told.value))
    assert rnnbounds.measure(centred, x, eps=1.0, batch=int(batch)).run["batch"] == 1


@pytest.mark.parametrize("shape", [(2, 200), (20, 2, 50), (2, 20, 50)])
def test_swapped_axes_are_told(shape):
    """Channels are the last axis: where another one fits, the error says to move it there."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    with pytest.raises(InputError, match=r"but the model reads 2 .*move that axis to the end"):
        rnnbounds.measure(GRU, x, eps=1.0)
    moved = x.movedim(shape.index(2), -1)
    assert rnnbounds.measure(GRU, moved, eps=1.0).recorded == moved.shape[-2]


@pytest.mark.parametrize("shape", [(2, 2), (20, 2, 2)])
def test_channels_that_fit_two_axes(shape):
    """Time may be either axis: the error asks, and a stated window says that it is the first."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    with pytest.raises(InputError, match="channels before its times; swap the two if so") as told:
        rnnbounds.measure(GRU, x, eps=1.0)
    (window,) = re.findall(r"--window (\d+)", str(told.value))
    a, b = (rnnbounds.measure(GRU, part, eps=1.0, window=int(window)) for part in (x, x.mT))
    assert a.recorded == b.recorded == 2
    assert not torch.equal(a.seen.gaps, b.seen.gaps)
