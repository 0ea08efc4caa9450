import pytest
import torch
from draws import state
from refusals import refused
from safetensors.torch import save_file

from rnnbounds.impl.models.loaded import digest
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.recognition.misfit import DirectionsError


def check(loaded, weights, name="rnn-tanh"):
    """The loaded cell is the weights, exactly."""
    short = {key.rsplit(".", 1)[-1].removesuffix("_l0"): part for key, part in weights.items()}
    assert loaded.name == name
    assert torch.equal(loaded.cell.W[0], short["weight_hh"].double())
    assert torch.equal(loaded.cell.U[0], short["weight_ih"].double())
    zero = torch.zeros(loaded.n, dtype=torch.float64)
    b = short.get("bias_ih", zero).double() + short.get("bias_hh", zero).double()
    assert torch.equal(loaded.cell.b[0], b)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("suffix", ["_l0", ""])
@pytest.mark.parametrize("prefix", ["", "rnn.", "model.encoder.rnn."])
def test_state_dicts(dtype, suffix, prefix):
    """RNN's and RNNCell's names, with one prefix, in every float dtype, converted exactly."""
    weights = {prefix + key: part for key, part in state(dtype=dtype, suffix=suffix).items()}
    loaded = load_model(weights | {"readout.weight": torch.ones(1, 3)}, "rnn-tanh")
    check(loaded, weights)
    assert loaded.dtype == str(dtype).removeprefix("torch.")
    assert (loaded.n, loaded.d) == (3, 2)


def test_biases_are_optional():
    """A cell without biases, or with one of them."""
    weights = state()
    del weights["bias_hh_l0"]
    check(load_model(weights, "rnn-tanh"), weights)
    loaded = load_model(weights, "rnn-tanh")
    assert loaded.bias("bias_hh") == [0.0, 0.0, 0.0]
    assert loaded.bias("bias_ih") == weights["bias_ih_l0"].double().tolist()
    del weights["bias_ih_l0"]
    check(load_model(weights, "rnn-tanh"), weights)


def test_cell_from_metadata(tmp_path):
    """The metadata's cell is the default; the caller's word wins over a file's."""
    path = tmp_path / "m.safetensors"
    save_file(state(), path, metadata={"cell": "rnn-relu"})
    assert load_model(path).name == "rnn-relu"
    assert load_model(path, "linear").cell.activation.name == "identity"


def test_two_biases_are_kept():
    """b_ih + b_hh may round in float64: both stay at hand."""
    weights = state(dtype=torch.float64)
    weights["bias_ih_l0"][0], weights["bias_hh_l0"][0] = 1.0, 2.0**-60
    loaded = load_model(weights, "rnn-tanh")
    assert float(loaded.cell.b[0, 0]) == 1.0
    assert loaded.bias("bias_hh")[0] == 2.0**-60


def test_digest_tells_models_apart():
    """Any change of cell, weights, dtype or shape changes the digest."""
    weights = {key.removesuffix("_l0"): part for key, part in state().items()}
    other = weights | {"bias_hh": torch.nextafter(weights["bias_hh"], torch.tensor(9.0))}
    wide = {role: part.double() for role, part in weights.items()}
    less = {role: part for role, part in weights.items() if role != "bias_hh"}
    names = [("rnn-relu", weights), *(("rnn-tanh", w) for w in (weights, other, wide, less))]
    assert len({digest(name, part) for name, part in names}) == 5


def test_directions_are_refused(tmp_path):
    """Layers make a stack and projections a cell; of two directions one is to be named."""
    deep, both = torch.nn.RNN(2, 3, num_layers=2), torch.nn.RNN(2, 3, bidirectional=True)
    assert load_model(deep).name == "stacked-rnn-tanh"
    assert load_model(deep.state_dict(), "rnn-tanh").name == "stacked-rnn-tanh"
    assert load_model(torch.nn.LSTM(2, 3, proj_size=2)).name == "lstm-projected"
    refused(both, DirectionsError, "in both directions .*; certify, .*--direction")
    refused(both.state_dict(), DirectionsError, "in both directions")
    save_file(both.state_dict(), tmp_path / "both.safetensors")
    refused(tmp_path / "both.safetensors", DirectionsError, "_l0_reverse")
