"""torch's recurrent modules: read as they compute, and not where that is not known."""

import pytest
import torch
from refusals import refused
from torch.nn.utils import parametrizations, parametrize

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

LAYERS = [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU]
CELLS = [torch.nn.RNNCell, torch.nn.LSTMCell, torch.nn.GRUCell]
EACH = pytest.mark.parametrize("base", LAYERS + CELLS, ids=lambda base: base.__name__)


def made(base):
    """The module as d = 2, n = 3."""
    torch.manual_seed(0)
    return base(2, 3)


@EACH
def test_tensors_have_their_names_in_the_module(base):
    """The path of the one recurrent part comes first; what stands beside it is listed."""
    whole = torch.nn.Sequential(made(base), torch.nn.Linear(3, 1))
    loaded = load_model(whole, layer="0")
    assert set(loaded.tensors.values()) == {f"0.{name}" for name in whole[0].state_dict()}
    assert loaded.unread == ("1.bias", "1.weight")
    assert loaded.digest == load_model(whole[0]).digest


@EACH
def test_what_changes_nothing_is_read(base):
    """A parameter that is left out on purpose, a subclass of the same forward, layers without
    dropout; transcripts have what is refused."""
    net = made(base)
    net.register_parameter("peep", torch.nn.Parameter(torch.ones(3)))
    loaded = load_model(torch.nn.Sequential(net), ignore=["0.peep"], layer="0")
    assert loaded.ignored == ("0.peep",)
    assert "0.peep" not in loaded.tensors.values()
    assert load_model(made(type("Named", (base,), {}))).source == "Named"
    if base in LAYERS:
        assert load_model(base(2, 3, 2, dropout=0.5).eval()).name.startswith("stacked-")
        assert load_model(base(2, 3, 2)).n == 3


@EACH
def test_what_overrides_a_name_is_not_known(base):
    """A method that the forward pass calls, of a subclass or of the object, and hooks around it."""
    helper = next(name for name in ("check_forward_args", "__call__") if hasattr(base, name))
    refused(made(type("Named", (base,), {helper: None})), InputError, "Named has a forward of its")
    net = made(base)
    net.forward = lambda x: 10 * base.forward(net, x)
    refused(net, InputError, "has a forward of its own")
    whole = torch.nn.Sequential(made(base))
    whole.register_forward_pre_hook(lambda module, inputs: (10 * inputs[0],))
    refused(whole, InputError, "Sequential has hooks", layer="0")


@EACH
def test_parametrised_weights_have_their_values(base):
    """Weight normalisation is read as it computes; what changes at each use is refused."""
    role = "weight_hh_l0" if base in LAYERS else "weight_hh"
    net = parametrizations.weight_norm(made(base), role)
    loaded = load_model(torch.nn.Sequential(net), layer="0")
    assert torch.equal(loaded.weights["weight_hh"], getattr(net, role).detach())
    assert loaded.tensors["weight_hh"] == f"0.{role}"
    assert loaded.unread == ()

    class Noise(torch.nn.Module):
        def forward(self, w):
            return w + torch.rand(()) if self.training else w

    net = made(base)
    parametrize.register_parametrization(net, role, Noise())
    refused(net, InputError, r"another value at each use; call \.eval\(\) first")
    assert load_model(net.eval()).n == 3


def test_one_module_under_two_names():
    """A module that is registered twice is one; its state dict holds two cells."""
    whole = torch.nn.ModuleDict({"a": made(torch.nn.LSTM)})
    whole["b"] = whole["a"]
    assert load_model(whole).tensors["weight_hh"] == "a.weight_hh_l0"
    refused(whole.state_dict(), InputError, r"several cells \(a, b\)")
    left = [name for name in whole.state_dict() if name.startswith("b.")]
    assert load_model(whole.state_dict(), ignore=left).ignored == tuple(left)
    assert load_model(whole.state_dict(), ignore=["b.weight_hh_l0"]).tensors["weight_hh"][0] == "a"


def test_the_nonlinearity_is_the_one_that_runs():
    """torch.nn.RNN runs its `mode`, RNNCell its `nonlinearity`."""
    layer, cell = made(torch.nn.RNN), made(torch.nn.RNNCell)
    layer.mode = "RNN_RELU"
    cell.nonlinearity = "relu"
    assert load_model(layer).name == load_model(cell).name == "rnn-relu"
    layer.mode, cell.nonlinearity = "RNN_SIN", "sin"
    for net in (layer, cell):
        refused(net, InputError, "RNN_SIN is not supported")
    lstm = made(torch.nn.LSTM)
    lstm.mode = "RNN_TANH"
    assert load_model(lstm).name == "lstm"


