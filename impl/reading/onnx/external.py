"""Tensors of an ONNX model whose data lies in another file, as torch's exporter writes it.

A name alone is followed: to a regular file in the folder of the model, not through a link, and only
the bytes of the tensor are read, which must be as many as its shape and type take. Source: ONNX's
documentation of external data.
"""

import os
import stat
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from rnnbounds.impl.errors import shown

LARGEST = 2**31  # bytes of a tensor
_READ = {"location", "offset", "length"}
# Bytes of an entry by ONNX's number of its type: (u)int8 to 64, bool, and floats of 16 to 64 bits.
_BYTES = {3: 1, 2: 1, 5: 2, 4: 2, 6: 4, 12: 4, 7: 8, 13: 8, 9: 1, 10: 2, 16: 2, 1: 4, 11: 8}


class ExternalError(Exception):
    """Data that is not read; the text follows the name of the tensor."""


def external_bytes(tensor: Any, folder: Path | None) -> bytes:
    """Return the raw data of a tensor; folder: that of the model. Raises ExternalError."""
    told = {entry.key: entry.value for entry in tensor.external_data}
    texts = all(isinstance(value, str) for value in told.values())  # protobuf's of wrong bytes
    if len(told) < len(tensor.external_data) or not told.keys() <= _READ or not texts:
        raise ExternalError("lies in another file, by entries that are not read")
    name = told.get("location", "")
    if folder is None or not _is_plain(name):
        what = "but only stored tensors are read from one, beside the model"
        raise ExternalError(f"lies in another file ({shown(name)}), {what}")
    needed = _size(tensor)
    offset = _whole(told, "offset", 0)
    if _whole(told, "length", needed) != needed:
        what = f"lies in {shown(name)} in {shown(told['length'])} bytes, but its shape takes"
        raise ExternalError(f"{what} {needed}")
    return _read(folder / name, offset, needed)


def _is_plain(name: str) -> bool:
    """True for the name of a file, without a folder."""
    return name not in ("", ".", "..") and not set(name) & set("/\\:\0")


def _whole(told: Mapping[str, str], key: str, default: int) -> int:
    text = told.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise ExternalError(f"lies in another file at the {key} {shown(text)}, no number of bytes")
    return int(text)


def _size(tensor: Any) -> int:
    """The bytes of a tensor by its shape and type."""
    size: int = prod(tensor.dims) * _BYTES.get(tensor.data_type, 0)
    if min(tensor.dims, default=0) < 0 or not 0 < size <= LARGEST:
        raise ExternalError(f"lies in another file, but takes no bytes or more than {LARGEST}")
    return size


def _read(path: Path, offset: int, size: int) -> bytes:
    """The bytes of a regular file that is no link; raises ExternalError."""
    name = shown(path.name)
    try:
        _require_regular(path.lstat(), name)  # before it is opened, which may do something
        flags = (getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        with os.fdopen(os.open(path, os.O_RDONLY | sum(flags)), "rb") as stream:
            status = os.fstat(stream.fileno())
            _require_regular(status, name)
            if offset + size > status.st_size:
                what = f"ends at byte {offset + size} of {name}, which has {status.st_size}"
                raise ExternalError(what)
            stream.seek(offset)
            data = stream.read(size)
    except FileNotFoundError:
        raise ExternalError(f"lies in {name}, which is not beside the model") from None
    except (OSError, ValueError) as cause:
        why = f"cannot be read ({type(cause).__name__})"
        raise ExternalError(f"lies in {name}, which {why}") from None
    if len(data) < size:
        raise ExternalError(f"lies in {name}, which shrinks while it is read")
    return data


def _require_regular(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = "a link" if stat.S_ISLNK(status.st_mode) else "no regular file"
        raise ExternalError(f"lies in {name}, which is {what}")
