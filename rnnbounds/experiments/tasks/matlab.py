"""MATLAB's files of level 5, as far as they hold cells of 0/1 matrices: read as data, bounded.

SciPy's reader makes arrays of whatever sizes a file claims; here nothing is believed that is not
there. Source: The MathWorks, MAT-File Format.
"""

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

LARGEST = 2**26  # bytes, unpacked: four times what the chorales take
_COMPRESSED, _MATRIX, _CELL = 15, 14, 1
_KINDS = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8"}


class MatlabError(ValueError):
    """Bytes that are no such file."""


class Matrix(NamedTuple):
    """An array by its class, its shape, its name, and what it holds: (type, bytes)."""

    kind: int
    shape: tuple[int, ...]
    name: str
    contents: list[tuple[int, bytes]]


def read_rolls(data: bytes, names: Sequence[str], width: int) -> list[list[Tensor]]:
    """The matrices (T, width) in the cells of these names, float32; raises MatlabError."""
    if data[124:128] != b"\x00\x01IM":
        raise MatlabError("it is no little-endian file of level 5")
    by_name: dict[str, list[Tensor]] = {}
    for kind, body in read_elements(data[128:]):
        if kind == _COMPRESSED:
            kind, body = next(read_elements(decompress(body)), (0, b""))
        if kind == _MATRIX:
            cell = parse_matrix(body)
            if cell.kind == _CELL and cell.name in names:
                by_name[cell.name] = [
                    to_roll(parse_matrix(content), width) for _, content in cell.contents
                ]
    if missing := [name for name in names if name not in by_name]:
        raise MatlabError(f"it has no cells {', '.join(missing)}")
    return [by_name[name] for name in names]


def decompress(body: bytes) -> bytes:
    """Decompress zlib data to at most LARGEST bytes; raises MatlabError."""
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(body, LARGEST)
    except zlib.error:
        raise MatlabError("it is damaged") from None
    if stream.unconsumed_tail:
        raise MatlabError(f"it unpacks to more than {LARGEST} bytes")
    return data


def read_elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(type, bytes) one after the other; a small one has its size in the upper half of its type."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        start = at + 8
        if kind >> 16:
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
        end = start + size
        if end > len(data):
            raise MatlabError("it is cut off")
        yield kind, data[start:end]
        at = end if kind == _COMPRESSED else -(-end // 8) * 8


def parse_matrix(body: bytes) -> Matrix:
    """The array of an element's bytes."""
    parts = list(read_elements(body))
    if len(parts) < 3 or not parts[0][1] or len(parts[1][1]) % 4:
        raise MatlabError("it is damaged")
    (_, flags), (_, sizes), (_, name), *contents = parts
    shape = struct.unpack(f"<{len(sizes) // 4}i", sizes)
    return Matrix(flags[0], shape, name.decode("latin-1"), contents)


def to_roll(array: Matrix, width: int) -> Tensor:
    """(T, width) of 0 and 1."""
    kind, data = array.contents[0] if array.contents else (0, b"")
    if kind not in _KINDS or len(array.shape) != 2 or array.shape[1] != width:
        raise MatlabError(f"a cell is no matrix of {width} columns")
    size = np.dtype(_KINDS[kind]).itemsize
    if array.shape[0] < 0 or len(data) != array.shape[0] * width * size:
        raise MatlabError("it is damaged")
    values = np.frombuffer(data, _KINDS[kind]).reshape(array.shape, order="F")
    if not np.isin(values, (0, 1)).all():
        raise MatlabError("a matrix has other entries than 0 and 1")
    return torch.from_numpy(np.ascontiguousarray(values, np.float32))
