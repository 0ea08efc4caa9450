"""torch's recurrent modules: read as they compute, weights that are computed of others too; and not
where that is not known."""

import pytest
import torch
from refusals import refused
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm, weight_norm

import rnnbounds
from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.reading.adapters import layers, load_model

pytestmark = pytest.mark.filterwarnings("ignore")  # torch has newer utilities, and says so
LAYERS = [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU]
CELLS = [torch.nn.RNNCell, torch.nn.LSTMCell, torch.nn.GRUCell]
EACH = pytest.mark.parametrize("base", LAYERS + CELLS, ids=lambda base: base.__name__)


def made(base):
    """The module as d = 2, n = 3."""
    torch.manual_seed(0)
    return base(2, 3)


@EACH
def test_a_part_of_a_module(base):
    """Its tensors have their paths, and what stands beside it is listed; the loop that a module
    makes of a cell is not known, and that is said."""
    whole = torch.nn.Sequential(made(base), torch.nn.Linear(3, 1))
    loaded = load_model(whole, layer="0")
    assert set(loaded.tensors.values()) == {f"0.{name}" for name in whole[0].state_dict()}
    assert loaded.unread == ("1.bias", "1.weight")
    assert loaded.digest == load_model(whole[0]).digest
    assert loaded.source == "Sequential" + " (one cell, iterated by itself)" * (base in CELLS)
    if base in CELLS:
        refused(whole, InputError, "--layer 0 for the cell alone")


@EACH
def test_what_changes_nothing_is_read(base):
    """A parameter that is left out on purpose, a subclass of the same forward, one tensor in two
    places, layers without dropout; transcripts have what is refused."""
    net, end = made(base), "_l0" if base in LAYERS else ""
    setattr(net, f"bias_hh{end}", getattr(net, f"bias_ih{end}"))
    net.register_parameter("peep", torch.nn.Parameter(torch.ones(3)))
    loaded = load_model(torch.nn.Sequential(net), ignore=["0.peep"], layer="0")
    assert loaded.ignored == ("0.peep",)
    assert "0.peep" not in loaded.tensors.values()
    assert torch.equal(loaded.weights["bias_hh"], loaded.weights["bias_ih"])
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


@pytest.mark.parametrize("name", ["forward", "forward_pre"])
def test_hooks_of_all_modules_are_its_hooks(name):
    """As a debugger registers them: each may change what goes in or comes out."""
    net = torch.nn.RNN(1, 1)
    handle = getattr(torch.nn.modules.module, f"register_module_{name}_hook")(lambda *_: None)
    try:
        refused(net, InputError, "has hooks")
        assert load_model(net.state_dict(), "rnn-tanh").n == 1
    finally:
        handle.remove()
    assert load_model(net).n == 1


@EACH
def test_a_parametrisation_that_draws_is_refused(base):
    """Its weight has another value at each use, unless in eval mode."""

    class Noise(torch.nn.Module):
        def forward(self, w):
            return w + torch.rand(()) if self.training else w

    net = made(base)
    role = "weight_hh_l0" if base in LAYERS else "weight_hh"
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


def test_values_that_are_no_tensors_are_no_comment():
    """What stands in a state dict beside the weights belongs to it, a tensor or not."""
    state = {f"rnn.{name}": part for name, part in made(torch.nn.LSTM).state_dict().items()}
    refused(state | {"rnn.nonlinearity": "relu"}, InputError, "holds rnn.nonlinearity")

    class Key(str):
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return self is other

    twice = {**state, Key("rnn.bias_hh_l0"): torch.zeros(1)}
    refused(twice, InputError, "two keys that read alike")


def under(prefix, state):
    """The tensors with that before their names."""
    return {prefix + name: part for name, part in state.items()}


ONE = torch.ones(1, 1)
LSTM, GRU = (make(1, 1).state_dict() for make in (torch.nn.LSTM, torch.nn.GRU))
LEAKY = {"W": ONE, "W_in": ONE, "leak": ONE[0]}
ABOVE = [(f"weight_hh_{end}", f"weight_ih_{end}") for end in ("l1", "l0_reverse")]
SINGLE = {"weight_hh_l0": ONE / 2, "weight_ih_l0": ONE}
# A cell, its tensors, what is added, and one of its own that is lost for that.
APART = [
    *(("lstm", LSTM, {name: ONE}, None) for name in (
          "weight_hh_l0.weight", "x.bias_ih_l0.original", "x.bias_ih.0", "bias_hh_l0.a.b",
      )),
    *(("leaky-tanh", LEAKY, {name: ONE}, None)
      for name in ("b.value", "leak.extra")),
    *(("rnn-tanh", under(prefix, SINGLE), {f"{other}{name}": ONE for name in names}, None)
      for prefix, other in (("a.", "b."), ("layers.0.", "layers.1."))
      for names in ABOVE),
    *(("gru", under("rnn.", GRU), {prefix + lost: ONE[0]}, f"rnn.{lost}")
      for lost in ("bias_ih_l0", "bias_hh_l0")
      for prefix in ("", "other.", "\u0433nn.", "rnn..", "rnn.rnn.")),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "state", "more", "lost"), APART)
