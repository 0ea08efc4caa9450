"""Models in both directions, read from modules, state dicts and files."""

import pytest
import torch
from both_models import MODULES, both
from refusals import refused
from safetensors.torch import save_file

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.reading.adapters import load_both, load_model
from rnnbounds.impl.reading.layers import layers
from rnnbounds.impl.reading.recognition.misfit import DirectionsError, WeightsError


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("cell", MODULES)
def test_every_source_reads_alike(tmp_path, cell, count):
    """A module, its state dict, a file, and a part of a bigger model: the same cells and names."""
    module = both(cell, count)
    state = module.state_dict()
    save_file(state, tmp_path / "both.safetensors")
    whole = {f"enc.{name}": part for name, part in state.items()} | {"w": torch.ones(1)}
    asked = cell if cell.startswith("rnn") else None
    found = [
        load_both(module),
        load_both(state, asked),
        load_both(tmp_path / "both.safetensors", asked),
        load_both(whole, asked, layer="enc"),
    ]
    assert len({one.digest for one in found}) == 1
    for one in found:
        assert isinstance(one, LoadedBidirectional)
        assert (one.n, one.d, len(one.layers)) == (6, 2, count)
        assert one.weights.keys() == state.keys()
        assert all(torch.equal(part, state[name]) for name, part in one.weights.items())
    assert found[3].tensors["weight_hh_l0_reverse"] == "enc.weight_hh_l0_reverse"
    assert found[3].unread == ("w",)


def test_one_direction():
    """A layer in both directions has a cell for each; a stack has not."""
    module = both("lstm")
    for direction, end in (("forward", ""), ("reverse", "_reverse")):
        model = load_model(module, direction=direction)
        assert model.name == "lstm"
        assert torch.equal(model.weights["weight_hh"], getattr(module, f"weight_hh_l0{end}"))
        assert len(model.unread) == 4
    refused(module, DirectionsError, "reads its inputs in both directions .*--direction forward")
    refused(module, ValueError, "unknown direction 'left'", direction="left")
    refused(both(layers=2), WeightsError, "of which the second reads both", direction="reverse")
    refused(torch.nn.GRU(2, 3), WeightsError, "has one direction only", direction="reverse")


def test_projections_and_lists():
    """An LSTM with a projection has smaller outputs; --list names directions and layers."""
    module = both("lstm", 2, proj_size=2)
    model = load_both(module)
    assert (model.n, model.cell) == (4, "lstm-projected")
    (listed,) = layers(module)
    assert (listed.cell, listed.n, listed.d) == ("bidirectional lstm-projected, 2 layers", 4, 2)
    assert listed.states == 4 * 5


def test_what_does_not_fit():
    """Missing directions and layers, further names, wrong shapes, mixed dtypes: one line each."""
    state = dict(both("gru", 2).state_dict())

    def without(*names):
        return {name: part for name, part in state.items() if name not in names}

    gone = [name for name in state if name.endswith("l1_reverse")]
    for weights, error, told in (
        (without(*gone), WeightsError, "holds no weight_hh_l1_reverse; save the whole"),
        (without("weight_ih_l0"), WeightsError, "layer 1, forward.* holds no weight_ih_l0"),
        (state | {"weight_hq": torch.ones(1)}, WeightsError, "weight_hq"),
        (state | {"weight_ih_l1": torch.ones(9, 5)}, ShapeError, "weight_ih of layer 2"),
        (state | {"weight_hh_l1": torch.ones(9, 2)}, ShapeError, "weight_hh"),
        (
            {name: part.double() if "reverse" in name else part for name, part in state.items()},
            WeightsError,
            "mix dtypes",
        ),
    ):
        with pytest.raises(error, match=told):
            load_both(weights)
    read = load_both(state | {"extra": torch.ones(1)}, ignore=["extra"])
    assert read.ignored == ("extra",)
    state = both("gru").state_dict()
    forward = load_both(state, ignore=[name for name in state if "reverse" in name])
    assert forward.name == "gru"
