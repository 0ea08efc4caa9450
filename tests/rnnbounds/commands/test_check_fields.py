"""``rnnbounds check``: each field that it prints is proved, compared, or called information.

Every leaf of what a file states is changed, one at a time, and sealed anew: that is refused, or
falls, or nothing that is printed changes but information. What may change and hold is a bound,
which is proved as it is printed, or what the statement speaks of.
"""

import ast
import copy
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import rnnbounds
from rnnbounds.commands.check import check_file
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.sealed import TRUNCATED, UNITARY
from rnnbounds.impl.format.tensors import contents, digest, encoded
from rnnbounds.shell.output import Format

PROVED = {"lambda", "weights", "constants", "truncation", "rounding", "box", "layers", "norm",
          "orthogonality_defect", "difference", "other_norms", "unit_gains", "readout"}  # fmt: skip
SPOKEN_OF = {"input_bound", "inputs", "initial_state"}
# In any part.
NAMES = {"dtype", "schema", "cell", "sha256", "verdict", "set", "what", "tensor", "outputs"}


@cache
def weights(kind):
    """The state dict of a module whose weights are small."""
    torch.manual_seed(0)
    module = torch.nn.LSTM(2, 1) if kind == "lstm" else torch.nn.RNN(1, 2)
    read = {"head.weight": torch.ones(2, 2)} if kind in ("truncated", "readout") else {}
    return {name: part.detach() * 0.3 for name, part in module.state_dict().items()} | read


@pytest.fixture(params=["lstm", "truncated", "unitary", "readout"])
def made(request, call, capsys, tmp_path):
    """A file, and how it is checked: a call that gives what is printed, None if refused or false.

    The command itself is called, without the command line around it, as there are many calls.
    """
    kind, source, path = request.param, tmp_path / "m.pt", tmp_path / "made"
    path = path.with_suffix(".safetensors" if kind in ("truncated", "unitary") else "")
    cell = {"lstm": "lstm", "unitary": "rnn-relu"}.get(kind, "rnn-tanh")
    torch.save(weights(kind), source)
    command, *options = {
        "lstm": ("certify", "--inputs=-1:0.5", "--eps", 0.1),
        "truncated": ("truncate", "--inputs=1.5", "--eps", 0.1, "--readout", "head"),
        "unitary": ("unitary", "--inputs=1.5"),
        "readout": ("certify", "--inputs=1.5", "--eps", 0.1, "--readout", "head"),
    }[kind]
    path = path if command == "certify" else path.with_suffix(".safetensors")
    outcome = call(command, source, "--cell", cell, *options, "--out", path)
    assert outcome.code == 0, outcome.err
    path = path / "certificate.json" if path.is_dir() else path

    def checked(form):
        capsys.readouterr()
        try:
            code = check_file(path, source=source, cell=cell, format=form)
        except InputError:
            return None
        return None if code else capsys.readouterr().out

    return path, checked


def read(path):
    """What a file states."""
    try:
        return json.loads(path.read_text())
    except ValueError:
        with safe_open(path, "numpy") as file:
            return json.loads(file.metadata()["certificate"])


def write(path, told):
    """The file with this statement, sealed."""
    try:
        json.loads(path.read_text())
    except ValueError:
        held = load_file(path)
        with safe_open(path, "numpy") as file:
            kept = file.metadata() | {"certificate": json.dumps(told)}
        form = UNITARY if kept["format"].startswith(UNITARY.family) else TRUNCATED
        kept["sha256"] = form.seal(kept, contents(path.read_bytes())[0])
        save_file(held, path, kept)
    else:
        path.write_text(json.dumps(told))


def leaves(told, place=()):
    """All that is no container, or an empty one, with its place."""
    listed = enumerate(told) if isinstance(told, list) else ()
    parts = told.items() if isinstance(told, dict) else listed
    for key, part in parts:
        if not (isinstance(key, int) and key > 1):  # of a long list two stand for all
            yield from leaves(part, (*place, key))
    if not isinstance(told, dict | list) or not told:
        yield place, told


def others(value):
    """Other values for a leaf."""
    if isinstance(value, bool) or value is None:
        return (1.5,)
    if isinstance(value, int):
        return value + 1, 400
    if isinstance(value, float):
        return value / 2, value * 2 + 1
    return (f"{value}x",) if isinstance(value, str) else ("x",)


def changed(told, place, value):
    """A copy with another value there."""
    made = copy.deepcopy(told)
    at = made
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return made


def printed(checked):
    """All that both forms print of a file that holds, but information; None if it does not."""
    if (text := checked(Format.text)) is None:
        return None
    lines = [line for line in text.splitlines() if not line.startswith("information, not")]
    document = json.loads(checked(Format.json))
    for part in ("certificate", "attacked"):
        document.get(part, {}).pop("information", None)
    return lines, document


@pytest.mark.slow
def test_every_field(made):
    """One at a time."""
    path, checked = made
    told, good = read(path), printed(checked)
    assert good is not None
    count = 0
    for place, value in leaves(told):
        for other in others(value):
            write(path, changed(told, place, other))
            found = printed(checked)
            count += found is None
            if found not in (None, good):
                assert place[0] in PROVED | SPOKEN_OF, (place, other)
                assert not NAMES & set(place), (place, other)
    assert count > 8


def test_a_zero_of_another_sign(call, tmp_path):
    """0.0 that is stored as −0.0 is not the source's to the last bit, whoever sealed it."""
    held = {"weight_hh_l0": np.array([[0.5, 0.0], [0.0, 0.5]]), "weight_ih_l0": np.ones((2, 1))}
    source, made = tmp_path / "m.safetensors", tmp_path / "made.safetensors"
    save_file(held, source, {"cell": "rnn-relu"})
    asked = (source, "--inputs", 1, "--eps", 0.1, "--out", made)
    assert call("truncate", *asked).code == 0
    assert call("check", made, "--source", source).code == 0
    held["weight_hh_l0"][0, 1] = -0.0
    with safe_open(made, "numpy") as file:
        kept = file.metadata()
    told = json.loads(kept["certificate"])
    parts = {name.removesuffix("_l0"): encoded(part, "float64") for name, part in held.items()}
    told["sha256"] = digest("rnn-relu", parts)
    save_file(held, made, kept)
    write(made, told)
    assert call("check", made).code == 0
    outcome = call("check", made, "--source", source)
    assert outcome.code == 1
    assert [line.split()[0] for line in outcome.out.splitlines() if " FAILS " in line] == ["source"]


@pytest.mark.parametrize("part", ["impl/checker", "commands/check.py", "commands/models/shown.py"])
def test_no_bound_is_rounded_to_nearest(part):
    """No format that would round a number to some digits stands where certificates are printed."""
    place = Path(rnnbounds.__file__).parent / part
    for path in place.rglob("*.py") if place.is_dir() else [place]:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.FormattedValue) and node.format_spec), path