def test_parts_that_stand_elsewhere_are_not_lost(cell, state, more, lost):
    """Below the name of a weight, or under another prefix, torch's names are of the same model: a
    layer above, a direction, a bias that belongs to the cell."""
    held = {name: part for name, part in state.items() if name != lost} | more
    refused(held, InputError, "apart from|does not read", cell=cell)
    loaded = load_model(held, cell, ignore=list(more))
    assert set(loaded.ignored) == set(more)
    assert loaded.unread == ()


def test_a_role_in_another_path_is_anothers():
    """A head may have a b."""
    assert load_model(LEAKY | {"head.b": ONE}, "leaky-tanh").unread == ("head.b",)


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


def test_negative_views_are_resolved():
    """The imaginary part of a conjugate is a lazy negation; its value counts."""
    lam = torch.tensor([0.25 + 0.5j, 0.5 - 0.25j], dtype=torch.complex128)
    weights = {"weight_hh": lam.conj().imag.diag(), "weight_ih": lam.conj().imag[:, None]}
    assert weights["weight_ih"].is_neg()
    plain = {name: torch.tensor(part.tolist()).double() for name, part in weights.items()}
    assert load_model(weights, "linear").digest == load_model(plain, "linear").digest


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
        own = role + end.replace("_l0", "")
        assert torch.equal(read.weights[own], value)
        assert read.tensors[own] == f"0.{role}{end}"
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


class Loop(torch.nn.Module):
    """h = leak h + (1 − leak) cell(x, h), of all times or the last, sequences first or not."""

    def __init__(self, make, leak=0.0, last=False, first=True):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.leak, self.last, self.first = make(2, 3), leak, last, first

    def forward(self, x):
        """Its outputs."""
        x = x if self.first else x.transpose(0, 1)
        s = None
        outputs = [h := x.new_zeros(len(x), 3)]
        for t in range(x.shape[1]):
            s = self.cell(x[:, t], s)
            h = self.leak * h + (1 - self.leak) * (s[0] if isinstance(s, tuple) else s)
            s = (h, s[1]) if isinstance(s, tuple) else h
            outputs.append(h)
        found = torch.stack(outputs[1:], 1)
        if self.last:
            return h
        return (found if self.first else found.transpose(0, 1)), h


@pytest.mark.parametrize("make", CELLS)
@pytest.mark.parametrize("shape", [{}, {"last": True}, {"first": False}], ids=str)
def test_a_plain_loop_is_its_cell(make, shape):
    """And the headline says so."""
    told = load_model(Loop(make, **shape))
    assert told.source == "Loop (one cell, iterated by itself)"
    assert told.digest == load_model(Loop(make).cell).digest


@pytest.mark.parametrize("make", CELLS)
def test_another_loop_is_not_answered_as_its_cell(make):
    """A leak of 0.99 makes it remember a hundred times longer; the remedies are the cell alone, by
    that name, and the module as it is run, whose memory is the longer one."""
    module = Loop(make, leak=0.99)
    with pytest.raises(InputError, match=r"--layer cell .*--as-is"):
        rnnbounds.certify(module, inputs=1.0)
    assert "one cell, iterated by itself" in load_model(module, layer="cell").source
    x = torch.randn(40, 60, 2, generator=torch.Generator().manual_seed(1))
    whole, alone = rnnbounds.measure(module, x, as_is=True), rnnbounds.measure(module.cell, x)
    assert whole.window(1e-4) is None
    assert alone.window(1e-4) is not None


def test_a_module_that_cannot_be_run_is_not_its_cell():
    """One that raises, and one in whose outputs the cell cannot be seen."""
    for more in (torch.nn.Linear(5, 5), torch.nn.Flatten()):
        with pytest.raises(InputError, match="--layer 0 "):
            load_model(torch.nn.Sequential(torch.nn.GRUCell(2, 3), more))
