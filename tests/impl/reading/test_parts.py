"""Weights that torch stores in parts: what was found, and a call that makes them whole."""

import re
import warnings

import pytest
import torch
from refusals import refused
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm, weight_norm

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.layers import layers
from rnnbounds.impl.reading.recognition.misfit import WeightsError

UTILITIES = {
    "weight_norm": (weight_norm, "_g and .*_v, to which weight_norm"),
    "spectral_norm": (spectral_norm, "_orig and .*_u, to which spectral_norm"),
    "prune": (
        lambda m, name: prune.l1_unstructured(m, name, 2), "_orig and .*_mask, to which prune"
    ),
}  # fmt: skip
PARAMETRISED = {
    "weight_norm": parametrizations.weight_norm,
    "spectral_norm": parametrizations.spectral_norm,
    "orthogonal": parametrizations.orthogonal,
    "pruned": lambda m, name: parametrize.register_parametrization(m, name, torch.nn.Tanh()),
}
WEIGHTS = [(torch.nn.GRU, "_l0"), (torch.nn.LSTM, "_l1"), (torch.nn.GRUCell, "")]


def made(base, end):
    """A module with that weight."""
    torch.manual_seed(0)
    return base(2, 3, num_layers=2) if end == "_l1" else base(2, 3)


def told(source):
    """The line of a refusal."""
    with pytest.raises(InputError) as caught:
        load_model(source)
    return str(caught.value)


def obeyed(model, source):
    """The model after the calls that refusals ask for, one for each weight."""
    for _ in range(4):
        try:
            return load_model(source(model))
        except InputError as error:
            call = re.search(r"; call (torch\.nn\.utils\..*\)) first$", str(error))[1]
            eval(call, {"torch": torch, "model": model})
    raise AssertionError("the calls do not help")


@pytest.mark.parametrize(("base", "end"), WEIGHTS, ids=lambda one: str(one)[-12:])
@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("of", [lambda m: m, lambda m: m.state_dict()], ids=["module", "state"])
def test_what_utilities_take_apart(base, end, utility, of):
    """The names that were found, and a call after which the model is read, as it computes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has newer ones
        for role in ("weight_hh", "weight_ih", "bias_ih")[: 3 if utility == "prune" else 2]:
            for wrap in (torch.nn.Sequential, lambda m: m):
                net, name = made(base, end), role + end
                model = wrap(UTILITIES[utility][0](net, name))
                assert re.search(
                    f"{name}{UTILITIES[utility][1]} takes {name} apart", told(of(model))
                )
                loaded = obeyed(model, of)
                value = getattr(net, name)
                full = next(role for role, own in loaded.tensors.items() if own.endswith(name))
                assert torch.equal(loaded.weights[full], value)
        net = UTILITIES[utility][0](made(base, end), f"weight_hh{end}")
        assert obeyed(UTILITIES[utility][0](net, f"weight_ih{end}"), of).n == 3


@pytest.mark.parametrize(("base", "end"), WEIGHTS, ids=lambda one: str(one)[-12:])
@pytest.mark.parametrize("utility", PARAMETRISED)
def test_state_dicts_of_parametrised_weights(base, end, utility):
    """A module has their values, its state dict what they are made of."""
    for wrap in (torch.nn.Sequential, lambda m: m):
        model = wrap(PARAMETRISED[utility](made(base, end), f"weight_hh{end}").eval())
        assert load_model(model).n == 3
        found = rf"parametrizations.weight_hh{end}.original0?, to which parametrize takes weight_hh"
        assert re.search(found, told(model.state_dict()))
        assert obeyed(model, lambda model: model.state_dict()).digest == load_model(model).digest


def test_layers_in_parts():
    """They are listed, with the reason; one that is whole is read beside them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apart = weight_norm(torch.nn.GRU(2, 3), "weight_hh_l0")
    both = torch.nn.ModuleDict(
        {"a": apart, "b": parametrizations.weight_norm(torch.nn.GRU(2, 3), "weight_hh_l0")}
    )
    found = layers(both.state_dict())
    assert [one.name for one in found] == ["a", "b"]
    assert all("takes weight_hh_l0 apart; call" in one.reason for one in found)
    assert "takes weight_hh_l0 apart" in layers(both)[0].reason
    assert layers(both)[1].cell == "gru"
    both["c"] = torch.nn.LSTM(2, 3)
    refused(
        both.state_dict(), WeightsError, "holds a.weight_hh_l0_g and .* takes weight_hh_l0 apart"
    )
    assert load_model(both.state_dict(), layer="c").name == "lstm"


@pytest.fixture(scope="module")
def quantised():
    """A model whose LSTM is packed as integers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = torch.nn.Sequential(torch.nn.LSTM(2, 3))
        return torch.ao.quantization.quantize_dynamic(model, {torch.nn.LSTM})


def test_quantised_modules(quantised, tmp_path):
    """A module, its state dict, its file, and a tensor: each says that it is quantised."""
    told = r"Sequential holds a quantised LSTM \(0\); pass the model before it was quantised"
    refused(quantised, WeightsError, told)
    told = "0._all_weight_values.0.param, weights that are quantised .* before it was quantised"
    refused(quantised.state_dict(), WeightsError, told)
    torch.save(quantised.state_dict(), tmp_path / "q.pt")
    refused(tmp_path / "q.pt", InputError, "quantised")
    state = torch.nn.GRU(2, 3).state_dict()
    state["weight_hh_l0"] = torch.quantize_per_tensor(state["weight_hh_l0"], 0.1, 0, torch.qint8)
    refused(state, WeightsError, "weight_hh_l0 is quantised; take the model before")


def test_scripted_modules():
    """What is compiled says nothing of its parts; its state dict does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(torch.nn.GRU(2, 3), torch.zeros(1, 1, 2))
    refused(
        traced, WeightsError, "GRU is TorchScript, .*; pass the module that was scripted, or its"
    )
    assert load_model(traced.state_dict()).name == "gru"


def test_tensors_without_plain_values():
    """Of the meta device, sparse, and of a scalar."""
    state = torch.nn.GRU(2, 3, device="meta").state_dict()
    refused(state, WeightsError, "is on the meta device, which holds no values; load the weights")
    state = torch.nn.GRU(2, 3).state_dict()
    state["weight_hh_l0"] = state["weight_hh_l0"].to_sparse()
    refused(state, WeightsError, r"no dense tensor; convert it with \.to_dense\(\)")
    leaky = {"W": torch.eye(3), "W_in": torch.ones(3, 1), "leak": torch.tensor(0.5)}
    refused(leaky, InputError, r"leak has shape \(\), .* expand it to", cell="leaky-tanh")
    leaky["leak"] = leaky["leak"].expand(3).clone()
    assert load_model(leaky, "leaky-tanh").n == 3
