"""Readouts: ε of predictions, which are within ‖C‖₂ times what outputs are within."""

import pytest
import torch
from draws import small
from refusals import refused

import rnnbounds
from rnnbounds.impl.errors import InputError, NotFiniteError
from rnnbounds.impl.models.loaded import Readout
from rnnbounds.impl.reading.adapters import load_model


@pytest.fixture
def model():
    """A GRU that contracts, a head, and one that expands."""
    torch.manual_seed(0)
    parts = {"head": torch.nn.Linear(3, 2), "loud": torch.nn.Linear(3, 1)}
    torch.nn.init.constant_(parts["loud"].weight, 100.0)
    return torch.nn.ModuleDict({"rnn": small(torch.nn.GRU, 2, 3)} | parts).eval()


@pytest.mark.parametrize("head", ["head", "loud", "head.weight"])
def test_predictions_keep_to_eps(model, head):
    """Two runs that agree on the last k inputs: their predictions are within ε, and not by luck."""
    found = rnnbounds.certify(model, inputs=1.0, eps=1e-2, readout=head)
    k = found.window(1e-2)
    C = model[head.removesuffix(".weight")].weight.detach().double()
    told = found.to_dict()["readout"]
    assert told["norm"] >= float(torch.linalg.matrix_norm(C, 2))
    assert told["norm"] == pytest.approx(float(torch.linalg.matrix_norm(C, 2)), rel=1e-9)
    assert (
        k
        == rnnbounds.certify(model, inputs=1.0, eps=1e-2 / told["norm"] * (1 - 1e-9)).windows[0][1]
    )
    x = torch.nn.functional.normalize(torch.randn(60, 50, 2, dtype=torch.float64), dim=2)
    with torch.no_grad():
        whole, short = (model["rnn"].double()(part.mT.transpose(1, 2).transpose(0, 1))[0][-1]
                        for part in (x, x[:, 50 - k:]))  # fmt: skip
    assert float(((whole - short) @ C.mT).norm(dim=1).max()) <= 1e-2


def test_edges():
    """A readout of zeros, one that is huge, and an ε that is none for it."""
    assert Readout("C", torch.zeros(1, 2)).within(1e-2) > 1e300
    huge = Readout("C", torch.full((1, 1), 1e300, dtype=torch.float64))
    assert 0 < huge.within(1.0) * 1e300 <= 1.0
    with pytest.raises(InputError, match="larger for a readout"):
        huge.within(1e-300)


def test_what_is_no_readout(model):
    """Not there, of other shapes, not finite, several stages; of a model that was read."""
    for name in ("tail", "tail.weight"):  # the latter as certificates call it
        refused(model, InputError, "no readout tail.weight; .* are .*head.weight", readout=name)
    refused(model, InputError, r"shape \(2,\) reads no output of 3", readout="head.bias")
    with torch.no_grad():
        model["head"].weight[0, 0] = torch.nan
    refused(model, NotFiniteError, "head.weight", readout="head")
    refused(load_model(model), InputError, "where it is read", readout="head")
    for several in ("loud,tanh", ("loud", "tanh")):
        refused(model, InputError, "several stages, .* name the linear layer", readout=several)
    own = model.state_dict() | {"loud.bias": torch.zeros(3)}
    refused(own, InputError, r"loud.bias of shape \(3,\) fits no loud.weight",
            readout="loud", layer="rnn")  # fmt: skip


@pytest.fixture
def deep():
    """A GRU that contracts, and a head of two layers with tanh between, in a Sequential."""
    torch.manual_seed(1)
    head = [torch.nn.Linear(3, 4), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(4, 2)]
    parts = {"rnn": small(torch.nn.GRU, 2, 3), "head": torch.nn.Sequential(*head)}
    return torch.nn.ModuleDict(parts).eval()


class Own(torch.nn.Module):
    """A module of one's own, of whose forward nothing is known."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 1)

    def forward(self, x):
        """Ten times what goes in."""
        return 10 * x


def test_what_a_module_says_of_its_parts(deep):
    """Weights of a recurrent layer or a normalisation are no readout, a layer with hooks is not
    known, and of a Sequential the first layer alone reads h."""
    refused(deep, InputError, "is a weight of a GRU", readout="rnn.weight_hh_l0")
    assert load_model(deep, readout="head.0").readout.outputs == 4
    deep["head"][3] = torch.nn.Linear(3, 2)
    refused(deep, InputError, "head computes head.0, Tanh before head.3", readout="head.3")
    deep["outer"] = torch.nn.Sequential(Own(), torch.nn.Linear(3, 1))
    assert load_model(deep, readout="outer.0.inner").readout.outputs == 1
    deep["outer"] = torch.nn.Sequential(torch.nn.LayerNorm(3), Own(), torch.nn.Linear(3, 1))
    refused(deep, InputError, "outer computes LayerNorm before outer", readout="outer.1.inner")


def tenfold(*given):
    """A hook that multiplies by ten what goes in or comes out."""
    return (10 * given[-1][0], *given[-1][1:]) if isinstance(given[-1], tuple) else 10 * given[-1]


def subclass(base, **names):
    """A class of torch's with other methods."""
    return type("Own", (base,), names)


def loud(base):
    """A class of torch's whose forward pass gives ten times as much."""
    return subclass(base, forward=lambda self, x: 10 * base.forward(self, x))


