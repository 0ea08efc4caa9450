"""Readouts: ε of predictions, which are within ‖C‖₂ times what outputs are within."""

from copy import deepcopy

import pytest
import torch
from refusals import refused

import rnnbounds
from rnnbounds.impl.errors import InputError, NotFiniteError
from rnnbounds.impl.models.readout import Linear, Readout
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.readout import ReadoutError
from rnnbounds.impl.reading.recognition.misfit import WeightsError


@pytest.fixture
def model():
    """A GRU that contracts, a head, and one that expands."""
    torch.manual_seed(0)
    parts = {
        "rnn": torch.nn.GRU(2, 3),
        "head": torch.nn.Linear(3, 2),
        "loud": torch.nn.Linear(3, 1),
    }
    with torch.no_grad():
        for part in parts["rnn"].parameters():
            part /= 4
        parts["loud"].weight.fill_(100.0)
    return torch.nn.ModuleDict(parts).eval()


@pytest.mark.parametrize("head", ["head", "loud", "head.weight"])
def test_predictions_keep_to_eps(model, head):
    """Two runs that agree on the last k inputs: their predictions are within ε, and not by luck."""
    found = rnnbounds.certify(model, 1.0, 1e-2, readout=head)
    k = found.window(1e-2)
    C = model[head.removesuffix(".weight")].weight.detach().double()
    told = found.to_json()["readout"]
    assert told["norm"] >= float(torch.linalg.matrix_norm(C, 2))
    assert told["norm"] == pytest.approx(float(torch.linalg.matrix_norm(C, 2)), rel=1e-9)
    assert k == rnnbounds.certify(model, 1.0, 1e-2 / told["norm"] * (1 - 1e-9)).windows[0][1]
    x = torch.nn.functional.normalize(torch.randn(60, 50, 2, dtype=torch.float64), dim=2)
    with torch.no_grad():
        whole, short = (model["rnn"].double()(part.mT.transpose(1, 2).transpose(0, 1))[0][-1]
                        for part in (x, x[:, 50 - k:]))  # fmt: skip
    assert float(((whole - short) @ C.mT).norm(dim=1).max()) <= 1e-2


def test_gain_is_of_predictions(model):
    """‖C‖₂ times that of the output, rounded up."""
    plain, read = (rnnbounds.certify(model, 1.0, 1e-2, readout=r) for r in (None, "loud"))
    assert "readout" not in plain.to_json()
    scale = read.to_json()["readout"]["norm"]
    assert read.constants["gain"] >= plain.constants["gain"] * scale * (1 - 1e-15)


def test_edges():
    """A readout of zeros, one that is huge, and an ε that is none for it."""
    assert Readout((Linear("C", torch.zeros(1, 2)),)).within(1e-2) > 1e300
    huge = Readout((Linear("C", torch.full((1, 1), 1e300, dtype=torch.float64)),))
    assert 0 < huge.within(1.0) * 1e300 <= 1.0
    with pytest.raises(InputError, match="larger for a readout"):
        huge.within(1e-300)


def test_what_is_no_readout(model):
    """Not there, of other shapes, not finite; of a model that was read; and beside a training."""
    refused(model, ReadoutError, "no readout tail.weight; .* are .*head.weight", readout="tail")
    refused(model, ReadoutError, r"shape \(2,\) reads no output of 3", readout="head.bias")
    with torch.no_grad():
        model["head"].weight[0, 0] = torch.nan
    refused(model, NotFiniteError, "head.weight", readout="head")
    refused(load_model(model), WeightsError, "where it is read", readout="head")


@pytest.fixture
def deep():
    """A GRU that contracts, and a head of two layers with tanh between, in a Sequential."""
    torch.manual_seed(1)
    head = [torch.nn.Linear(3, 4), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(4, 2)]
    parts = {"rnn": torch.nn.GRU(2, 3), "head": torch.nn.Sequential(*head)}
    with torch.no_grad():
        for part in parts["rnn"].parameters():
            part /= 4
    return torch.nn.ModuleDict(parts).eval()


@pytest.mark.parametrize("names", ["head.0,tanh,head.3", ("head.0.weight", "tanh", "head.3")])
def test_a_chain_keeps_to_eps(deep, names):
    """By norms of its layers and of their product, which biases are no part of; the digest has
    them."""
    found = rnnbounds.certify(deep, 1.0, 1e-2, readout=names)
    told, norms = found.to_json()["readout"], []
    for layer in (deep["head"][0], deep["head"][3]):
        norms.append(float(torch.linalg.matrix_norm(layer.weight.detach().double(), 2)))
    assert told["chain"] == ["head.0.weight", "tanh", "head.3.weight"]
    assert told["norms"] == [pytest.approx(norms[0]), 1.0, pytest.approx(norms[1])]
    both = deep["head"][3].weight.detach().double() @ deep["head"][0].weight.detach().double()
    through = float(torch.linalg.matrix_norm(both, 2))
    assert told["norm"] == pytest.approx((norms[0] * norms[1] + through) / 2)
    assert not {name for name in found.unread if name.startswith("head")}
    k = found.window(1e-2)
    x = torch.nn.functional.normalize(torch.randn(50, 60, 2), dim=2)
    with torch.no_grad():
        whole, short = (deep["head"](deep["rnn"](part)[0][-1]) for part in (x, x[50 - k :]))
    assert float((whole - short).norm(dim=1).max()) <= 1e-2
    with torch.no_grad():
        deep["head"][0].bias += 1
    other = rnnbounds.certify(deep, 1.0, 1e-2, readout=names).to_json()["readout"]
    near, moved = told.pop("reached"), other.pop("reached")  # with biases slopes are others
    assert moved["norm"] < near["norm"] < told["norm"]
    assert moved["radius"] == near["radius"] == found.constants["B_h"]
    assert {**other, "sha256": ""} == {**told, "sha256": ""}
    assert other["sha256"] != told["sha256"]


