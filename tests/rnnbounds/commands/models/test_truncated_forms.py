"""``truncate --latest`` and ``--export``, and ``check`` of what commands about a model wrote."""

import errno
import os

import pytest
import torch
from safetensors.torch import save_file

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
