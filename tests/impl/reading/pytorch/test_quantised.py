"""Dynamically quantised modules: read by their dequantised weights, which is said, or refused."""

import pytest
import torch
from refusals import refused

from rnnbounds.impl.certificate.stable_module import stable_
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.recognition.misfit import WeightsError

pytestmark = pytest.mark.filterwarnings("ignore")
NOTE = "dequantised weights; the module itself also rounds inputs and states to 8 bits"
BASES = [torch.nn.LSTM, torch.nn.GRU, torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell]


def quantised(part, dtype=torch.qint8):
    """A model with that part quantised."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(part)
    return torch.ao.quantization.quantize_dynamic(model, {type(part)}, dtype)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.__name__)
@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16], ids=str)
def test_weights_are_those_of_torch(base, dtype):
    """s q as torch's `dequantize` gives them, in float32; each gap is at most half a step s."""
    part = base(3, 5)
    model = quantised(part, dtype)
    read = load_model(model)
    assert read.name == load_model(part).name
    assert read.dtype == "float32"
    loop = "; one step of a loop that is the module's own" * base.__name__.endswith("Cell")
    assert read.source == f"Sequential ({NOTE}{loop})"
    for role, weight in model[0].get_weight().items():
        value = read.weights[role.removesuffix("_l0")]
        whole = weight.dequantize() if weight.is_quantized else weight.float()
        assert torch.equal(value, whole)
        gap = (value - getattr(part, role)).abs().max()
        assert gap <= (0.501 * weight.q_scale() if weight.is_quantized else 1e-3)
    assert load_model(model[0]).digest == read.digest


def test_stacks_and_other_nonlinearities():
    """All layers are read, and what a cell of torch's computes."""
    assert load_model(quantised(torch.nn.LSTM(2, 3, 2))).name == "stacked-lstm"
    relu = quantised(torch.nn.RNNCell(2, 3, nonlinearity="relu"))
    assert load_model(relu).name == "rnn-relu"


def test_others_are_refused(tmp_path):
    """Dropout in training, state dicts, tensors, training with quantisation."""
    dropping = quantised(torch.nn.LSTM(2, 3, 2, dropout=0.5)).train()
    refused(dropping, WeightsError, r"drops out .* call \.eval\(\) first")
    state = quantised(torch.nn.LSTM(2, 3)).state_dict()
    told = "0._all_weight_values.0.param, weights that are quantised .* pass the module, or the"
    refused(state, WeightsError, told)
    torch.save(state, tmp_path / "q.pt")
    refused(tmp_path / "q.pt", InputError, "quantised")
    scripted = torch.jit.script(quantised(torch.nn.LSTM(2, 3)))
    torch.jit.save(scripted, tmp_path / "s.pt")
    refused(scripted, WeightsError, "holds nothing, but no weight_hh_l0")
    refused(tmp_path / "s.pt", WeightsError, "0._all_weight_values.0.param, weights that are quant")
    state = torch.nn.GRU(2, 3).state_dict()
    state["weight_hh_l0"] = torch.quantize_per_tensor(state["weight_hh_l0"], 0.1, 0, torch.qint8)
    refused(state, WeightsError, "weight_hh_l0 is quantised; take the model before")
    aware = torch.nn.Sequential(torch.ao.nn.quantizable.LSTM(2, 3))
    refused(aware, WeightsError, r"holds a quantised LSTM \(0\); pass the model before it was")
    with pytest.raises(InputError, match="no parameter of its own"):
        stable_(quantised(torch.nn.LSTM(2, 3)), 0.9, 1.0)
