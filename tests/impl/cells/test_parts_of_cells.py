"""What is a cell's by its name, but stands elsewhere or runs beside it, is not lost in silence."""

import pytest
import torch

from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

READ = {"weight_hh_l0": torch.ones(1, 1) / 2, "weight_ih_l0": torch.ones(1, 1)}


@pytest.mark.parametrize("base", [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRUCell])
@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook"])
def test_a_module_with_hooks_is_not_believed(base, register):
    """A hook may change what goes in or comes out, as another forward does."""
    net = base(1, 1)
    handle = getattr(net, register)(lambda *_: None)
    with pytest.raises(InputError, match="has hooks, so that what it computes is not known"):
        load_model(torch.nn.Sequential(net))
    handle.remove()
    assert load_model(net).n == 1


@pytest.mark.parametrize("name", ["forward", "forward_pre"])
def test_hooks_of_all_modules_are_its_hooks(name):
    """As a debugger registers them: each may change what goes in or comes out."""
    net = torch.nn.RNN(1, 1)
    handle = getattr(torch.nn.modules.module, f"register_module_{name}_hook")(lambda *_: None)
    try:
        with pytest.raises(InputError, match="has hooks"):
            load_model(net)
        assert load_model(net.state_dict(), "rnn-tanh").n == 1
    finally:
        handle.remove()
    assert load_model(net).n == 1


def test_a_truncated_file_is_the_cell_that_it_says(tmp_path):
    """Another cell than that of its certificate is refused; the same one may be named."""
    path = tmp_path / "t.safetensors"
    module, certificate = truncate(READ, eps=0.1, inputs=1.0, cell="rnn-relu")
    save_truncated(module, certificate, path)
    for cell in (None, "rnn-relu", "stack", "stacked-rnn-relu"):
        assert load_model(path, cell).name.removeprefix("stacked-") == "rnn-relu"
    with pytest.raises(InputError, match="the file is rnn-relu, not rnn-tanh; leave the cell"):
        load_model(path, "rnn-tanh")


@pytest.mark.parametrize(
    ("prefix", "more"),
    [
        ("a.", {"b.weight_hh_l1": 50.0, "b.weight_ih_l1": 1.0}),  # a layer above
        ("layers.0.", {"layers.1.weight_hh_l1": 50.0, "layers.1.weight_ih_l1": 1.0}),
        ("a.", {"b.weight_hh_l0_reverse": 50.0, "b.weight_ih_l0_reverse": 1.0}),  # a direction
    ],
)
def test_recurrent_weights_elsewhere_are_refused_or_ignored(prefix, more):
    """torch's names of recurrent weights under another prefix are of the same model."""
    state = {prefix + name: part for name, part in READ.items()}
    state |= {name: torch.full((1, 1), value) for name, value in more.items()}
    with pytest.raises(InputError, match=rf"holds {next(iter(more))} apart from") as caught:
        load_model(state, "rnn-tanh")
    assert isinstance(caught.value, InputError)
    loaded = load_model(state, "rnn-tanh", ignore=list(more))
    assert set(loaded.ignored) == set(more)
    assert loaded.unread == ()
