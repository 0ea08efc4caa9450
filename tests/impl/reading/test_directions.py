"""A layer in both directions is two cells: read, certified and measured one at a time."""

import pytest
import torch
from refusals import refused
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import layers, load_cells, load_model
from rnnbounds.impl.reading.recognition.misfit import DirectionsError

ENDS = {"forward": "", "backward": "_reverse"}
MODULES = {"rnn-tanh": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def both(cell: str, count: int = 1, **options) -> torch.nn.Module:
    """A module in both directions, of which each cell contracts."""
    torch.manual_seed(0)
    options |= {"num_layers": count, "bidirectional": True, "batch_first": True}
    module = MODULES[cell](2, 3, **options)
    with torch.no_grad():
        for name, part in module.named_parameters():
            part *= 0.3 if "weight_hh" in name else 0.5
    return module


@pytest.mark.parametrize("cell", MODULES)
def test_every_source_has_two_cells(tmp_path, cell):
    """A module, its state dict, a file, and a part of a bigger model: the same two cells."""
    module = both(cell)
    state = module.state_dict()
    save_file(state, tmp_path / "both.safetensors")
    whole = {f"enc.{name}": part for name, part in state.items()} | {"w": torch.ones(1)}
    asked = cell if cell.startswith("rnn") else None
    found = [
        load_cells(module),
        load_cells(state, asked),
        load_cells(tmp_path / "both.safetensors", asked),
        load_cells(whole, asked, layer="enc"),
    ]
    for cells in found:
        assert tuple(cells) == tuple(ENDS)
        for direction, one in cells.items():
            assert (one.name, one.n, one.d, one.backward) == (cell, 3, 2, direction == "backward")
            assert one.source.endswith(f" ({direction})")
            for role, part in one.weights.items():
                assert torch.equal(part, state[f"{role}_l0{ENDS[direction]}"])
    assert found[3]["backward"].tensors["weight_hh"] == "enc.weight_hh_l0_reverse"
    assert {"w", "enc.weight_hh_l0"} < set(found[3]["backward"].unread)
    assert [(one.direction, one.cell) for one in layers(module)] == [(way, cell) for way in ENDS]


def test_what_is_no_cell_of_a_direction():
    """No direction, another word, one direction alone, several layers, further tensors."""
    module = both("lstm", proj_size=2)
    assert load_model(module, direction="backward").name == "lstm-projected"
    state = dict(both("gru").state_dict())
    for call in (rnnbounds.certify, rnnbounds.attack):
        with pytest.raises(DirectionsError, match='say direction="forward" or "backward"'):
            call(module, inputs=1.0, eps=0.1)
    refused(module, ValueError, "unknown direction 'left'", direction="left")
    refused(module, InputError, "a readout reads both", direction="forward", readout="head")
    for way in ENDS:
        refused(both("gru", 2), InputError, "2 layers, .* second reads both", direction=way)
        refused(state | {"weight_hq": torch.ones(1)}, InputError, "weight_hq", direction=way)
    with pytest.raises(InputError, match="second reads both"):
        load_cells(both("lstm", 3))
    read = load_model(state | {"extra": torch.ones(1)}, ignore=["extra"], direction="backward")
    assert read.ignored == ("extra",)
    reverse = [name for name in state if "reverse" in name]
    assert load_model(state, ignore=reverse).name == "gru"


def test_the_backward_cell_reads_recordings_backward():
    """What is measured of it is what the cell does in the module."""
    module = both("gru").double()
    x = torch.randn(20, 12, 2, dtype=torch.float64)
    seen = {way: rnnbounds.measure(module, x, eps=0.1, direction=way) for way in ENDS}
    with torch.no_grad():
        for way, columns in zip(ENDS, (slice(0, 3), slice(3, 6)), strict=True):
            at, kept = (-1, x[:, -4:]) if way == "forward" else (0, x[:, :4])
            full, short = (module(one)[0][:, at, columns] for one in (x, kept))
            gap = (full - short).norm(dim=1).sort().values
            gaps = seen[way].seen.gaps[:, seen[way].ks.index(4)].sort().values
            assert torch.allclose(gap, gaps)
