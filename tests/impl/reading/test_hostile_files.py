"""Files that are damaged, that lie, or that would run code: refused in a line, and nothing runs.

Whatever kind a file is of, reading it runs nothing, and opens no file outside of its folder.
"""

import io
import os
import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from draws import state
from refusals import refused
from safetensors.torch import save_file

from rnnbounds.cli import main
from rnnbounds.impl.errors import FileError, InputError

SECRET = "/etc/passwd"  # what the files below ask for
RUNNING = ("os.mkdir", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen")
SEEN: list[str] | None = None  # what ran, or was read


def watch(event, args):
    """Note what starts, makes a folder (but of bytecode), or opens the file that is asked for."""
    if SEEN is None:
        return
    if event == "open" and isinstance(args[0], str | os.PathLike):
        if os.path.realpath(args[0]) == os.path.realpath(SECRET):
            SEEN.append(event)
    elif event in RUNNING and not str(args[0]).endswith("__pycache__"):
        SEEN.append(event)


sys.addaudithook(watch)


class Hostile:
    """A pickle that would create a folder when it is opened."""

    def __init__(self, path="ran"):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


RUNS = {
    "a call": b"cos\nmkdir\n(S'ran'\ntR.",
    "beside a state dict": b"}S'x'\ncposix\nmkdir\n(S'ran'\ntRs.",
    "in a memo": b"cposix\nmkdir\nq\x000}S'x'\nh\x00(S'ran'\ntRs.",
    "eval": b"cbuiltins\neval\n(S\"__import__('os').mkdir('ran')\"\ntR.",
    "an attribute": b"cbuiltins\ngetattr\n(cpathlib\nPath\n(S'ran'\ntRS'mkdir'\ntR(tR.",
    "a method": b"cpathlib\nPath.mkdir\n(cpathlib\nPath\n(S'ran'\ntRtR.",
    "a state": b"\x80\x02cpathlib\nPath\n(S'ran'\ntR}S'x'\nK\x01sb.",
    "an open file": b"cio\nopen\n(S'/etc/passwd'\ntR.",
    "a file of torch's": b"ctorch\nload\n(S'/etc/passwd'\ntR.",
    "a file of NumPy's": b"cnumpy\nfromfile\n(S'/etc/passwd'\ntR.",
    "a storage": b"(S'storage'\ncposix\nmkdir\nS'ran'\nS'cpu'\nK\x01tQ.",
    "a shared file": b"ctorch\nUntypedStorage.from_file\n(S'/etc/passwd'\nI00\nK\x08tR.",
    "a tensor": b"ctorch._utils\n_rebuild_tensor_v2\n(cpathlib\nPath\n(S'ran'\ntRK\x00))tR.",
    "a list": b"cpathlib\nPath\n(S'ran'\ntRK\x01a.",
    "no object": b"cpathlib\nPath\n(S'ran'\ntR(tR.",
    "a whole module": pickle.dumps(torch.nn.GRU(1, 1)),
    "itself": b"}q\x00S'a'\nh\x00s.",
}


def zipped(**held):
    """An archive of these entries."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return file.getvalue()


def as_archive(pickled):
    """As torch.save writes it."""
    return zipped(**{"m/data.pkl": pickled, "m/version": b"3\n", "m/byteorder": b"little"})


def as_old_file(pickled):
    """As torch.save wrote it before torch 1.6."""
    old = io.BytesIO()
    torch.save({}, old, _use_new_zipfile_serialization=False)
    data = old.getvalue().replace(b"\x80\x02}q\x00.\x80\x02]", pickled + b"\x80\x02]")
    assert data != old.getvalue()
    return data


def as_script(pickled):
    """As torch.jit.save writes it, with code."""
    code = b"import os\nos.mkdir('ran')\n"
    parts = {"m/data.pkl": pickled, "m/constants.pkl": pickled, "m/code/__torch__.py": code}
    return zipped(**parts, **{"m/version": b"3\n"})


def as_arrays(_):
    """An .npz with an array of objects."""
    file = io.BytesIO()
    np.savez(file, x=np.array([Hostile()], dtype=object))
    return file.getvalue()


PLACES = {
    "archive": as_archive, "old file": as_old_file, "script": as_script,
    "file": lambda pickled: pickled,
    "in safetensors": lambda pickled: len(pickled).to_bytes(8, "little") + b"{" + pickled,
}  # fmt: skip


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """The current folder, while nothing may run or read what is outside of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "SEEN", [])
    yield tmp_path
    assert SEEN == []
    assert not (tmp_path / "ran").exists()


def test_the_watch_sees(tmp_path, monkeypatch):
    """It notes what a pickle runs, and a file that is read through a link."""
    monkeypatch.setattr(sys.modules[__name__], "SEEN", [])
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Hostile()))
    Path("link").symlink_to(SECRET)
    Path("link").read_bytes()
    assert SEEN == ["os.mkdir", "open"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("pickled", RUNS.values(), ids=RUNS)
def test_pickles_run_nothing(watched, pickled, place):
    """Wherever one stands, and whatever the file is called: one line."""
    for name in ("m.pt", "m.safetensors", "m.onnx", "m.npz", "m.keras", "m.msgpack", "m"):
        Path(name).write_bytes(PLACES[place](pickled))
        refused(name, InputError, "; ")


def test_data_run_nothing(watched, capsys):
    """Data of objects, in each kind of file."""
    save_file(torch.nn.GRU(1, 1).state_dict(), "m.safetensors")
    np.save("x.npy", np.array([Hostile()], dtype=object))
    for name, held in {
        "x.npy": Path("x.npy").read_bytes(), "x.npz": as_arrays(b""), "x.csv": RUNS["a call"],
        "x.safetensors": as_archive(RUNS["a call"]), "y.npy": RUNS["a call"],
    }.items():  # fmt: skip
        Path(name).write_bytes(held)
        assert main(["measure", "m.safetensors", "--data", name]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    refused("x.npz", InputError, "")


OUTSIDE = ("../../etc/passwd", "/etc/passwd", "sub/../../w.data", "..", "C:\\w.data", "w\0.data")


@pytest.mark.parametrize("location", OUTSIDE)
def test_weights_of_onnx_outside_of_its_folder(watched, location):
    """External data is read from the folder of the model alone, and never through a link."""
    onnx = pytest.importorskip("onnx")
    from onnx_graphs import graph, lstm

    _, one, parts = lstm()
    path = graph(watched / "m.onnx", one, constants=parts, outputs=["rnn.Y"])
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
    path.write_bytes(model.SerializeToString())
    refused(path, InputError, "; ")
    if "w.data" in location:
        (watched / "w.data").symlink_to(SECRET)
        for tensor in model.graph.initializer:
            tensor.external_data[0].value = "w.data"
        path.write_bytes(model.SerializeToString())
        refused(path, InputError, "link|regular")


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
        refused(cut, FileError, "damaged|no intact|not one of torch.save")


def test_unreadable_file(tmp_path, monkeypatch):
    """A file that cannot be read is a named error."""
    path = tmp_path / "m.pt"
    path.write_bytes(b"x")

    def denied(*_):
        raise PermissionError("denied")

    monkeypatch.setattr("os.open", denied)
    refused(path, FileError, "cannot be opened")
