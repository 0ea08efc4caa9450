"""Files of other formats: how each is known, and how its weights become a file that is read."""

import re
from collections.abc import Sequence
from pathlib import Path

Refusal = tuple[str, str]  # what the file is, and what to do about it

_STATE = "safetensors.torch.save_file(model.state_dict(), 'model.safetensors')"
_MAGIC: tuple[tuple[bytes, Refusal], ...] = (
    (b"\x89HDF", ("is an HDF5 file, as Keras writes", "save its weights by torch's names")),
    (b"\x93NUMPY", ("is one NumPy array", "save all weights by their names as safetensors")),
    (b"GGUF", ("is a GGUF file", "save its weights as safetensors")),
)
_GLOBAL = re.compile(r"GLOBAL ([\w.]+)")


def is_onnx(path: Path, data: bytes) -> bool:
    """Whether a file is an ONNX model, by its name or its first field, the version of the format:
    protobuf has no magic."""
    return path.suffix == ".onnx" or (data[:1] == b"\x08" and data[2:3] in (b"\x12", b":", b"B"))


def foreign(data: bytes) -> Refusal | None:
    """What a file is that has the first bytes of another format."""
    return next((told for magic, told in _MAGIC if data.startswith(magic)), None)


def foreign_archive(names: Sequence[str]) -> Refusal | None:
    """The same of an archive with these entries."""
    if names and all(name.endswith(".npy") for name in names):
        call = "safetensors.numpy.save_file(dict(numpy.load(FILE)), 'model.safetensors')"
        return "holds NumPy arrays (.npz)", f"convert it: {call}"
    if any("code" in name.split("/")[:-1] for name in names):
        return "is a TorchScript program", f"load it where you trust it, and save {_STATE}"
    if any(name.endswith(("archive_format", "models/model.json")) for name in names):
        return "is an exported program (.pt2)", f"load it with torch.export.load, and save {_STATE}"
    if any(name.endswith(".weights.h5") for name in names):
        return "is a Keras model", "save its weights by torch's names"
    return None


def unpickled(cause: BaseException) -> Refusal:
    """The same of a pickle that wants more than weights, or is damaged."""
    wanted = _GLOBAL.search(str(cause))
    if wanted is None:
        reason = f"is damaged or wants to run code ({type(cause).__name__})"
        return reason, "save model.state_dict() again, best as safetensors"
    reason = f"wants to run code: {wanted[1]} is pickled in it, as in a whole module"
    return reason, "save model.state_dict() alone, or name a factory, as package.module:make_model"
