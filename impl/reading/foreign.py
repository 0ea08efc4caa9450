"""Files of other formats: how each is known, and how its weights become a file that is read."""

import io
import json
import re
import zipfile
from contextlib import suppress
from pathlib import Path

from rnnbounds import disk
from rnnbounds.impl.errors import shown

Refusal = tuple[str, str]  # what the file is, and what to do about it

_STATE = "safetensors.torch.save_file(model.state_dict(), 'model.safetensors')"
_AGAIN = "save model.state_dict() again, best as safetensors"
_NAMED = "save its weights by torch's names as safetensors"
_KERAS: Refusal = (
    "is a file of Keras",
    "load it with Keras, and pass its layer to rnnbounds.from_keras",
)
_ARRAYS: Refusal = (
    "holds NumPy's arrays",
    "save them by torch's names: safetensors.numpy.save_file(arrays, 'model.safetensors')",
)
_ONE = "join the tensors of all its files in one dictionary, and save that as safetensors"
_PART: Refusal = (
    "is a shard: by its name, or by an index beside it, one of the files of a model",
    f"{_ONE} (rename it if it is whole)",
)
_SHARED: Refusal = (
    "is part of a distributed checkpoint",
    "join it: torch.distributed.checkpoint.format_utils.dcp_to_torch_save(folder, 'model.pt')",
)
_TENSORFLOW: Refusal = (
    "is a model of TensorFlow",
    f"load it with TensorFlow, and {_NAMED}",
)
_SUFFIXES: dict[str, Refusal] = {
    ".keras": _KERAS,
    ".msgpack": (
        "is a file of flax",
        "restore it with flax, and pass its parameters to rnnbounds.from_flax",
    ),
    ".distcp": _SHARED,
    ".eqx": ("is a file of Equinox", f"load it with Equinox, and {_NAMED}"),
    ".pb": _TENSORFLOW,
    ".mlmodel": ("is a model of Core ML", "save the weights of the model that it was made from"),
}
_POINTER = b"version https://git-lfs"
_MAGIC: tuple[tuple[int, bytes, Refusal], ...] = (  # where it stands, and what it says
    (0, _POINTER, ("is a pointer of Git LFS, not the file", "fetch it with git lfs pull")),
    (0, b"\x89HDF", _KERAS),
    (0, b"\x7fELF", ("is a compiled library", "save the weights of the model it was made from")),
    (0, b"MATLAB ", ("is a MATLAB file", _NAMED)),
    (0, b"\x93NUMPY", ("is one NumPy array", "save all weights by their names as safetensors")),
    (0, b"GGUF", ("is a GGUF file", _NAMED)),
    (0, b"PAR1", ("is a Parquet file", _NAMED)),
    (0, b"\x1f\x8b", ("is compressed by gzip", "unpack it")),
    (4, b"TFL3", ("is a TensorFlow Lite model", "save the weights of the model it was made from")),
    (257, b"ustar", ("is a tar archive", "unpack it, and name the file of weights in it")),
)
_SHARD = re.compile(r"(\d+)-of-(\d+)")
_INDEX = "*.index.json"
_LARGEST_INDEX = 2**26  # bytes
_NEEDED = re.compile(r"GLOBAL (\S+) (?:was not|whose module)")
_PICKLE = b"\x80"  # the opcode that all pickles since version 2 begin with
_DIRECTORY = 2**16  # bytes at the end of a zip that hold the names in a small one
_TEXT = 512  # bytes that tell a text


def is_onnx(path: Path, data: bytes) -> bool:
    """True if a file is an ONNX model, by its suffix or its first field, the version of the format;
    protobuf has no magic number."""
    return path.suffix == ".onnx" or (data[:1] == b"\x08" and data[2:3] in (b"\x12", b":", b"B"))


