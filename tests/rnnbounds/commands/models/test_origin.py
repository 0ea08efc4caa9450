"""What a certificate says of where its weights came from, and files whose names are exact."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save, save_file

import rnnbounds
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.format.sealed import TRUNCATED
from rnnbounds.impl.format.tensors import contents

BOUND = ("--inputs", 1)
WEIGHTS = {
    "enc.weight_hh_l0": torch.eye(2) / 2,
    "enc.weight_ih_l0": torch.ones(2, 1),
    "enc.bias_ih_l0": torch.ones(2),
    "enc.mask": torch.ones(2),
    "head.weight": torch.ones(1, 2),
}


def truncated(tmp_path, cell="rnn-tanh"):
    """A truncated file, its tensors and its metadata."""
    path = tmp_path / "short.safetensors"
    weights = {name: part for name, part in WEIGHTS.items() if "mask" not in name}
    rnnbounds.save_truncated(*rnnbounds.truncate(weights, eps=1e-2, inputs=1.0, cell=cell), path)
    with safe_open(path, "pt") as file:
        return path, load(path.read_bytes()), dict(file.metadata())


def rewritten(path, tensors, told, *, certificate=None):
    """The file with other tensors, or another certificate, sealed as if it were ours."""
    if certificate is not None:
        told = told | {"certificate": json.dumps(certificate, sort_keys=True)}
    path.write_bytes(
        save(tensors, told | {"sha256": TRUNCATED.seal(told, contents(save(tensors))[0])})
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"tensors": {}}, {"tensors": None}, {"tensors": {"weight_hh": "a"}},
        {"tensors": {"weight_hh": "a", "weight_ih": "a", "bias_ih": "b"}},
        {"tensors": {"weight_hh": "a", "weight_ih": 1, "bias_ih": "b"}},
        {"ignored": None}, {"ignored": [1]}, {"ignored": ["a", "a"]}, {"unread": "a"},
        {"ignored": ["enc.weight_hh_l0"]},
    ],
)  # fmt: skip
def test_an_origin_that_makes_no_sense(tmp_path, change):
    """Roles without a name, a name for two roles, or one that is read and ignored."""
    path, tensors, told = truncated(tmp_path)
    certificate = json.loads(told["certificate"])
    certificate |= change
    rewritten(path, tensors, told, certificate=certificate)
    with pytest.raises(FileError, match=r"another model|no readable certificate"):
        check_truncated(path)


def test_names_are_printed_escaped(call, tmp_path):
    """Line breaks and escape sequences of names do not reach the terminal."""
    path, evil = tmp_path / "m.safetensors", "a\ncertified: \x1b[31mλ = 0"
    weights = {f"{evil}.{name}": torch.eye(2) / 2 for name in ("weight_hh_l0", "weight_ih_l0")}
    save_file(weights | {f"{evil}.x": torch.ones(1), f"y{evil}.z": torch.ones(1)}, path)
    told = call("certify", path, *BOUND, "--cell", "rnn-relu", "--ignore", f"{evil}.x")
    assert told.code == 0
    assert "\x1b" not in told.out
    assert sum(line.startswith("certified") for line in told.out.splitlines()) == 1
    out = tmp_path / "o.safetensors"
    call(
        "truncate", path, *BOUND, "--cell", "rnn-relu", "--ignore", f"{evil}.x", "--eps", 1,
        "--out", out,
    )  # fmt: skip
    assert "\x1b" not in call("check", out).out


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("base", [torch.nn.LSTM, torch.nn.GRU])
def test_other_truncated_files_hold_their_own_tensors_too(tmp_path, base, layers):
    """Gated cells and stacks: no tensor more, and none under another name."""
    torch.manual_seed(0)
    path, net = tmp_path / "short.safetensors", base(1, 2, num_layers=layers)
    with torch.no_grad():
        for part in net.parameters():
            part.mul_(0.1)
    rnnbounds.save_truncated(*rnnbounds.truncate(net, eps=1e-2, inputs=1.0), path)
    with safe_open(path, "pt") as file:
        told = dict(file.metadata())
    tensors = load(path.read_bytes())
    assert net.load_state_dict(tensors, strict=True)
    bare = {name.removesuffix("_l0"): part for name, part in tensors.items()}
    prefixed = {f"a.{name}": part for name, part in tensors.items()}
    large = {"weight_hh": tensors["weight_hh_l0"] * 50}
    for held in (tensors | large, large | tensors, bare, prefixed, tensors | {"C": torch.ones(1)}):
        rewritten(path, held, told)
        with pytest.raises(InputError):
            rnnbounds.load_truncated(path)
    rewritten(path, tensors, told)
    found = dict(rnnbounds.load_truncated(path).named_parameters())
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], part) for name, part in tensors.items())
