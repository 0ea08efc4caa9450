"""Tensors of a pickle of torch.save: views of storages, which never reach beyond them.

A storage is a vector of one dtype; a tensor has an offset, sizes and strides in it. A tensor that
is more than that, say sparse, quantised or of a class of its own, is inert. Source: torch._utils.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.reading.pytorch.unpickler import dictionary
from rnnbounds.impl.reading.recognition.inert import Inert

_DTYPES = {
    "torch.FloatStorage": torch.float32, "torch.DoubleStorage": torch.float64,
    "torch.HalfStorage": torch.float16, "torch.BFloat16Storage": torch.bfloat16,
    "torch.LongStorage": torch.int64, "torch.IntStorage": torch.int32,
    "torch.ShortStorage": torch.int16, "torch.CharStorage": torch.int8,
    "torch.ByteStorage": torch.uint8, "torch.BoolStorage": torch.bool,
    "torch.ComplexFloatStorage": torch.complex64, "torch.ComplexDoubleStorage": torch.complex128,
}  # fmt: skip
_MOST_AXES = 64  # as torch has it


@dataclass(frozen=True, eq=False)
class Storage:
    """A storage: all its entries, as one vector. It is no tensor yet."""

    entries: Tensor


class Storages:
    """The storages of a file, each read once. read: the bytes of a storage, by its key."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._known: dict[tuple[str, torch.dtype], Tensor] = {}

    def load(self, asked: Any) -> Storage | Inert:
        """The storage of a persistent id; raises ValueError if it has another size."""
        if kept := saved_class(asked):
            return kept
        key, dtype, entries = storage_id(asked)
        if dtype is None:
            return Inert("torch.UntypedStorage")
        known = self._known.get((key, dtype))
        if known is None:
            held = self._read(key)
            known = torch.empty(0, dtype=dtype)
            if held:
                known = torch.frombuffer(bytearray(held), dtype=dtype)
            self._known[key, dtype] = known
        if len(known) != entries:
            raise ValueError("a storage of another size")
        return Storage(known)


def saved_class(asked: Any) -> Inert | None:
    """The class of ("module", class, file, text), which old files keep with its text; else None."""
    return asked[1] if asked[0] == "module" and type(asked[1]) is Inert else None


def storage_id(asked: Any) -> tuple[str, torch.dtype | None, int]:
    """The key, dtype and entries of ("storage", type, key, device, entries, no view): no dtype for
    an unknown type. Raises ValueError for another persistent id."""
    word, kind, key, _, entries, *views = asked
    if word != "storage" or type(key) is not str or type(entries) is not int or any(views):
        raise ValueError("a persistent id of no storage")
    return key, _DTYPES.get(kind.name), entries


def _view(
    storage: object, offset: int, size: Sequence[int], stride: Sequence[int], *rest: object
) -> Tensor | Inert:
    """The tensor of this size in a storage, without requires_grad and backward hooks.

    Further data, say of a lazy conjugate, makes it inert, as an unknown dtype does.
    """
    if not isinstance(storage, Storage) or any(rest[2:]):
        return Inert("torch.Tensor")
    ends = [(m - 1) * by for m, by in zip(size, stride, strict=True)]
    whole = all(type(part) is int and part >= 0 for part in (offset, *size, *stride))
    if not whole or len(size) > _MOST_AXES:
        raise ValueError("a tensor of no shape")
    if all(size) and offset + sum(ends) >= len(storage.entries):
        raise ValueError("a tensor beyond its storage")
    return storage.entries.as_strided(size, stride, offset)


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


REBUILD: dict[str, Callable[..., object]] = {  # by the names that torch.save writes
    "collections.OrderedDict": _dictionary,
    "torch.Size": _size,
    "torch._utils._rebuild_tensor": _view,
    "torch._utils._rebuild_tensor_v2": _view,
    "torch._utils._rebuild_parameter": _first,
    "torch._utils._rebuild_parameter_with_state": _first,
    "torch._tensor._rebuild_from_type_v2": _of_type,
    "torch.jit._pickle.build_tensorlist": _first,
}
