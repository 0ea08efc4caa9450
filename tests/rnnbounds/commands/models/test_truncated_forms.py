"""``truncate --latest`` and ``--export``, and ``check`` of what commands about a model wrote."""

import errno
import json
import os
import re
import shlex

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from shown import Shown

from rnnbounds.impl.convert import export
from rnnbounds.impl.errors import InputError


@pytest.fixture
def gru(tmp_path):
    """A file of two layers of GRUs that forget fast."""
    torch.manual_seed(0)
    model = torch.nn.GRU(2, 2, 2)
    with torch.no_grad():
        for name, part in model.named_parameters():
            part *= 0.05 if "hh" in name else 0.3
    save_file(model.state_dict(), tmp_path / "gru.safetensors")
    return tmp_path / "gru.safetensors"


def asked(gru, out):
    """A short window."""
    return (gru, "--cell", "stacked-gru", "--inputs", 1, "--eps", 0.9, "--out", out)


@pytest.mark.parametrize("calls", [1, 2, 3, 4])
def test_all_that_is_written_or_nothing(refused, gru, tmp_path, monkeypatch, calls):
    """The disk is full at any of the files: what was there before is there, and nothing else."""
    out, other = tmp_path / "out" / "truncated.safetensors", tmp_path / "short.pt2"
    out.parent.mkdir()
    out.write_bytes(b"before")
    left = iter(range(calls - 1))

    def full(handle: int) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(export, "exported", lambda *_: b"a program")
    monkeypatch.setattr(os, "fsync", full)
    line = refused("truncate", *asked(gru, out.parent), "--export", other)
    assert "cannot be written (No space left on device)" in line
    assert out.read_bytes() == b"before"
    left = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert left == [gru.name, out.name]


def test_an_export_that_fails_leaves_nothing(refused, gru, tmp_path, monkeypatch):
    """Though the truncated model itself could be written."""

    def fails(*_: object) -> bytes:
        raise InputError("torch.onnx exports nothing of this model; export it to .pt2")

    monkeypatch.setattr(export, "exported", fails)
    files = ("--export", tmp_path / "short.pt2")
    assert "export it to .pt2" in refused("truncate", *asked(gru, tmp_path / "out"), *files)
    assert [path.name for path in tmp_path.iterdir()] == [gru.name]


def test_a_certified_readout_is_truncated_as_printed(call, gru, tmp_path):
    """The line that `certify` prints is done as it stands, with the same k, and its file is proved
    from itself and against the model, whose readout must be the same."""
    weights = load_file(gru) | {"head.weight": torch.tensor([[3.0, 1.0]])}
    save_file(weights, tmp_path / "headed.safetensors")
    told = call("certify", tmp_path / "headed.safetensors", "--readout=head", "--inputs=1",
                "--eps=0.01", "--cell=stacked-gru")  # fmt: skip
    (line,) = (line for line in told.out.splitlines() if "serve it without a state" in line)
    out, source = tmp_path / "short.safetensors", tmp_path / "headed.safetensors"
    _, *cut = shlex.split(line.partition(": ")[2])
    cut[cut.index("--out=short.safetensors")] = f"--out={out}"
    written = call(*cut)
    assert written.code == 0
    assert "ε is about the linear map y = head.weight h; the model writes h" in written.out
    (k,) = re.findall(r"last (\d+) inputs fix the linear map y", told.out)
    assert f"k = {k} inputs, within 0.01 of the recurrent model" in written.out
    again = ("check", out, "--source", source, "--cell", "stacked-gru")
    for words in (again[:2], again):
        checked = call(*words)
        assert (checked.code, "‖C‖₂ ≤ 3.16" in checked.out) == (0, True)
    save_file(weights | {"head.weight": torch.tensor([[3.0, 1.5]])}, source)
    checked = call(*again)
    assert checked.code == 1
    assert [row.split()[0] for row in checked.out.splitlines() if "FAILS " in row] == ["source"]


@pytest.mark.parametrize("basis", ["near", "seen"])
def test_of_recorded_inputs_alone(call, refused, tmp_path, basis):
    """An undecided model is written with what its k rests on, on its page too; `check` proves the
    one again near the data, and says of the other that there is no proof."""
    torch.manual_seed(1)
    source, data, out = tmp_path / "lstm.pt", tmp_path / "x.npy", tmp_path / "out"
    torch.save(torch.nn.LSTM(2, 3).state_dict(), source)
    np.save(data, np.random.default_rng(0).uniform(-1, 1, (8, 24, 2)))
    asked = ["truncate", source, "--eps", 0.05, "--basis", basis, "--data", data, "--out", out]
    near = ["--near", 0.001] if basis == "near" else []
    told = call(*asked, *near)
    verdict = {"near": "near your data", "seen": "only seen"}[basis]
    assert (told.code, told.err) == (0, "")
    assert f"\n{verdict}" in told.out
    assert "of other inputs nothing is known" in told.out
    assert json.loads((out / "certificate.json").read_text())["verdict"] == verdict
    page = str(Shown((out / "index.html").read_text()))
    assert "certified" not in page
    assert f"? {verdict}" in page
    file = out / "truncated.safetensors"
    again = ["check", file, "--source", source]
    checked = call(*again, *(["--data", data] if near else []))
    assert checked.code == (0 if near else 1)
    state = "proved, near your data" if near else "NOT PROVED, only seen"
    assert f"k is {state}; nothing is certified" in checked.out
    wrong = again if near else [*again, "--data", data]
    words = "which are not in it; name them" if near else "this one is not; leave them out"
    assert words in refused(*wrong)
    line = refused("check", out / "certificate.json", "--source", source)
    assert "certifies nothing: its k is" in line
    assert "does not read" in refused(*asked, *([] if near else ["--near", 1]), "--inputs", 1)
