"""``truncate --latest`` and ``--export``, and ``check`` of what commands about a model wrote."""

import errno
import os
import shlex
from fractions import Fraction

import pytest
import torch
from safetensors.torch import load_file, save_file

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


def test_a_certified_readout_tells_the_cut_of_its_state(call, refused, gru, tmp_path):
    """`truncate` has no readout: the line that `certify` prints asks of h so that ‖C‖₂ times its ε
    is at most the one that was asked for, and is done as it stands."""
    weights = load_file(gru) | {"head.weight": torch.tensor([[3.0, 1.0]])}
    save_file(weights, tmp_path / "headed.safetensors")
    told = call("certify", tmp_path / "headed.safetensors", "--readout=head", "--inputs=1",
                "--eps=0.9", "--cell=stacked-gru")  # fmt: skip
    (line,) = (line for line in told.out.splitlines() if "serve it without a state" in line)
    words, _, command = line.partition(": ")
    assert words.endswith("its h to within ε over the norm of the readout")
    _, *cut = shlex.split(command)
    (eps,) = (word.removeprefix("--eps=") for word in cut if word.startswith("--eps="))
    assert 0.28 < Fraction(eps) < Fraction(0.9) / Fraction(10**0.5)
    cut[cut.index("--out=short.safetensors")] = f"--out={tmp_path / 'short.safetensors'}"
    assert call(*cut).code == 0
    line = refused(*cut, "--readout=head")
    assert "divide ε by the norm of the readout that `certify --readout` prints" in line