def unsupported(path: Path, data: bytes) -> Refusal | None:
    """Identify another format by its first bytes, its entries or its suffix: (reason, remedy)."""
    found = next((told for at, magic, told in _MAGIC if data.startswith(magic, at)), None)
    if found is None and data.startswith(b"PK") and b"model.weights.h5" in data[-_DIRECTORY:]:
        found = _KERAS
    length = int.from_bytes(data[26:28], "little")  # of the first entry's name
    if data.startswith(b"PK\x03\x04") and data[30 : 30 + length].endswith(b".npy"):
        found = _ARRAYS
    return found or _SUFFIXES.get(path.suffix)


def shard(path: Path) -> Refusal | None:
    """Identify a file that holds a part of a model, by its name or by an index beside it that lists
    it among others: (reason, remedy), or None."""
    numbered = _SHARD.search(path.stem)
    if numbered and int(numbered[2]) > 1:
        return _PART
    with suppress(OSError):
        for index in path.parent.glob(_INDEX):
            listed = _listed(disk.read(index, _LARGEST_INDEX))
            if path.name in listed and len(listed) > 1:
                return _PART
    return None


def folder(path: Path) -> Refusal | None:
    """Identify a folder that is one model in many files: (reason, remedy), or None."""
    with suppress(OSError, ValueError):
        return _whole({one.name for one in path.iterdir()})
    return None


def _whole(names: set[str]) -> Refusal | None:
    if any(name.endswith(".distcp") for name in names):
        return _SHARED
    if "saved_model.pb" in names:
        return _TENSORFLOW
    if any(name.endswith(_INDEX[1:]) for name in names):
        return "is a folder of shards", _ONE
    return None


def _listed(data: bytes) -> set[str]:
    """The files that an index of shards lists; none if it is another JSON."""
    try:
        return set(json.loads(data)["weight_map"].values())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return set()


def pointer(data: bytes) -> Refusal | None:
    """Identify a pointer of Git LFS, which may have any file name: (reason, remedy), or None."""
    return _MAGIC[0][2] if data.startswith(_POINTER) else None


def text(data: bytes) -> Refusal | None:
    """Identify text, JSON or other: (reason, remedy), or None."""
    head = data[:_TEXT].decode(errors="replace")
    if len(head) < 2 or not all(one.isprintable() or one.isspace() for one in head):
        return None
    if _listed(data):
        return "is an index of shards, no file of weights", _ONE
    kind = "JSON" if head.lstrip()[:1] in ("{", "[") else "text"
    return f"is {kind}, no file of weights", _NAMED


def unsupported_archive(data: bytes) -> Refusal | None:
    """Identify an archive by its entries: (reason, remedy), or None if torch.save wrote it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError):
        return "is a damaged zip archive", _AGAIN
    names = [entry.filename for entry in entries]
    if any(name.endswith(("archive_format", "models/model.json")) for name in names):
        state = _STATE.replace("state_dict()", "state_dict")  # a property there
        return "is an exported program (.pt2)", f"load it with torch.export.load, and save {state}"
    if any(name.endswith("/constants.pkl") for name in names):
        return "is TorchScript", f"load it with torch.jit.load, and save {_STATE}"
    if not any(name.endswith("data.pkl") for name in names):
        return "is a zip archive, not one of torch.save", "unpack it, and name the file of weights"
    if sum(entry.file_size for entry in entries) > len(data):
        return "unpacks to more than it holds", "save it with torch.save"
    return None


def unread(cause: BaseException, data: bytes) -> Refusal:
    """Explain why torch reads no weights from a file: (reason, remedy)."""
    if b"numpy" in data[:_DIRECTORY] and data.startswith((_PICKLE, b"PK")):
        return _ARRAYS
    if named := _NEEDED.search(str(cause)):
        what = f"wants to run code: {shown(named[1])} is pickled in it"
        return (
            what,
            "save model.state_dict() alone, or name a factory, as package.module:make_model",
        )
    other = "is no pickle of weights" if data.startswith(_PICKLE) else "is no file of torch.save"
    return f"is damaged, or {other} ({type(cause).__name__})", _AGAIN
