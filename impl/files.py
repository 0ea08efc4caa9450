"""Files of weights: read whole and without running what they hold, written whole or not at all."""

import io
import os
import secrets
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor

from impl.errors import InputError
from impl.stored import header


class ModelFileError(InputError):
    """A file from which no weights can be taken."""

    def __init__(self, path: Path, reason: str, remedy: str) -> None:
        super().__init__(f"{shown(path)}: {reason}; {remedy}")


def read_file(path: Path) -> bytes:
    """A whole file, read at once: another process may replace it meanwhile.

    Raises ModelFileError for what is no readable file or is empty.
    """
    try:
        if not path.is_file():
            what = "is no regular file" if path.exists() else "does not exist"
            raise ModelFileError(path, what, "name a file of weights")
        data = path.read_bytes()
    except InputError:
        raise
    except (OSError, ValueError) as cause:
        reason = f"cannot be opened ({type(cause).__name__})"
        raise ModelFileError(path, reason, "name a readable file") from None
    if not data:
        raise ModelFileError(path, "is empty", "save the weights again")
    return data


def parse_safetensors(data: bytes, path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata of a safetensors file; raises ModelFileError."""
    try:
        tensors = safetensors.torch.load(data)  # checks lengths, offsets and shapes
        told = header(data)
    except Exception as cause:  # a damaged file makes the parser raise anything
        reason = f"is no intact safetensors file ({_line(cause)})"
        raise ModelFileError(path, reason, "save the weights again") from None
    return tensors, told["__metadata__"]


def unpickle(data: bytes, path: Path) -> Mapping[str, Tensor]:
    """A state dict that torch.save wrote; opened as weights alone, so that no code can run.

    Raises ModelFileError for anything else, and for archives that unpack to more than they hold.
    """
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                entries = archive.infolist()
            stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
            if not stored or sum(entry.file_size for entry in entries) > len(data):
                raise ModelFileError(
                    path, "unpacks to more than it holds", "save it with torch.save"
                )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the unpickler, about what it then refuses
            state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except InputError:
        raise
    except Exception as cause:  # a damaged file makes the unpickler raise anything
        reason = f"is damaged or wants to run code ({type(cause).__name__})"
        remedy = "save model.state_dict() again, best as safetensors"
        raise ModelFileError(path, reason, remedy) from None
    if not isinstance(state, Mapping):
        raise ModelFileError(path, "holds no state dict", "save model.state_dict()")
    return state


def write_file(path: Path, data: bytes) -> None:
    """Write a whole file: a reader sees the old one or the new one, never half.

    A temporary file beside it is flushed to the disk and renamed into place. Raises ModelFileError.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        try:
            with temporary.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as cause:
        reason = f"cannot be written ({cause.strerror})"
        raise ModelFileError(path, reason, "name a file in a folder that can be written") from None


def shown(text: object) -> str:
    """A path or a name as one short line."""
    plain = str(text)
    return (plain if plain.isprintable() else repr(plain))[:200]


def _line(cause: BaseException) -> str:
    return " ".join(str(cause).split())[:120] or type(cause).__name__
