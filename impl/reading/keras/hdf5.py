"""HDF5 files as Keras writes them: groups, plain arrays of numbers, and texts as attributes.

What an HDF5 file may hold beyond is refused by the name of the object: links to other places and
files, numbers that stand in another file, filters, chunks, shared types, newer formats. An array is
read only if the file holds as many bytes as it claims. Source: HDF5 File Format Specification 3.0.
"""

import math
import struct
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.keras.blocks import BlockError, Blocks

_AGAIN = "save the model again with Keras"
_SPACE, _TYPE, _EXTERNAL, _LAYOUT, _FILTERS, _ATTRIBUTE, _TABLE = 1, 3, 7, 8, 11, 12, 17
_NEWER = (0x02, 0x06, 0x15)  # links and attributes of later formats
_MOST = 2**18  # objects in all groups
_LONGEST = 2**26  # bytes of the texts of an attribute: the configuration of a model
_FIXED, _FLOAT, _TEXT, _OPAQUE, _VARIABLE = 0, 1, 3, 5, 9
_FLOATS = {  # size, and the places and sizes of exponent and mantissa, and the exponent's bias
    (2, 10, 5, 0, 10, 15): torch.float16, (2, 7, 8, 0, 7, 127): torch.bfloat16,
    (4, 23, 8, 0, 23, 127): torch.float32, (8, 52, 11, 0, 52, 1023): torch.float64,
}  # fmt: skip
_FIXEDS = {
    (1, True): torch.int8, (2, True): torch.int16, (4, True): torch.int32, (8, True): torch.int64,
    (1, False): torch.uint8, (2, False): torch.uint16, (4, False): torch.uint32,
    (8, False): torch.uint64,
}  # fmt: skip


class Hdf5Error(InputError):
    """An object of an HDF5 file that is not read."""

    def __init__(self, path: str, what: str, remedy: str = _AGAIN) -> None:
        super().__init__(f"the HDF5 object {shown(path) or '/'} {what}; {remedy}")


class _Attribute(NamedTuple):
    kind: bytes
    values: int
    content: bytes


