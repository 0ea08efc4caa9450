"""Files that are damaged, that lie, or that would run code: refused in a line, and nothing runs."""

import os
import pickle

import pytest
import torch
from draws import state
from refusals import refused
from safetensors.torch import save_file

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
