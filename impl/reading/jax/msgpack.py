"""Files of flax.serialization: nested maps in msgpack, arrays as its extension type 1.

An array is (shape, name of its dtype, bytes); a number of NumPy, type 3, is one without axes. An
array above 2³⁰ bytes is cut into parts, which is not read. Source: flax.serialization (0.12).
"""

import math
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.files import ModelFileError, flat

_ARRAY, _NUMBER = 1, 3
_DTYPES = {
    "bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32,
    "float64": torch.float64, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32,
    "int64": torch.int64, "uint8": torch.uint8, "uint16": torch.uint16, "uint32": torch.uint32,
    "uint64": torch.uint64, "bool": torch.bool,
}  # fmt: skip
_CHUNKS = "__msgpack_chunked_array__"
_AGAIN = "save the parameters again with flax.serialization.to_bytes, or as .npz"


def is_msgpack(path: Path, data: bytes) -> bool:
    """True if a file is a map of msgpack, by its suffix or as its first key is a text."""
    head = data[0:1]
    fixed = b"\x81" <= head <= b"\x8f"
    start = 1 if fixed else {b"\xde": 3, b"\xdf": 5}.get(head, len(data))
    key = data[start : start + 1]
    return path.suffix == ".msgpack" or b"\xa0" <= key <= b"\xbf" or key in (b"\xd9", b"\xda")


def parse_msgpack(data: bytes, path: Path) -> dict[str, Tensor]:
    """The arrays of a file by their paths, "params.cell.hi.kernel"; raises ModelFileError."""
    try:
        held = msgspec.msgpack.decode(data, ext_hook=_array)
    except InputError as cause:
        raise ModelFileError(path, str(cause), _AGAIN) from None
    except RecursionError:
        raise ModelFileError(path, "nests too deep", _AGAIN) from None
    except Exception as cause:  # a damaged file makes the parser raise anything
        reason = f"is no intact msgpack file ({type(cause).__name__})"
        raise ModelFileError(path, reason, _AGAIN) from None
    if not isinstance(held, dict):
        raise ModelFileError(path, "holds no map of parameters", _AGAIN)
    found = flat(held)
    if any(name.rpartition(".")[2] == _CHUNKS for name in found):
        raise ModelFileError(path, "holds an array in parts", _AGAIN)
    return found


def _array(code: int, data: memoryview) -> object:
    """The tensor of an extension type; any other is no tensor, and refused where one is needed."""
    if code not in (_ARRAY, _NUMBER):
        return None
    shape, name, held = msgspec.msgpack.decode(data, type=tuple[tuple[int, ...], Any, bytes])
    dtype = _DTYPES.get(name.decode() if isinstance(name, bytes) else name)
    if dtype is None:
        raise InputError(f"holds an array of {shown(name)}")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(held):
        raise InputError(f"holds an array of shape {shape} in {len(held)} bytes")
    if not held:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(held), dtype=dtype).reshape(shape)