def test_what_is_no_chain(deep):
    """Stages that do not fit, are none, or are not the ones of the module's Sequential."""
    refused(deep, ReadoutError, r"head.0.weight of shape \(4, 3\) reads no output of 4",
            readout="head.0,tanh,head.0")  # fmt: skip
    refused(deep, ReadoutError, "tanh has no linear layer", readout="tanh")
    refused(deep, ReadoutError, "no readout tan.weight; .* 4 columns are head.3.weight",
            readout="head.0,tan,head.3")  # fmt: skip
    for names in ("head.0,relu,head.3", "head.0,head.3", "head.3", "head.0,sigmoid"):
        if names == "head.3":
            deep["head"][3] = torch.nn.Linear(3, 2)
        refused(deep, ReadoutError, "is not what head computes: name head.0,tanh,head.3",
                readout=names)  # fmt: skip
    own = deep.state_dict()
    own["head.0.bias"] = torch.zeros(3)
    refused(own, ReadoutError, r"head.0.bias of shape \(3,\) fits no head.0.weight",
            readout="head.0", layer="rnn")  # fmt: skip


def test_what_a_module_says_of_its_parts(deep):
    """Weights of a recurrent layer are no readout, a layer with hooks is not known; what stands in
    no Sequential may be anything."""
    refused(deep, ReadoutError, "is a weight of a GRU", readout="rnn.weight_hh_l0")
    deep["tail"] = torch.nn.Linear(4, 1)
    assert load_model(deep, readout="tanh,head.0,tanh").readout.outputs == 4
    shared = torch.nn.Tanh()  # stands in the Sequential twice
    layers = torch.nn.Linear(3, 4), shared, torch.nn.Linear(4, 4), shared, torch.nn.Linear(4, 1)
    deep["twice"] = torch.nn.Sequential(*layers)
    assert load_model(deep, readout="twice.0,tanh,twice.2,tanh").readout.outputs == 4
    refused(deep, ReadoutError, "not what twice computes", readout="twice.0,tanh,twice.2,twice.4")
    block = torch.nn.ModuleDict({"inner": deepcopy(deep["twice"])})
    deep["outer"] = torch.nn.Sequential(block, torch.nn.Linear(1, 1))
    assert load_model(deep, readout="outer.0.inner.0,identity,tanh").readout.outputs == 4
    refused(deep, ReadoutError, "not what outer.0.inner", readout="outer.0.inner.0,relu")
    deep["after"] = torch.nn.Linear(2, 1)
    assert load_model(deep, readout="head.0,tanh,head.3,after").readout.outputs == 1
    deep["head"][0].register_forward_hook(lambda *_: None)
    refused(deep, ReadoutError, "head.0 has hooks", readout="head.0")


@pytest.mark.parametrize("cell", ["lstm", "rnn-tanh"])
def test_a_layer_over_a_concatenation(cell, tmp_path):
    """ε is of its outputs on the last state and the last input, which both runs share."""
    torch.manual_seed(3)
    rnn = (torch.nn.LSTM if cell == "lstm" else torch.nn.RNN)(2, 3)
    model = torch.nn.ModuleDict({"rnn": rnn, "head": torch.nn.Linear(5, 2)}).eval()
    with torch.no_grad():
        for part in rnn.parameters():
            part /= 4
        model["head"].weight[:, 2:] *= 4
    f = load_model(model, readout="head[2:5]").readout
    assert (f.names, f.outputs) == (("head.weight[2:5]",), 2)
    norm = float(torch.linalg.matrix_norm(model["head"].weight[:, 2:].detach().double(), 2))
    assert f.norm == pytest.approx(norm)
    assert norm > 1.2 * float(torch.linalg.matrix_norm(model["head"].weight[:, :3].detach(), 2))
    found = rnnbounds.certify(model, 1.0, 1e-2, readout="head[2:5]")
    assert "head.weight" not in found.unread
    k = found.window(1e-2)
    x = torch.nn.functional.normalize(torch.randn(50, 60, 2), dim=2)
    with torch.no_grad():
        whole, short = (
            model["head"](torch.cat([part[-1], rnn(part)[0][-1]], 1)) for part in (x, x[50 - k :])
        )
    assert float((whole - short).norm(dim=1).max()) <= 1e-2
    again = load_model(model.state_dict(), cell if cell == "rnn-tanh" else None, layer="rnn",
                       readout=["head.weight[2:5]"]).readout  # fmt: skip
    assert again.stated() == f.stated()
    assert f.stated() != load_model(model, readout="head[0:3]").readout.stated()


