"""Tensors and metadata of safetensors files, to the letter and without torch.

An entry that the format does not know is refused, as is a name that comes twice. Source: the
safetensors format.

JSON texts that all readers read alike.

A key that comes twice and a number that is not in its plain form are refused, as two readers might
read two things.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors

from rnnbounds import disk


def plain(text: str) -> Any:
    """The value of a JSON text that is written as Python's `json` writes it: each key once, each
    float by its shortest digits, neither NaN nor infinity. Raises ValueError."""
    value = json.loads(text)
    if json.dumps(value, allow_nan=False) != text:
        raise ValueError("not in its plain form")
    return value


def strict(text: str) -> Any:
    """The value of a JSON text with each key once, neither NaN nor infinity. Raises ValueError."""

    def refused(name: str) -> Any:
        raise ValueError(f"{name} is no number")

    return json.loads(text, object_pairs_hook=once, parse_constant=refused)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; raises ValueError for a key that comes twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key comes twice")
    return value


Array = npt.NDArray[np.float64]
Part = Mapping[str, Any]  # one tensor: its dtype, its shape and its data

MOST = 2**30  # bytes of a file, more than the states allow
_ENTRY = {"dtype", "shape", "data_offsets"}
_DTYPES: dict[str, tuple[str, str]] = {
    "F16": ("float16", "<f2"),
    "BF16": ("bfloat16", "<u2"),
    "F32": ("float32", "<f4"),
    "F64": ("float64", "<f8"),
}
_CODES = {name: code for code, (name, _) in _DTYPES.items()}


def said_format(path: Path) -> str:
    """The format that a file says of itself, "" where it says none; raises OSError.

    Read as loosely as may be: a damaged file of ours is still ours, and its reader says what is
    wrong with it.
    """
    return format_in(disk.read(path, MOST))


def format_in(data: bytes) -> str:
    """The format that the bytes of a file say of themselves, "" where they say none."""
    try:
        told = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        return str(told.get("format"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""


def header(data: bytes) -> dict[str, Any]:
    """The header of a file, with its metadata under `__metadata__`; raises ValueError."""
    text = data[8 : 8 + int.from_bytes(data[:8], "little")]
    told = json.loads(text, object_pairs_hook=once)
    entries = {name: entry for name, entry in told.items() if name != "__metadata__"}
    if any(entry.keys() != _ENTRY for entry in entries.values()):
        raise ValueError("an entry of something else than a tensor")
    return entries | {"__metadata__": told.get("__metadata__") or {}}


def contents(data: bytes) -> tuple[dict[str, Part], dict[str, str]]:
    """The tensors of a file by name and its metadata; raises anything for what is no such file."""
    told = header(data)
    stored = dict(safetensors.deserialize(data))  # type: ignore[no-untyped-call]  # checks lengths
    return stored, told["__metadata__"]


def digest(name: str, parts: Mapping[str, Part], prefix: str = "torch.") -> str:
    """SHA-256 over a name and, in a fixed order, all roles, dtypes, shapes and bytes; the one of
    `impl.models.loaded`."""
    sha = hashlib.sha256(name.encode())
    for role in sorted(parts):
        part = parts[role]
        sha.update(f"|{role}|{prefix}{dtype_of(part)}|{tuple(part['shape'])}|".encode())
        sha.update(bytes(part["data"]))
    return sha.hexdigest()


def dtype_of(part: Part) -> str | None:
    """The dtype by torch's name, such as float32; None for one that no model has."""
    return _DTYPES.get(part["dtype"], (None, ""))[0]


def decoded(part: Part) -> Array:
    """The numbers of a tensor of a known dtype; bfloat16 is the upper half of a float32."""
    numbers = np.frombuffer(bytes(part["data"]), np.dtype(_DTYPES[part["dtype"]][1]))
    if part["dtype"] == "BF16":
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # a NaN may signal
        exact: Array = numbers.astype(np.float64).reshape(part["shape"])
    return exact


def encoded(numbers: Array, dtype: str) -> Part | None:
    """The tensor of that dtype with exactly these numbers, signs of zeros too; None if none has."""
    code = _CODES[dtype]
    with np.errstate(over="ignore", under="ignore"):
        short = numbers.astype("<f4" if code == "BF16" else _DTYPES[code][1])
    if code == "BF16":
        short = (short.view("<u4") >> 16).astype("<u2")
    part = {"dtype": code, "shape": list(numbers.shape), "data": short.tobytes()}
    return part if np.array_equal(decoded(part), numbers) else None
