"""Weights that torch stores in parts: read as torch computes them, or a call that makes them whole.

The module, its state dict, a file of it and the module after the utility was removed are one model.
"""

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


def removed(name):
    """The function that removes an old utility."""
    return getattr(torch.nn.utils, f"remove_{name}")


UTILITIES = {
    "weight_norm": (weight_norm, removed("weight_norm")),
    "weight_norm of all": (lambda m, name: weight_norm(m, name, None), removed("weight_norm")),
    "weight_norm of columns": (lambda m, name: weight_norm(m, name, 1), removed("weight_norm")),
    "spectral_norm": (spectral_norm, removed("spectral_norm")),
    "prune": (lambda m, name: prune.l1_unstructured(m, name, 2), prune.remove),
    "pruned twice": (
        lambda m, name: prune.random_unstructured(prune.l1_unstructured(m, name, 2), name, 1),
        prune.remove,
    ),
    "parametrized weight_norm": (parametrizations.weight_norm, parametrize.remove_parametrizations),
    "parametrized spectral_norm": (
        parametrizations.spectral_norm, parametrize.remove_parametrizations
    ),
}  # fmt: skip
PARAMETRISED = {
    "orthogonal": parametrizations.orthogonal,
    "tanh": lambda m, name: parametrize.register_parametrization(m, name, torch.nn.Tanh()),
}
WEIGHTS = [
    (torch.nn.GRU, "_l0"),
    (torch.nn.LSTM, "_l1"),
    (torch.nn.GRUCell, ""),
    (torch.nn.RNN, "_l0"),
]
EACH = pytest.mark.parametrize(("base", "end"), WEIGHTS, ids=lambda one: str(one)[-12:])


@pytest.fixture(autouse=True)
def quiet():
    """torch has newer utilities, and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def made(base, end):
    """A module with that weight."""
    torch.manual_seed(0)
    return base(2, 3, num_layers=2) if end == "_l1" else base(2, 3)


@EACH
@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("path", ["", "0."])
def test_utilities_are_read_as_they_compute(base, end, utility, path, tmp_path):
    """One weight, then two: a module, its state dict and its file have the computed values."""
    apart, whole = UTILITIES[utility]
    net = made(base, end)
    model = torch.nn.Sequential(net) if path else net
    cell = load_model(model).name
    for role in ("weight_hh", "weight_ih"):
        apart(net, f"{role}{end}")
        net.eval()
        torch.save(model.state_dict(), tmp_path / "m.pt")
        read = [load_model(one, cell) for one in (model, model.state_dict(), tmp_path / "m.pt")]
        net(torch.zeros(2, 2)) if end == "" else net(torch.zeros(1, 2, 2))
        for one in read:
            value = getattr(net, role + end).detach()
            assert torch.equal(one.weights[role + end.replace("_l0", "")], value)
            assert one.tensors[role + end.replace("_l0", "")] == f"{path}{role}{end}"
            assert one.unread == ()
            noted = re.search(r"\(weights as \w+ computes? them on this machine", one.source)
            assert bool(noted) == ("prun" not in utility)
        assert len({one.digest for one in read}) == 1
    for role in ("weight_hh", "weight_ih"):
        whole(net, f"{role}{end}")
    assert load_model(model, cell).digest == read[0].digest
    assert "computes" not in load_model(model, cell).source


@EACH
@pytest.mark.parametrize("utility", PARAMETRISED)
def test_state_dicts_of_other_parametrised_weights(base, end, utility):
    """A module has their values; of its state dict the line has a call that makes it whole."""
    for wrap in (torch.nn.Sequential, lambda m: m):
        model = wrap(PARAMETRISED[utility](made(base, end), f"weight_hh{end}").eval())
        found = rf"parametrizations.weight_hh{end}.original, to which parametrize takes weight_hh"
        with pytest.raises(InputError, match=found) as caught:
            load_model(model.state_dict())
        digest = load_model(model).digest
        call = re.search(r"; call (torch\.nn\.utils\..*\)) first$", str(caught.value))[1]
        eval(call, {"torch": torch, "model": model})
        assert load_model(model.state_dict(), load_model(model).name).digest == digest


def test_hooks_are_undone_and_others_are_refused():
    """Reading leaves the module as it was; what iterates at each use, and other hooks, are not
    known; nor is a subclass of torch's hooks."""
    net = spectral_norm(torch.nn.GRU(2, 3), "weight_hh_l0")
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    held = list(map(id, net._flat_weights))
    refused(net, WeightsError, r"weight_hh_l0 has another value at each use; call \.eval\(\) first")
    assert load_model(net.eval()).n == 3
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())
    assert held == list(map(id, net._flat_weights))
    net.register_forward_pre_hook(lambda module, inputs: None)
    refused(net, WeightsError, "has hooks")

    class Own(prune.CustomFromMask):
        def apply_mask(self, module):
            return 2 * super().apply_mask(module)

    net = torch.nn.GRU(2, 3)
    Own.apply(net, "weight_hh_l0", mask=torch.ones(9, 3))
    refused(net, WeightsError, "takes weight_hh_l0 apart")


