"""Weights that a module computes of others: read as its forward pass reads them, and refused in a
state dict, which does not say what is computed of it."""

import warnings

import pytest
import torch
from refusals import refused
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm, weight_norm

from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.reading.adapters import layers, load_model

UTILITIES = {
    "weight_norm": weight_norm,
    "spectral_norm": spectral_norm,
    "prune": lambda m, name: prune.l1_unstructured(m, name, 2),
    "pruned twice": lambda m, name: prune.random_unstructured(
        prune.l1_unstructured(m, name, 2), name, 1
    ),
    "parametrized weight_norm": parametrizations.weight_norm,
    "orthogonal": parametrizations.orthogonal,
    "tanh": lambda m, name: parametrize.register_parametrization(m, name, torch.nn.Tanh()),
}
WEIGHTS = [(torch.nn.GRU, "_l0"), (torch.nn.LSTM, "_l1"), (torch.nn.GRUCell, "")]


@pytest.fixture(autouse=True)
def quiet():
    """torch has newer utilities, and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize(("base", "end"), WEIGHTS, ids=lambda one: str(one)[-12:])
@pytest.mark.parametrize("utility", UTILITIES)
def test_weights_are_those_of_a_forward_pass(base, end, utility):
    """Also after what they are computed of was loaded anew, when an attribute may be stale."""
    torch.manual_seed(0)
    net = base(2, 3, num_layers=2) if end == "_l1" else base(2, 3)
    for role in ("weight_hh", "weight_ih"):
        UTILITIES[utility](net, f"{role}{end}")
    net.eval()
    state = {name: part * (1 if "mask" in name else 0.5) for name, part in net.state_dict().items()}
    net.load_state_dict(state)
    held = list(map(id, getattr(net, "_flat_weights", ())))
    read = load_model(torch.nn.Sequential(net), layer="0")
    assert held == list(map(id, getattr(net, "_flat_weights", ())))
    net(torch.zeros(2, 2)) if end == "" else net(torch.zeros(1, 2, 2))
    for role in ("weight_hh", "weight_ih"):
        value = getattr(net, role + end).detach()
        assert torch.equal(read.weights[role + end.replace("_l0", "")], value)
    assert read.unread == ()
    refused(net.state_dict(), InputError, r"(_orig|_g|\.original\d?), .*in eval mode")
    assert [one.cell for one in layers(net.state_dict())] == [None]


def test_hooks_are_undone_and_others_are_refused():
    """Reading leaves the module as it was; what iterates at each use, and other hooks, are not
    known."""
    net = spectral_norm(torch.nn.GRU(2, 3), "weight_hh_l0")
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    refused(net, InputError, r"weight_hh_l0 has another value at each use; call \.eval\(\) first")
    assert load_model(net.eval()).n == 3
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())
    net.register_forward_pre_hook(lambda module, inputs: None)
    refused(net, InputError, "has hooks")


@pytest.mark.parametrize("part", ["weight_hh_l0_raw", "weight_hh_l0_orig", "weight_hh_l0_mask"])
def test_parts_beside_a_weight(part):
    """A part makes its weight another one, also where that is stored."""
    state = torch.nn.GRU(2, 3).state_dict()
    refused(state | {part: torch.ones(9, 3)}, InputError, rf"holds {part}, of which .* in eval")


def test_quantised_modules():
    """Neither the module nor its state dict has weights in floats."""
    whole = torch.nn.Sequential(torch.nn.LSTM(2, 3))
    net = torch.ao.quantization.quantize_dynamic(whole, {torch.nn.LSTM})
    refused(net, InputError, "holds a quantised LSTM .*; pass the model before it was quantised")
    refused(net.state_dict(), InputError, "pass the model before it was quantised")


def saved(held, path, **options):
    """A file of torch.save."""
    torch.save(held, path, **options)
    return path


@pytest.mark.parametrize("new", [True, False])
def test_files_of_torch(tmp_path, new):
    """A state dict with all dtypes, views and parameters beside it, alone or in a checkpoint, is
    read; whatever needs a class of its own is not."""
    net = torch.nn.GRU(2, 3)
    options, path = {"_use_new_zipfile_serialization": new}, tmp_path / "m.pt"
    dtypes = (torch.bfloat16, torch.int8, torch.bool, torch.complex64)
    others = {f"x.{i}": torch.ones(4, 2).to(dtype).T[1:] for i, dtype in enumerate(dtypes)}
    held = net.state_dict() | {"x.step": 3, "x.p": torch.nn.Parameter(torch.ones(1))} | others
    assert load_model(saved(held, path, **options)).digest == load_model(net).digest
    check = {"state_dict": net.state_dict(), "epoch": 3, "optimizer": [{"state": {}}]}
    assert load_model(saved(check, path, **options)).digest == load_model(net).digest
    for other in (net, {"rnn": net.state_dict(), "loss": torch.nn.MSELoss()}, {"make": print}):
        refused(saved(other, path, **options), FileError, "code: .*; save model.state_dict()")


def test_scripts(tmp_path):
    """TorchScript is refused as a file, and read by its names as a module."""
    net = torch.jit.script(torch.nn.GRU(2, 3))
    assert load_model(net).name == "gru"
    net.save(tmp_path / "m.pt")
    refused(tmp_path / "m.pt", FileError, "is TorchScript; load it with torch.jit.load")