def test_columns_that_are_none(deep):
    """Too few, beyond the matrix, in a chain with activations, or not first."""
    deep["wide"] = torch.nn.Linear(5, 4)
    refused(deep, ReadoutError, r"name .* as wide.weight\[0:3\]", readout="wide")
    refused(deep, ReadoutError, "reads no output of 3", readout="wide[0:2]")
    refused(deep, ReadoutError, "reads no output of 3", readout="wide[3:6]")
    refused(deep, ReadoutError, "no activation", readout="wide[0:3],tanh")
    refused(deep, ReadoutError, "no activation", readout="relu,wide[0:3]")
    refused(deep, ReadoutError, "holds no readout", readout="none[0:3]")


@pytest.fixture
def normal():
    """A GRU that contracts, and a head with a normalisation of each kind."""
    torch.manual_seed(2)
    head = [
        torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.ReLU(), torch.nn.Linear(4, 4),
        torch.nn.RMSNorm(4, elementwise_affine=False), torch.nn.Linear(4, 2),
    ]  # fmt: skip
    parts = {"rnn": torch.nn.GRU(2, 3), "head": torch.nn.Sequential(*head)}
    with torch.no_grad():
        for part in parts["rnn"].parameters():
            part /= 4
        parts["head"][1].weight.uniform_(0.5, 1.5)
        parts["head"][1].bias.uniform_(-1, 1)
    return torch.nn.ModuleDict(parts).eval()


NORMAL = "head.0,layer-norm-1e-5:head.1,relu,head.3,rms-norm-1.1920928955078125e-07,head.5"


def test_normalisations_keep_to_eps(normal):
    """Of a module and of its state dict; γ, β and ε are part of what a certificate is about."""
    found = rnnbounds.certify(normal, 1.0, 1e-2, readout=NORMAL)
    told = found.to_json()["readout"]
    assert told["chain"][1] == "layer-norm-1e-05:head.1"
    assert told.pop("reached")["norm"] < 1e-3 * told["norm"]
    assert not {name for name in found.unread if name.startswith("head")}
    k = found.window(1e-2)
    x = torch.nn.functional.normalize(torch.randn(90, 60, 2), dim=2)
    with torch.no_grad():
        whole, short = (normal["head"](normal["rnn"](part)[0][-1]) for part in (x, x[90 - k :]))
    assert float((whole - short).norm(dim=1).max()) <= 1e-2
    held = normal.state_dict()
    asked = {"layer": "rnn", "readout": told["chain"]}
    assert load_model(held, **asked).readout.to_json() == told
    held["head.1.bias"] = held["head.1.bias"] + 1
    assert load_model(held, **asked).readout.to_json()["sha256"] != told["sha256"]
    other = [name.replace("1e-05", "1e-06") for name in told["chain"]]
    assert load_model(held, layer="rnn", readout=other).readout.norm > 2 * told["norm"]


def test_what_is_no_normalisation(normal):
    """Without its ε, with another one, of other numbers, of another kind, of a batch, hooked."""
    refused(normal, ReadoutError, r"name a normalisation with its ε, as layer-norm-1e-05:head.1",
            readout="head.0,head.1")  # fmt: skip
    for name in ("layer-norm:head.1", "layer-norm-0:head.1", "rms-norm-1e:head.1", "rms-normal"):
        refused(normal, ReadoutError, "no normalisation with an ε above 0", readout=name)
    refused(normal, ReadoutError, "computes layer-norm-1e-05:head.1, not rms-norm-1e-05:head.1",
            readout="head.0,rms-norm-1e-05:head.1")  # fmt: skip
    refused(normal, ReadoutError, "is not what head computes: name head.0,layer-norm-1e-05:head.1,",
            readout="head.0,relu,head.3")  # fmt: skip
    refused(
        normal, ReadoutError, "normalises no 3 numbers", readout="layer-norm-1e-05:head.1,head.0"
    )
    refused(normal, ReadoutError, "holds no tail.weight; leave :tail out",
            readout="head.0,layer-norm-1e-05:tail")  # fmt: skip
    refused(normal, ReadoutError, "has no linear layer", readout="layer-norm-1e-05")
    normal["tail"] = torch.nn.BatchNorm1d(4)
    refused(normal, ReadoutError, "tail is a batch normalisation.* fold it",
            readout="head.0,layer-norm-1e-05:tail")  # fmt: skip
    normal["group"] = torch.nn.GroupNorm(2, 4)
    refused(normal, ReadoutError, "group computes GroupNorm", readout="head.0,rms-norm-1e-05:group")
    normal["head"][1].register_forward_hook(lambda *_: None)
    refused(normal, ReadoutError, "head.1 has hooks", readout=NORMAL)
