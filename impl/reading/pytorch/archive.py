"""Read the archives that torch.save and torch.jit.save write, without running what they hold.

An archive is a zip: `NAME/data.pkl` is a pickle, `NAME/data/KEY` the storage of that key. A tensor
is a view of a storage, with strides, and never reaches beyond it. Sources: torch.serialization,
torch._utils.
"""

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.reading.foreign import Refusal, unsupported_archive
from rnnbounds.impl.reading.inert import Inert
from rnnbounds.impl.reading.pytorch.unpickler import dictionary, run_pickle

_PICKLE = "data.pkl"
_POLICY = "policy.pth"  # in the .zip of stable-baselines
_DTYPES = {
    "torch.FloatStorage": torch.float32, "torch.DoubleStorage": torch.float64,
    "torch.HalfStorage": torch.float16, "torch.BFloat16Storage": torch.bfloat16,
    "torch.LongStorage": torch.int64, "torch.IntStorage": torch.int32,
    "torch.ShortStorage": torch.int16, "torch.CharStorage": torch.int8,
    "torch.ByteStorage": torch.uint8, "torch.BoolStorage": torch.bool,
    "torch.ComplexFloatStorage": torch.complex64, "torch.ComplexDoubleStorage": torch.complex128,
}  # fmt: skip
_AGAIN = "save it with torch.save"
_BOMB: Refusal = ("unpacks to more than it holds", _AGAIN)
_MOST_AXES = 64  # as torch has it


class ArchiveError(Exception):
    """An archive that is not read: args are the reason and the remedy."""


def read_archive(data: bytes, *, within: bool = False) -> object:
    """What was saved, with `Inert` objects for all that is neither plain nor a tensor.

    within: the archive is an entry of another. Raises ArchiveError, unpickler.CodeError, and any
    exception for a damaged archive.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = _checked(archive, len(data))
        if _POLICY in names and not within:
            return read_archive(_entry(archive, _POLICY), within=True)
        if refusal := unsupported_archive(names):
            raise ArchiveError(*refusal)
        roots = [name.removesuffix(_PICKLE) for name in names if name.split("/")[1:] == [_PICKLE]]
        if len(roots) != 1:
            raise ArchiveError("is a zip archive, not one of torch.save", _AGAIN)
        return _Storages(archive, roots[0]).object()


def _checked(archive: zipfile.ZipFile, size: int) -> list[str]:
    """The names of all entries, none of them there twice; compressed ones are not read."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise ArchiveError("has two entries of one name", _AGAIN)
    if sum(entry.file_size for entry in entries if _stored(entry)) > size:
        raise ArchiveError(*_BOMB)
    return names


def _stored(entry: zipfile.ZipInfo) -> bool:
    return entry.compress_type == zipfile.ZIP_STORED


def _entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of an entry that is stored as it is."""
    if not _stored(archive.getinfo(name)):
        raise ArchiveError(*_BOMB)
    return archive.read(name)


class _Storages:
    """The tensors of an archive, as its pickle asks for them."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        self._archive, self._root = archive, root
        self._read: dict[tuple[str, torch.dtype], Tensor] = {}

    def object(self) -> object:
        order = f"{self._root}byteorder"
        if order in self._archive.namelist() and _entry(self._archive, order) != b"little":
            raise ArchiveError("has its numbers in big-endian order", "save it as safetensors")
        rebuild: dict[str, Callable[..., object]] = {
            "collections.OrderedDict": _dictionary,
            "torch.Size": _size,
            "torch._utils._rebuild_tensor": _view,
            "torch._utils._rebuild_tensor_v2": _view,
            "torch._utils._rebuild_parameter": _first,
            "torch._utils._rebuild_parameter_with_state": _first,
            "torch._tensor._rebuild_from_type_v2": _of_type,
            "torch.jit._pickle.build_tensorlist": _first,
        }
        return run_pickle(_entry(self._archive, f"{self._root}{_PICKLE}"), rebuild, self._storage)

    def _storage(self, asked: Any) -> Tensor | Inert:
        """All entries of the storage ("storage", type, key, device, entries), as one vector."""
        _, kind, key, _, entries = asked
        dtype = _DTYPES.get(kind.name)
        if dtype is None:
            return Inert(kind.name)
        known = self._read.get((str(key), dtype))
        if known is None:
            held = _entry(self._archive, f"{self._root}data/{key}")
            known = torch.empty(0, dtype=dtype)
            if held:
                known = torch.frombuffer(bytearray(held), dtype=dtype)
            self._read[str(key), dtype] = known
        if len(known) != entries:
            raise ValueError("a storage of another size")
        return known


def _view(
    storage: object, offset: int, size: Sequence[int], stride: Sequence[int], *rest: object
) -> Tensor | Inert:
    """The tensor of this size in a storage, without requires_grad and backward hooks.

    Further data, say of a lazy conjugate, makes it inert, as an unknown dtype does.
    """
    if not isinstance(storage, Tensor) or any(rest[2:]):
        return Inert("torch.Tensor")
    ends = [(m - 1) * by for m, by in zip(size, stride, strict=True)]
    whole = all(type(part) is int and part >= 0 for part in (offset, *size, *stride))
    if not whole or len(size) > _MOST_AXES:
        raise ValueError("a tensor of no shape")
    if all(size) and offset + sum(ends) >= len(storage):
        raise ValueError("a tensor beyond its storage")
    return storage.as_strided(size, stride, offset)


def _first(held: object, *_: object) -> object:
    """The tensor of a parameter, without what stands beside it; the items of a list."""
    return held


def _of_type(function: Inert, kind: Inert, args: Sequence[Any], _: object) -> object:
    """A tensor with attributes of its own, without these; another class is inert."""
    plain = kind.name in ("torch.Tensor", "torch.nn.parameter.Parameter")
    if plain and function.name == "torch._utils._rebuild_tensor_v2":
        return _view(*args)
    return Inert(kind.name)


def _dictionary(*pairs: Sequence[Sequence[Any]]) -> dict[Any, object]:
    return dictionary([part for pair in (pairs[0] if pairs else ()) for part in pair])


def _size(sizes: Sequence[object] = ()) -> tuple[object, ...]:
    return tuple(sizes)
