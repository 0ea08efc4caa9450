"""Files that are damaged, that lie, or that would run code: refused in a line, and nothing runs."""

import os
import pickle
import struct
import zipfile

import pytest
import torch
from draws import state
from refusals import refused
from safetensors.torch import save_file

from rnnbounds.impl.cells.table import UnknownCellError
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.files import ModelFileError
from rnnbounds.impl.reading.misfit import WeightsError


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


def test_whole_modules_are_refused(tmp_path):
    """A pickled module would need its class: state dicts only."""
    torch.save(torch.nn.RNN(2, 3), tmp_path / "m.pt")
    refused(tmp_path / "m.pt", ModelFileError, "save model.state_dict")
    torch.save(torch.ones(3), tmp_path / "t.pt")
    refused(tmp_path / "t.pt", ModelFileError, "holds no state dict")


def test_pickled_view_bomb(tmp_path):
    """A small file whose tensor claims 10¹² entries is refused before they are allocated."""
    torch.save(state() | {"weight_hh_l0": torch.zeros(1).expand(10**6, 10**6)}, tmp_path / "m.pt")
    assert (tmp_path / "m.pt").stat().st_size < 10_000
    refused(tmp_path / "m.pt", WeightsError, "claims more entries")


def test_a_dictionary_that_holds_one_many_times(tmp_path):
    """A small file of a tensor under 10⁸ names, eight dictionaries deep, is not read out."""
    held = {"x": torch.ones(1)}
    for _ in range(8):
        held = {str(i): held for i in range(10)}
    torch.save(held, tmp_path / "m.pt")
    assert (tmp_path / "m.pt").stat().st_size < 10_000
    refused(tmp_path / "m.pt", InputError, "more than 65536 tensors; save the state")


def test_zip_bomb(tmp_path):
    """A zip file that unpacks to more than it holds is not unpacked."""
    with zipfile.ZipFile(tmp_path / "m.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/data.pkl", b"0" * 10**6)
    refused(tmp_path / "m.pt", ModelFileError, "unpacks to more")


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


def test_lying_safetensors(tmp_path):
    """Headers that lie about their length, their offsets or their shapes."""
    path = tmp_path / "m.safetensors"
    entry = '{"weight_hh_l0":{"dtype":"F32","shape":[%s],"data_offsets":[0,%d]}}'
    for header in (entry % ("1000000,1000000", 4), entry % ("1,1", 10**12), '{"a":', "{}{"):
        path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + b"\0" * 4)
        refused(path, ModelFileError, "no intact safetensors")
    path.write_bytes(struct.pack("<Q", 2**60) + b"{}")
    refused(path, ModelFileError, "no intact safetensors")
    path.write_bytes(b"not weights at all")
    refused(path, ModelFileError, "no intact safetensors")
    header = "{}"
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    refused(path, WeightsError, "holds nothing")


def test_wrong_paths(tmp_path):
    """Missing and empty files, folders, devices, impossible names."""
    (tmp_path / "empty").touch()
    refused(tmp_path / "missing.pt", ModelFileError, "does not exist")
    refused(tmp_path / "empty", ModelFileError, "is empty")
    refused(tmp_path, ModelFileError, "no regular file")
    refused("/dev/zero", ModelFileError, "no regular file")
    refused("a\0b", ModelFileError, "cannot be opened|does not exist")
    refused("x" * 5000, ModelFileError, "cannot be opened|does not exist")


def test_messages_stay_one_line(tmp_path):
    """Names with line breaks do not break the message; a file's cell must be a known one."""
    refused(tmp_path / "a\nb", ModelFileError, r"a\\nb")
    refused({"a\nb.weight": torch.ones(1)}, WeightsError, r"a\\nb")
    save_file(state(), tmp_path / "m.safetensors", metadata={"cell": "rnn-\nx"})
    refused(tmp_path / "m.safetensors", UnknownCellError, "unknown cell")


def test_unreadable_file(tmp_path, monkeypatch):
    """A file that cannot be read is a named error."""
    path = tmp_path / "m.pt"
    path.write_bytes(b"x")

    def denied(*_):
        raise PermissionError("denied")

    monkeypatch.setattr("os.open", denied)
    refused(path, ModelFileError, "cannot be opened")