class Hdf5:
    """An HDF5 file in memory; its objects are named by paths without a first slash, the root "".

    Raises BlockError for a damaged file, and Hdf5Error for an object that is not read.
    """

    def __init__(self, data: bytes) -> None:
        self._blocks = Blocks(data)
        self._unread, self._left = len(data), _MOST
        self._tensors: dict[str, Tensor] = {}
        self._links: dict[int, dict[str, int | None]] = {}

    def has(self, path: str) -> bool:
        """True if a path leads to an object or ends in a link that is not followed."""
        parent, _, name = path.rpartition("/")
        return not name or (self.has(parent) and name in self.names(parent))

    def names(self, path: str) -> list[str]:
        """The names of the objects in a group; [] for an array."""
        return list(self._group(path, self._header(path)))

    def texts(self, path: str, attribute: str) -> list[str] | None:
        """The text or texts of an attribute; None if the object has none of that name."""
        held = self._attribute(path, attribute)
        if held is None or not held.values:
            return None if held is None else []
        kind, _, size = struct.unpack_from("<BHxI", held.kind)
        if kind & 15 == _TEXT and size * held.values <= len(held.content):
            texts = [held.content[size * i : size * (i + 1)] for i in range(held.values)]
        elif kind & 15 == _VARIABLE and held.kind[1] & 15 == 1:
            texts, total = [], 0
            for length, at, index in struct.iter_unpack("<IQI", held.content[: 16 * held.values]):
                total += length
                if total > _LONGEST:
                    raise Hdf5Error(path, f"has more than {_LONGEST} bytes of texts")
                texts.append(self._blocks.text(at, index)[:length] if length else b"")
        else:
            raise Hdf5Error(path, f"has an attribute {shown(attribute)} that is no text")
        return [one.rstrip(b"\0").decode() for one in texts]

    def tensor(self, path: str) -> Tensor:
        """The numbers of an array; those that Keras marks as bfloat16 in that dtype."""
        if path not in self._tensors:
            self._tensors[path] = self._read(path)
        return self._tensors[path]

    def _read(self, path: str) -> Tensor:
        """The numbers of an array that stands in the file in one piece."""
        held: dict[int, bytes] = {}
        for kind, flags, content in self._blocks.messages(self._header(path)):
            if kind in (_SPACE, _TYPE, _LAYOUT) and (flags & 2 or kind in held):
                raise Hdf5Error(path, "shares its type with others")
            held[kind] = content
        if not {_SPACE, _TYPE, _LAYOUT} <= held.keys():
            raise Hdf5Error(path, "is no array")
        if _EXTERNAL in held:
            raise Hdf5Error(path, "has its numbers elsewhere than in the file")
        if _FILTERS in held:
            raise Hdf5Error(path, "is compressed or filtered")
        shape, (dtype, backwards) = _shape(held[_SPACE]), self._dtype(path, held[_TYPE])
        version, place = held[_LAYOUT][:2]
        if version != 3 or place != 1:
            raise Hdf5Error(path, "is stored in chunks or elsewhere than in the file")
        at, size = struct.unpack_from("<QQ", held[_LAYOUT], 2)
        claimed = math.prod(shape) * dtype.itemsize
        if claimed > min(size, self._unread):
            raise Hdf5Error(path, f"claims {claimed} bytes, which the file does not hold")
        self._unread -= claimed
        if not claimed:
            return torch.empty(shape, dtype=dtype)
        data = bytearray(self._blocks.bytes_at(at, claimed))
        if backwards:
            rows = torch.frombuffer(data, dtype=torch.uint8).reshape(-1, dtype.itemsize)
            return rows.flip(1).view(dtype).reshape(shape)
        return torch.frombuffer(data, dtype=dtype).reshape(shape)

    def _dtype(self, path: str, kind: bytes) -> tuple[torch.dtype, bool]:
        """The dtype of numbers, and whether their bytes come the other way round."""
        family, flags, size = struct.unpack_from("<BBxxI", kind)
        found = None
        if family & 15 == _FLOAT and not flags & 0x40:
            offset, precision, *places = struct.unpack_from("<HHBBBBI", kind, 8)
            whole = (offset, precision, kind[2]) == (0, 8 * size, 8 * size - 1)
            whole = whole and flags & 0x30 == 0x20  # the first bit of the mantissa is implied
            found = _FLOATS.get((size, *places)) if whole else None
        elif family & 15 == _FIXED and struct.unpack_from("<HH", kind, 8) == (0, 8 * size):
            found = _FIXEDS.get((size, bool(flags & 8)))
        elif family & 15 == _OPAQUE and size == 2 and self.texts(path, "dtype") == ["bfloat16"]:
            return torch.bfloat16, False
        if found is None:
            raise Hdf5Error(path, "is no array of numbers that is read")
        return found, bool(flags & 1)

    def _header(self, path: str) -> int:
        """The position of the header of an object; each link to it is one inside of the file."""
        at = self._blocks.root
        for name in filter(None, path.split("/")):
            links = self._group(path, at)
            if name not in links:
                raise Hdf5Error(path, "is missing")
            link = links[name]
            if link is None:
                raise Hdf5Error(path, "is reached by a soft link, which is not followed")
            at = link
        return at

    def _group(self, path: str, at: int) -> dict[str, int | None]:
        """The links of the group whose header stands there; none of an array."""
        if at not in self._links:
            held = {kind: content for kind, _, content in self._blocks.messages(at)}
            if newer := held.keys() & set(_NEWER):
                what = f"has links to other files, or is of a newer format (message {min(newer)})"
                raise Hdf5Error(path, what)
            table = held.get(_TABLE)
            if table is not None and len(table) < 16:
                raise BlockError("has a damaged group")
            tree = () if table is None else struct.unpack_from("<QQ", table)
            self._links[at] = self._blocks.links(*tree) if tree else {}
            self._left -= len(self._links[at])
            if self._left < 0:
                raise Hdf5Error(path, "holds too many objects")
        return self._links[at]

    def _attribute(self, path: str, name: str) -> _Attribute | None:
        """The type, the number of values and the content of an attribute; None if there is none."""
        for kind, flags, held in self._blocks.messages(self._header(path)):
            if kind != _ATTRIBUTE or len(held) < 9:
                continue
            version, shared, *sizes = struct.unpack_from("<BBHHH", held)
            at, parts = 8 + (version == 3), []
            for size in sizes:
                parts.append(held[at : at + size])
                at += (size + 7 & ~7) if version == 1 else size
            if parts[0].rstrip(b"\0") != name.encode():
                continue
            if version not in (1, 2, 3) or flags & 2 or (version > 1 and shared):
                raise Hdf5Error(path, f"has an attribute {shown(name)} of another format")
            return _Attribute(parts[1], math.prod(_shape(parts[2])), held[at:])
        return None


def _shape(space: bytes) -> tuple[int, ...]:
    """The shape that a dataspace tells; () for one number."""
    version, rank = space[:2]
    if version not in (1, 2) or (version == 2 and space[3] == 2):
        raise BlockError("has an array without a shape")
    return struct.unpack_from(f"<{rank}Q", space, 8 if version == 1 else 4)
