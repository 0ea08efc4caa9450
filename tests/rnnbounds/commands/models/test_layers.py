"""Parts of bigger models from the command line: listed, chosen, certified, truncated, checked."""

import pytest
import torch

import rnnbounds


@pytest.fixture
def whole(tmp_path):
    """A file of an encoder that contracts, a decoder in two directions, and a head."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict(
        {"encoder": torch.nn.GRU(2, 3), "decoder": torch.nn.LSTM(3, 3, bidirectional=True)}
    )
    with torch.no_grad():
        for part in model["encoder"].parameters():
            part /= 8
    torch.save(model.state_dict(), tmp_path / "whole.pt")
    return tmp_path / "whole.pt"


def test_list(call, whole):
    """--list asks for no bound, and exits 1 where nothing is read."""
    outcome = call("certify", whole, "--list")
    assert outcome.code == 0
    assert "encoder  gru   3  2  3       float32" in outcome.out
    assert "decoder: not read: " in outcome.out
    listed = call("certify", whole, "--list", "--format", "json").json["layers"]
    assert [one["name"] for one in listed] == ["encoder", "decoder"]
    assert [one.name for one in rnnbounds.layers(whole)] == ["encoder", "decoder"]
    torch.save({"w": torch.ones(2)}, whole)
    outcome = call("certify", whole, "--list")
    assert (outcome.code, outcome.err) == (1, "")


def test_list_does_nothing_else(refused, whole):
    """What it would not do is refused; the cell and the format are about the list."""
    line = refused("certify", whole, "--list", "--data", "x.npy", "--eps", 0.1)
    assert line.endswith("leave out --data, --eps")


def test_layer(call, refused, whole, tmp_path):
    """The part that is meant, in every command that reads a model."""
    assert "give --input-bound or --inputs" in refused("certify", whole)
    line = refused("certify", whole, "--input-bound", 1)
    assert "several cells (decoder, encoder); choose one with --layer" in line
    bound = ("--input-bound", 1, "--layer", "encoder")
    outcome = call("certify", whole, *bound)
    assert outcome.code == 0
    assert "read from encoder.bias_hh_l0" in outcome.out
    short = tmp_path / "short.safetensors"
    assert call("truncate", whole, *bound, "--eps", 0.1, "--out", short).code == 0
    made = rnnbounds.truncate(whole, 0.1, 1.0, layer="encoder")
    assert rnnbounds.load_truncated(short).k == made.k
    assert str(made) == f"gru: k = {made.k} inputs, within 0.1 of the recurrent model"
    assert made.to_json().keys() == rnnbounds.load_certificate(short).to_json().keys()
    assert "--layer are about --source" in refused("check", short, "--layer", "encoder")


def test_old_names_warn(whole):
    """They work until 0.3, and the warning has the new one."""
    with pytest.warns(DeprecationWarning, match=r"certify\(epsilons=…\) .* write eps="):
        old = rnnbounds.certify(whole, 1.0, epsilons=(0.1,), layer="encoder")
    with pytest.warns(DeprecationWarning, match=r"truncate\(epsilon=…\)"):
        assert rnnbounds.truncate(whole, epsilon=0.1, input_bound=1.0, layer="encoder").eps == 0.1
    with pytest.warns(DeprecationWarning, match=r"assert_remembers\(epsilon=…\)"):
        rnnbounds.assert_remembers(
            whole, at_most=10**6, epsilon=0.1, input_bound=1.0, layer="encoder"
        )
    assert old.windows == rnnbounds.certify(whole, 1.0, eps=0.1, layer="encoder").windows
    one = rnnbounds.certify(whole, 1.0, eps=0.1, layer="encoder")
    assert one.windows == rnnbounds.certify(whole, 1.0, (0.1,), layer="encoder").windows


def test_readout(call, tmp_path):
    """What ε bounds is said."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"rnn": torch.nn.GRU(2, 3), "loud": torch.nn.Linear(3, 1)})
    with torch.no_grad():
        for part in model["rnn"].parameters():
            part /= 4
        model["loud"].weight.fill_(100.0)
    torch.save(model.state_dict(), tmp_path / "m.pt")
    bound = (tmp_path / "m.pt", "--input-bound", 1, "--readout", "loud")
    outcome = call("certify", *bound)
    assert "‖loud.weight‖₂ ≤ 173.206\n" in outcome.out
    assert "ε bounds the Euclidean distance of two predictions loud.weight h, where " in outcome.out
    assert "drive predictions at most" in outcome.out
