"""Files that are damaged, that lie, or that would run code: refused in a line, and nothing runs."""

import io
import os
import pickle
import zipfile

import pytest
import torch
from draws import state
from refusals import refused
from safetensors.torch import save_file

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.files import ModelFileError


class Hostile:
    """A pickle that would create a file when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_hostile_pickles(tmp_path):
    """A pickle that wants to run code is refused, in both formats, and nothing runs."""
    marker = tmp_path / "ran"
    for new in (True, False):
        path = tmp_path / f"m{new}.pt"
        torch.save(state() | {"x": Hostile(marker)}, path, _use_new_zipfile_serialization=new)
        refused(path, ModelFileError, "wants to run code")
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(Hostile(marker)))
    refused(tmp_path / "bare.pt", ModelFileError, "wants to run code")
    assert not marker.exists()


RUNS = {
    "a call": b"cos\nmkdir\n(S'ran'\ntR.",
    "beside a state dict": b"}S'x'\ncposix\nmkdir\n(S'ran'\ntRs.",
    "in a memo": b"cposix\nmkdir\nq\x000}S'x'\nh\x00(S'ran'\ntRs.",
    "eval": b"cbuiltins\neval\n(S\"__import__('os').mkdir('ran')\"\ntR.",
    "an attribute": b"cbuiltins\ngetattr\n(cpathlib\nPath\n(S'ran'\ntRS'mkdir'\ntR(tR.",
    "a method": b"cpathlib\nPath.mkdir\n(cpathlib\nPath\n(S'ran'\ntRtR.",
    "a state": b"\x80\x02cpathlib\nPath\n(S'ran'\ntR}S'x'\nK\x01sb.",
    "a storage": b"(S'storage'\ncposix\nmkdir\nS'ran'\nS'cpu'\nK\x01tQ.",
    "a tensor": b"ctorch._utils\n_rebuild_tensor_v2\n(cpathlib\nPath\n(S'ran'\ntRK\x00))tR.",
    "a list": b"cpathlib\nPath\n(S'ran'\ntRK\x01a.",
    "no object": b"cpathlib\nPath\n(S'ran'\ntR(tR.",
    "itself": b"}q\x00S'a'\nh\x00s.",
    "a key of tuples": b"}N" + b"2\x86" * 10**4 + b"K\x01s.",
    "lists in lists": b"]" * 10**5 + b"a" * (10**5 - 1) + b".",
}


@pytest.mark.parametrize("place", ["archive", "policy", "file", "old file"])
@pytest.mark.parametrize("pickled", RUNS.values(), ids=RUNS)
def test_pickles_run_nothing(tmp_path, monkeypatch, pickled, place):
    """In an archive, in a policy's, alone, or in a file as before torch 1.6: one line."""
    monkeypatch.chdir(tmp_path)
    archive, old = packed("m/data.pkl", pickled), io.BytesIO()
    torch.save({}, old, _use_new_zipfile_serialization=False)
    held = {"archive": archive, "policy": packed("policy.pth", archive), "file": pickled}
    held["old file"] = old.getvalue().replace(b"\x80\x02}q\x00.\x80\x02]", pickled + b"\x80\x02]")
    assert held["old file"] != old.getvalue()
    (tmp_path / "m.pt").write_bytes(held[place])
    refused("m.pt", InputError, "")
    assert not (tmp_path / "ran").exists()


def packed(name, held):
    """An archive of one entry."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, held)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["safetensors", "zip", "legacy"])
def test_truncated_files(tmp_path, kind):
    """A file cut anywhere is a named error."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    if kind == "safetensors":
        save_file(state(), whole)
    else:
        torch.save(state(), whole, _use_new_zipfile_serialization=kind == "zip")
    data = whole.read_bytes()
    for length in (1, 4, 9, 20, len(data) // 2, len(data) - 1):
        cut.write_bytes(data[:length])
        refused(cut, ModelFileError, "damaged|no intact")


def test_unreadable_file(tmp_path, monkeypatch):
    """A file that cannot be read is a named error."""
    path = tmp_path / "m.pt"
    path.write_bytes(b"x")

    def denied(*_):
        raise PermissionError("denied")

    monkeypatch.setattr("os.open", denied)
    refused(path, ModelFileError, "cannot be opened")
