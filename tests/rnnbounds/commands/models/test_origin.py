"""What a certificate says of where its weights came from, and files whose names are exact."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save, save_file

import rnnbounds
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.format.sealed import TRUNCATED
from rnnbounds.impl.format.tensors import contents

BOUND = ("--inputs", 1)


def stating(path, certificate, tensors, told):
    """The file with another certificate, sealed as if it were ours."""
    told = told | {"certificate": json.dumps(certificate, sort_keys=True)}
    seal = TRUNCATED.seal(told, contents(save(tensors))[0])
    path.write_bytes(save(tensors, told | {"sha256": seal}))


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
    path = tmp_path / "short.safetensors"
    weights = {"enc.weight_hh_l0": torch.eye(2) / 2, "enc.weight_ih_l0": torch.ones(2, 1)}
    weights |= {"enc.bias_ih_l0": torch.ones(2), "head.weight": torch.ones(1, 2)}
    made = rnnbounds.truncate(weights, eps=1e-2, inputs=1.0, cell="rnn-tanh")
    rnnbounds.save_truncated(*made, path)
    with safe_open(path, "pt") as file:
        told = dict(file.metadata())
    certificate, tensors = json.loads(told["certificate"]), load(path.read_bytes())
    stating(path, certificate, tensors, told)
    check_truncated(path)
    stating(path, certificate | change, tensors, told)
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