@EACH
def test_values_that_are_no_tensors_are_no_comment(base):
    """What stands in a state dict beside the weights belongs to it, a tensor or not."""
    state = {f"rnn.{name}": part for name, part in made(base).state_dict().items()}
    cell = load_model(made(base)).name
    refused(state | {"rnn.nonlinearity": "relu"}, InputError, "holds rnn.nonlinearity", cell=cell)

    class Key(str):
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return self is other

    twice = {**state, Key("rnn.bias_hh" + "_l0" * (base in LAYERS)): torch.zeros(1)}
    refused(twice, InputError, "two keys that read alike", cell=cell)


def test_parts_of_tensors_are_not_lost():
    """Below the name of a weight stands nothing else's, and a role is one in any path."""
    state = dict(made(torch.nn.LSTM).state_dict())
    for name in ("weight_hh_l0.weight", "x.bias_ih_l0.original", "x.bias_ih.0", "bias_hh_l0.a.b"):
        refused(state | {name: torch.ones(1)}, InputError, "apart from weight_hh_l0")
        assert load_model(state | {name: torch.ones(1)}, ignore=[name]).ignored == (name,)
    one = {"W": torch.ones(1, 1), "W_in": torch.ones(1, 1), "leak": torch.ones(1)}
    for name in ("b.value", "leak.extra"):
        refused(one | {name: torch.ones(1)}, InputError, "apart from W", cell="leaky-tanh")
    assert load_model(one | {"head.b": torch.ones(1)}, "leaky-tanh").unread == ("head.b",)


def test_wrappers_are_taken_off():
    """A module that is distributed is the one inside, with its names."""
    whole = torch.nn.ModuleDict({"rnn": made(torch.nn.GRU), "head": torch.nn.Linear(3, 1)})
    plain = load_model(whole, layer="rnn")
    for wrapped in (one := torch.nn.DataParallel(whole), torch.nn.DataParallel(one)):
        found = load_model(wrapped, layer="rnn")
        assert (found.digest, found.tensors) == (plain.digest, plain.tensors)


@pytest.mark.slow
def test_compiled_modules():
    """torch.compile wraps a module, or replaces its call."""
    whole = torch.nn.Sequential(made(torch.nn.LSTM))
    found = load_model(torch.compile(whole), layer="0")
    assert found.tensors == load_model(whole, layer="0").tensors
    assert found.source == "Sequential"
    whole.compile()
    assert load_model(whole, layer="0").digest == found.digest
    state = torch.compile(whole).state_dict()
    assert load_model(state, layer="_orig_mod.0").digest == found.digest


@EACH
def test_a_cell_within_a_module_is_a_step_of_its_loop(base):
    """What the module does between two steps is not known, and that is said."""
    whole = torch.nn.Sequential(made(base))
    if base in CELLS:
        with pytest.raises(InputError, match="--layer 0 for the cell alone"):
            load_model(whole)
    loop = " (one cell, iterated by itself)" * (base in CELLS)
    assert load_model(whole, layer="0").source == f"Sequential{loop}"
    assert load_model(made(base)).source == base.__name__


@EACH
def test_tied_parameters_are_both_read(base):
    """One tensor in two places is two weights."""
    net, end = made(base), "_l0" if base in LAYERS else ""
    setattr(net, f"bias_hh{end}", getattr(net, f"bias_ih{end}"))
    loaded = load_model(net)
    assert torch.equal(loaded.weights["bias_hh"], loaded.weights["bias_ih"])


def test_names_under_two_prefixes():
    """A bias that stands apart from its weights is not lost, whatever its prefix looks like."""
    state = {f"rnn.{name}": part for name, part in made(torch.nn.GRU).state_dict().items()}
    for lost in ("bias_ih_l0", "bias_hh_l0"):
        for prefix in ("", "other.", "\u0433nn.", "rnn..", "rnn.rnn."):
            held = {key: part for key, part in state.items() if key != f"rnn.{lost}"}
            held[prefix + lost] = state[f"rnn.{lost}"]
            refused(held, InputError, "apart from rnn|does not read", cell="gru")


def test_negative_views_are_resolved():
    """The imaginary part of a conjugate is a lazy negation; its value counts."""
    lam = torch.tensor([0.25 + 0.5j, 0.5 - 0.25j], dtype=torch.complex128)
    weights = {"weight_hh": lam.conj().imag.diag(), "weight_ih": lam.conj().imag[:, None]}
    assert weights["weight_ih"].is_neg()
    plain = {name: torch.tensor(part.tolist()).double() for name, part in weights.items()}
    assert load_model(weights, "linear").digest == load_model(plain, "linear").digest
