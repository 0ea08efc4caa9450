import json
import math

import pytest
import torch
from draws import doubles
from safetensors.torch import save_file
from stack_draws import MODULES, inputs, net

from impl.cells.table import UnknownCellError
from impl.convert.truncate import load_certificate, load_truncated, save_truncated, truncate
from impl.errors import InputError, NotFiniteError, ShapeError
from impl.reading.adapters import load_model
from impl.reading.files import ModelFileError
from impl.reading.misfit import UnsupportedModelError, WeightsError

NAMES = tuple(MODULES)


def test_every_way_of_handing_it_over(tmp_path):
    """A module, a larger one, a state dict, both kinds of file: one stack."""
    module = net("lstm-projected", 2)
    torch.save(module.state_dict(), tmp_path / "m.pt")
    save_file(module.state_dict(), tmp_path / "m.safetensors")
    ways = [
        module, torch.nn.Sequential(module), module.state_dict(), tmp_path / "m.pt",
        tmp_path / "m.safetensors", {f"net.{k}": v for k, v in module.state_dict().items()},
    ]  # fmt: skip
    found = [load_model(way, cell) for way in ways for cell in (None, "lstm", "stack")]
    assert {model.name for model in found} == {"stacked-lstm-projected"}
    assert len({model.digest for model in found}) == 1
    assert (found[0].n, found[0].d, found[0].dtype) == (3, 3, "float32")
    assert load_model(found[0], "lstm").digest == found[0].digest
    assert load_model(net("gru", 2), "gru").name == "stacked-gru"
    assert load_model(net("gru", 2).state_dict(), "gru-cho").name == "stacked-gru-cho"
    assert load_model(net("gru", 1), "stack").name == "stacked-gru"
    assert load_model(net("rnn-tanh", 2).state_dict(), "linear").name == "stacked-linear"


def test_file_of_a_truncated_stack(tmp_path):
    """It travels whole, with its certificate; a changed layer is noticed."""
    path = tmp_path / "short.safetensors"
    short, certificate = truncate(net("gru", 2), 1e-2, 1.0)
    save_truncated(short, certificate, path)
    again, x = load_truncated(path), inputs(dtype=torch.float32)
    assert torch.equal(again(x), short(x))
    assert load_certificate(path) == json.loads(json.dumps(certificate))
    assert load_model(path).name == "stacked-gru"
    with torch.no_grad():
        again.weight_hh_l1[0, 0] += 1.0
    with pytest.raises(ModelFileError, match="of other weights"):
        save_truncated(again, certificate, path)


def refused(kind, source, pattern: str, cell: str | None = None) -> None:
    """One line that says what is wrong."""
    with pytest.raises(kind, match=pattern) as caught:
        load_model(source, cell)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_stack(name):
    """Missing layers and weights, wrong shapes and values in layer 2, another direction."""
    good = dict(net(name, 3).state_dict())
    both = net(name, 2, bidirectional=True)
    cell = name if name.startswith("rnn") else None
    refused(UnsupportedModelError, both, "bidirectional")
    refused(UnsupportedModelError, both.state_dict(), "_reverse, that is another direction")
    no_layer = {key: part for key, part in good.items() if not key.endswith("_l1")}
    refused(WeightsError, no_layer, r"_l2, but no weight_hh_l1; save")
    for missing in ("weight_hh_l2", "weight_ih_l1"):
        left = {key: part for key, part in good.items() if key != missing}
        refused(WeightsError, left, f"no {missing}; save")
    refused(WeightsError, good | {"bias_hh_l999999999": torch.ones(1)}, "no weight_hh_l3")
    refused(ShapeError, good | {"weight_ih_l1": torch.ones(4, 4)}, "weight_ih_l1 has shape")
    refused(ShapeError, good | {"weight_hh_l2": torch.ones(7, 3)}, "weight_hh_l2 has shape")
    refused(ShapeError, good | {"bias_ih_l1": torch.ones(2)}, "bias_ih_l1 has shape")
    broken = good["weight_hh_l1"].clone()
    broken[0, 0] = math.nan
    refused(NotFiniteError, good | {"weight_hh_l1": broken}, "weight_hh_l1", cell)
    refused(WeightsError, good | {"bias_ih_l1": good["bias_ih_l1"].double()}, "mix dtypes", cell)
    refused(WeightsError, good | {"bias_ih_l1": [1.0]}, "is a list")
    refused(UnknownCellError, good, "unknown cell 'stacked-lstn'; did you", "stacked-lstn")


def test_projections_that_are_none():
    """A projection belongs to every layer of an LSTM, and to nothing else."""
    good = dict(net("lstm-projected", 2).state_dict())
    left = {key: part for key, part in good.items() if key != "weight_hr_l1"}
    refused(WeightsError, left, "no weight_hr_l1; save")
    refused(WeightsError, good, "a projection, but stacked-gru has none", "gru")
    refused(ShapeError, good | {"weight_hr_l1": torch.ones(3, 4)}, "weight_hr_l1 has shape")
    plain = dict(net("lstm", 2).state_dict())
    refused(WeightsError, plain, "no weight_hr_l0; save", "lstm-projected")
    refused(WeightsError, plain, "that of stacked-lstm, but stacked-gru has", "gru")
    refused(WeightsError, net("lstm", 2), "the module is lstm, not gru", "gru")


@pytest.mark.parametrize("missing", [("W_l1",), ("W_l1", "W_in_l1", "leak_l1")])
def test_a_stack_with_a_gap(missing):
    """Layers above one that is missing are not left out in silence."""
    cell = {"W": doubles([[0.5]]), "W_in": doubles([[1.0]]), "leak": doubles([0.25])}
    weights = {f"{name}_l{l}": part for name, part in cell.items() for l in range(3)}
    for name in missing:
        del weights[name]
    with pytest.raises(WeightsError, match="no W_l1; save"):
        load_model(weights, "stacked-leaky-tanh")