def with_hook(part, before=False):
    """The part with a hook, after it or before."""
    register = part.register_forward_pre_hook if before else part.register_forward_hook
    register(tenfold)
    return part


def patched(part):
    """The part with a forward of the object's own."""
    part.forward = lambda x: 10 * type(part).forward(part, x)
    return part


def always(self, x):
    """Monte-Carlo dropout, in eval mode too."""
    return torch.nn.functional.dropout(x, self.p, training=True)


def linear():
    """The readout of three numbers."""
    return torch.nn.Linear(3, 2)


MANY = torch.nn.Sequential
FORWARD, HOOKS = "has a forward of its own", "has hooks"
UNKNOWN = {  # the head, the name of its readout, and why it is refused
    "a part before": (lambda: MANY(loud(torch.nn.Identity)(), linear()), "head.1", FORWARD),
    "a part after": (lambda: MANY(linear(), loud(torch.nn.Tanh)()), "head.0", FORWARD),
    "a part of the user's": (lambda: MANY(Own(), linear()), "head.1", FORWARD),
    "Monte-Carlo dropout": (
        lambda: MANY(subclass(torch.nn.Dropout, forward=always)(), linear()), "head.1", FORWARD,
    ),
    "training mode": (
        lambda: MANY(torch.nn.Dropout(), linear()).train(), "head.1", "drops out in training mode",
    ),
    "hook on a part": (lambda: MANY(linear(), with_hook(torch.nn.Tanh())), "head.0", HOOKS),
    "hook before a part": (
        lambda: MANY(with_hook(torch.nn.Identity(), before=True), linear()), "head.1", HOOKS,
    ),
    "hook on the Sequential": (lambda: with_hook(MANY(linear())), "head.0", HOOKS),
    "hook before the Sequential": (lambda: with_hook(MANY(linear()), True), "head.0", HOOKS),
    "hook on the layer": (lambda: with_hook(linear()), "head", HOOKS),
    "hook on what holds it": (
        lambda: with_hook(torch.nn.ModuleDict({"inner": linear()})), "head.inner", HOOKS,
    ),
    "a Sequential of one's own": (lambda: loud(MANY)(linear()), "head.0", FORWARD),
    "a Sequential within": (lambda: MANY(linear(), loud(MANY)()), "head.0", FORWARD),
    "a layer of one's own": (lambda: loud(torch.nn.Linear)(3, 2), "head", FORWARD),
    "another call": (
        lambda: subclass(torch.nn.Linear, __call__=lambda self, x: 10 * x)(3, 2), "head", FORWARD,
    ),
    "an object's forward": (lambda: patched(linear()), "head", FORWARD),
    "an object's forward within": (
        lambda: MANY(patched(torch.nn.Identity()), linear()), "head.1", FORWARD,
    ),
}  # fmt: skip


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_parts_of_which_nothing_is_known(model, unknown):
    """They are refused by name: their output may be ten times that of torch's part."""
    make, readout, why = UNKNOWN[unknown]
    model["head"] = make()
    refused(model, InputError, f"head.* {why}", readout=readout)


def test_parts_that_compute_what_torch_says(model):
    """Dropout in eval mode or of p = 0, and a subclass that has other arguments alone."""

    def narrow(self):
        MANY.__init__(self, linear())

    for head in (
        MANY(torch.nn.Dropout().eval(), linear()), MANY(torch.nn.Dropout(0.0), linear()),
        MANY(torch.nn.Identity(), MANY(linear())), subclass(MANY, __init__=narrow)(),
    ):  # fmt: skip
        model["head"] = head
        name = next(name for name, part in head.named_modules() if hasattr(part, "in_features"))
        assert load_model(model, readout=f"head.{name}").readout.outputs == 2


@pytest.mark.parametrize("cell", ["lstm", "rnn-tanh"])
def test_a_layer_over_a_concatenation(cell, tmp_path):
    """ε is of its outputs on the last state and the last input, which both runs share."""
    torch.manual_seed(3)
    rnn = small(torch.nn.LSTM if cell == "lstm" else torch.nn.RNN, 2, 3)
    model = torch.nn.ModuleDict({"rnn": rnn, "head": torch.nn.Linear(5, 2)}).eval()
    with torch.no_grad():
        model["head"].weight[:, 2:] *= 4
    f = load_model(model, readout="head[2:5]").readout
    assert (f.name, f.outputs) == ("head.weight[2:5]", 2)
    norm = float(torch.linalg.matrix_norm(model["head"].weight[:, 2:].detach().double(), 2))
    assert f.norm == pytest.approx(norm)
    assert norm > 1.2 * float(torch.linalg.matrix_norm(model["head"].weight[:, :3].detach(), 2))
    found = rnnbounds.certify(model, inputs=1.0, eps=1e-2, readout="head[2:5]")
    assert "head.weight" not in found.unread
    k = found.window(1e-2)
    x = torch.nn.functional.normalize(torch.randn(50, 60, 2), dim=2)
    with torch.no_grad():
        whole, short = (
            model["head"](torch.cat([part[-1], rnn(part)[0][-1]], 1)) for part in (x, x[50 - k :])
        )
    assert float((whole - short).norm(dim=1).max()) <= 1e-2
    again = load_model(model.state_dict(), cell if cell == "rnn-tanh" else None, layer="rnn",
                       readout="head.weight[2:5]").readout  # fmt: skip
    assert again.stated() == f.stated()
    assert f.stated() != load_model(model, readout="head[0:3]").readout.stated()