def test_parts_that_do_not_fit_stay_parts():
    """A mask that is none, a norm of another shape, a vector that is not this matrix's, parts that
    claim more than they store: the line with the call, and nothing is computed."""
    state = dict(torch.nn.RNN(2, 3).state_dict())
    w = state.pop("weight_hh_l0")
    for other in (
        {"_orig": w, "_mask": torch.full_like(w, 0.5)}, {"_orig": w, "_mask": w[:1] * 0},
        {"_g": torch.ones(2, 1), "_v": w}, {"_g": torch.ones(3), "_v": w},
        {"_orig": w, "_u": torch.ones(2), "_v": torch.ones(3)},
        {"_orig": w, "_mask": torch.ones(1).expand(10**6, 10**6)},
        {"_g": torch.ones(3, 1, dtype=torch.int64), "_v": w},
    ):  # fmt: skip
        parts = {f"weight_hh_l0{end}": tensor for end, tensor in other.items()}
        refused(state | parts, WeightsError, "takes weight_hh_l0 apart; call", cell="rnn-tanh")


def test_the_axis_of_a_square_weight():
    """spectral_norm over columns, which no layer has by default, is not read as one over rows."""
    torch.manual_seed(0)
    net = parametrizations.spectral_norm(torch.nn.RNN(2, 5), "weight_hh_l0", 5, dim=1).eval()
    assert load_model(net).n == 5
    refused(net.state_dict(), WeightsError, "takes weight_hh_l0 apart; call", cell="rnn-tanh")


def test_layers_in_parts():
    """They are listed as read, or with the reason; notes are of the layer that is read alone."""
    both = torch.nn.ModuleDict(
        {
            "a": weight_norm(torch.nn.GRU(2, 3), "weight_hh_l0"),
            "b": parametrizations.orthogonal(torch.nn.GRU(2, 3), "weight_hh_l0"),
            "c": torch.nn.LSTM(2, 3),
            "head": weight_norm(torch.nn.Linear(3, 1)),
        }
    )
    found = layers(both.state_dict())
    assert {one.name: one.cell for one in found} == {"a": "gru", "b": None, "c": "lstm"}
    assert "takes weight_hh_l0 apart; call" in next(one for one in found if one.name == "b").reason
    assert [one.cell for one in layers(both)] == ["gru", "gru", "lstm"]
    state = both.state_dict()
    assert load_model(state, layer="c").source == "state dict"
    read = load_model(state, layer="c", readout="head")
    assert read.source == "state dict (weights as weight_norm computes them on this machine)"
    (head,) = read.readout.tensors.values()
    assert torch.equal(head, both["head"].weight)
    of_module = load_model(both, layer="c", readout="head")
    assert torch.equal(*of_module.readout.tensors.values(), head)
    assert of_module.source == read.source.replace("state dict", "ModuleDict")


def test_no_cell_has_roles_that_look_like_parts():
    """A cell's own weights are never taken for the parts of one."""
    from rnnbounds.impl.cells.table import CELLS
    from rnnbounds.impl.reading.recognition.parts import weights_in_parts

    for kind in CELLS.values():
        assert list(weights_in_parts(list(kind.layout(()).shapes))) == []


def test_tensors_without_plain_values():
    """Of the meta device, and sparse."""
    state = torch.nn.GRU(2, 3, device="meta").state_dict()
    refused(state, WeightsError, "is on the meta device, which holds no values; load the weights")
    state = torch.nn.GRU(2, 3).state_dict()
    state["weight_hh_l0"] = state["weight_hh_l0"].to_sparse()
    refused(state, WeightsError, r"no dense tensor; convert it with \.to_dense\(\)")
