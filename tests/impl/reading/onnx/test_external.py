"""Weights beside an ONNX file: read as the exporter wrote them, and refused for all else."""

import os

import pytest
from refusals import refused

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

onnx = pytest.importorskip("onnx")
from onnx_graphs import graph, lstm  # noqa: E402


def written(folder, convert=True):
    """A model whose weights lie in w.data beside it, and these as TensorProtos."""
    _, one, parts = lstm()
    path = graph(folder / "m.onnx", one, constants=parts, outputs=["rnn.Y"])
    if convert:
        given = {"location": "w.data", "size_threshold": 0, "convert_attribute": False}
        onnx.save_model(onnx.load(path), path, save_as_external_data=True, **given)
    return path


def with_entries(path, **entries):
    """The file with other entries of its recurrent weights: None leaves one out."""
    model = onnx.load(path, load_external_data=False)
    tensor = next(one for one in model.graph.initializer if one.name == "rnn.R")
    told = {one.key: one.value for one in tensor.external_data} | entries
    del tensor.external_data[:]
    for key, value in told.items():
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    path.write_bytes(model.SerializeToString())
    return path


def test_weights_beside_the_file(tmp_path, monkeypatch):
    """As in the file itself, wherever the process is; length and offset may be left out."""
    path = written(tmp_path)
    expected = load_model(lstm()[0]).digest
    assert load_model(path).digest == expected
    assert load_model(with_entries(path, length=None)).digest == expected
    monkeypatch.chdir(tmp_path)
    assert load_model("m.onnx").digest == expected


ENTRIES = {
    "above": ({"location": "../w.data"}, r"in another file \(../w.data\), but only"),
    "absolute": ({"location": "/etc/passwd"}, r"in another file \(/etc/passwd\), but only"),
    "below": ({"location": "sub/w.data"}, r"in another file \(sub/w.data\), but only"),
    "windows": ({"location": "..\\w.data"}, r"in another file .*, but only"),
    "nul": ({"location": "w\0.data"}, r"in another file .*, but only"),
    "itself": ({"location": "."}, r"in another file \(.\), but only"),
    "nothing": ({"location": None}, r"in another file \(\), but only"),
    "elsewhere": ({"location": "other.data"}, "in other.data, which is not beside the model"),
    "long": ({"location": "w" * 300}, "which cannot be read"),
    "behind": ({"offset": 10**6}, r"ends at byte 1000144 of w.data, which has \d+"),
    "far": ({"offset": 2**62}, "ends at byte"),
    "negative": ({"offset": -4}, "at the offset -4, no number of bytes"),
    "text": ({"offset": "0x10"}, "at the offset 0x10, no number of bytes"),
    "short": ({"length": 4}, "w.data in 4 bytes, but its shape takes 144"),
    "huge": ({"length": "9" * 30}, "no number of bytes"),
    "unknown": ({"checksum": "0" * 40}, "by entries that are not read"),
}


@pytest.mark.parametrize("made", ENTRIES)
def test_data_that_is_not_read(tmp_path, made):
    """Outside of the folder, missing, of another size: one line with the way out."""
    entries, told = ENTRIES[made]
    path = with_entries(written(tmp_path), **entries)
    refused(path, InputError, f"rnn has weights R .rnn.R., which .*{told}.*; save the model with")


def test_files_that_are_no_regular_ones(tmp_path):
    """No link is followed, a pipe is not waited for, and a folder is none."""
    path = written(tmp_path)
    data, secret = tmp_path / "w.data", tmp_path / "secret"
    data.rename(secret)
    data.symlink_to(secret)
    refused(path, InputError, "in w.data, which is a link")
    data.unlink()
    os.mkfifo(data)
    refused(path, InputError, "in w.data, which is no regular file")
    data.unlink()
    data.mkdir()
    refused(path, InputError, "in w.data, which is no regular file")


def test_shapes_that_nobody_reads(tmp_path):
    """No memory is taken for a shape alone, nor for types without a fixed size."""
    for dims, kind, told in (
        ([1, 12, 2**40], 1, "takes no bytes or more than 2147483648"),
        ([1, 12, -3], 1, "takes no bytes or more than"),
        ([1, 12, 3], 8, "takes no bytes or more than"),
        ([1, 12, 300], 1, r"in w.data in 144 bytes, but its shape takes 14400"),
    ):
        path = written(tmp_path)
        model = onnx.load(path, load_external_data=False)
        tensor = next(one for one in model.graph.initializer if one.name == "rnn.R")
        tensor.dims[:], tensor.data_type = dims, kind
        path.write_bytes(model.SerializeToString())
        refused(path, InputError, told)
