"""HDF5 files as Keras writes them: plain arrays of numbers and texts, nothing outside of the file.

An HDF5 file may link to other files, keep its numbers in them, assemble arrays from others, or name
a filter that a plug-in has to undo. All of that is refused by its name before a number is read; an
array is read only if the file is long enough to hold it as it stands. Source: HDF5 File Format
Specification, version 3.
"""

import io
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown

_AGAIN = "save the model again with Keras"
_TYPES = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}
_MOST = 2**16  # objects in one group
_LONGEST = 2**26  # bytes of a text: the configuration of a model


class Hdf5Error(InputError):
    """An object of an HDF5 file that is not read."""

    def __init__(self, path: str, what: str, remedy: str = _AGAIN) -> None:
        super().__init__(f"the HDF5 object {shown(path) or '/'} {what}; {remedy}")


class Hdf5:
    """An HDF5 file in memory; its objects are named by paths without a first slash, the root "".

    Raises ImportError without h5py, Hdf5Error for what is refused, and whatever h5py raises for a
    damaged file.
    """

    def __init__(self, data: bytes) -> None:
        import h5py

        self._h5 = h5py
        self._unread = len(data)
        self._tensors: dict[str, Tensor] = {}
        self._file = h5py.File(io.BytesIO(data), "r")

    def has(self, path: str) -> bool:
        """True if a path leads to an object or ends in a link that is not followed."""
        parent, _, name = path.rpartition("/")
        return not name or (self.has(parent) and name in self.names(parent))

    def names(self, path: str) -> list[str]:
        """The names of the objects in a group, none of which is opened; [] for an array."""
        group = self._object(path)
        if not isinstance(group, self._h5.Group):
            return []
        if len(group) > _MOST:
            raise Hdf5Error(path, f"holds more than {_MOST} objects")
        return list(group)

    def texts(self, path: str, attribute: str) -> list[str] | None:
        """The text or texts of an attribute; None if the object has none of that name."""
        held = self._object(path).attrs
        if attribute not in held:
            return None
        stored = held.get_id(attribute)
        if 0 in stored.shape:
            return []
        if (
            self._h5.check_string_dtype(stored.dtype) is None
            or stored.get_storage_size() > _LONGEST
        ):
            raise Hdf5Error(path, f"has an attribute {shown(attribute)} that is no text")
        texts = np.atleast_1d(np.asarray(held[attribute])).tolist()
        return [one.decode() if isinstance(one, bytes) else str(one) for one in texts]

    def tensor(self, path: str) -> Tensor:
        """The numbers of an array; those that Keras marks as bfloat16 in that dtype."""
        if path not in self._tensors:
            self._tensors[path] = self._read(path)
        return self._tensors[path]

    def _read(self, path: str) -> Tensor:
        one = self._object(path)
        if not isinstance(one, self._h5.Dataset):
            raise Hdf5Error(path, "is no array")
        if one.external or one.is_virtual:
            raise Hdf5Error(path, "has its numbers elsewhere than in the file")
        if one.id.get_create_plist().get_nfilters():
            raise Hdf5Error(path, "is compressed or filtered", "unpack it with h5repack -f NONE")
        half = one.dtype == np.dtype("V2") and self.texts(path, "dtype") == ["bfloat16"]
        if one.dtype.str[1:] not in _TYPES and not half:
            raise Hdf5Error(path, f"is an array of {shown(one.dtype)}, not of numbers")
        if one.nbytes > min(self._unread, one.id.get_storage_size()):
            raise Hdf5Error(path, f"claims {one.nbytes} bytes, which the file does not hold")
        self._unread -= one.nbytes
        array = np.asarray(one[()])
        if half:
            return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
        return torch.from_numpy(array.astype(array.dtype.newbyteorder("=")))

    def _object(self, path: str) -> Any:
        """The object of a path, each of whose links is one inside of the file."""
        one = self._file
        for name in filter(None, path.split("/")):
            link = one.get(name, getlink=True) if isinstance(one, self._h5.Group) else None
            if link is None:
                raise Hdf5Error(path, "is missing")
            if not isinstance(link, self._h5.HardLink):
                raise Hdf5Error(path, "is reached by a soft link or in another file")
            one = one[name]
        return one
