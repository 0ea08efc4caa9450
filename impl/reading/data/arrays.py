"""NumPy's files: one array, mapped from the disk, or an archive of inputs with their lengths."""

import io
import math
import zipfile
from pathlib import Path

import numpy as np

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.data.contents import AGAIN, in_a_line, whole
from rnnbounds.impl.reading.data.ragged import Ragged, cut_masked, cut_padding
from rnnbounds.impl.reading.data.recordings import LARGEST, Array
from rnnbounds.impl.reading.files import ModelFileError

LARGEST_HEADER = 10_000  # bytes of a .npy's, as NumPy has it, which reads a longer one first
_INPUTS, _LENGTHS, _MASK, _STARTS = "x", "lengths", "mask", "starts"


def npy_file(path: Path) -> Array:
    """The array of a .npy file, mapped; raises ModelFileError."""
    if not path.is_file():  # a pipe would be waited for
        what = "is no regular file" if path.exists() else "does not exist"
        raise ModelFileError(path, what, "name a file of data")
    try:
        with path.open("rb") as stream:
            _require_header(stream)
        array = np.lib.format.open_memmap(path, mode="r")
    except Exception as cause:  # a damaged header makes NumPy raise anything
        raise _unreadable(path, cause) from None
    if (beyond := path.stat().st_size - array.offset - array.nbytes) > 0:
        raise ModelFileError(path, f"has {beyond} bytes after its numbers", AGAIN)
    return array


def npz_file(path: Path) -> Array | Ragged:
    """The inputs of a .npz archive: its only array, or `x` (N, T, d) beside `lengths` (N,) or
    `mask` (N, T); raises ModelFileError for an array of another name. `starts`, the states of
    captured sequences, may be zeros alone: runs start from these."""
    arrays = _entries(path)
    if _STARTS in arrays and arrays.pop(_STARTS).any():
        reason = f"has {_STARTS} other than zero, and runs start from zero"
        raise ModelFileError(path, reason, f"leave {_STARTS} out to run them from zero")
    beside = [name for name in arrays if name != _INPUTS] if len(arrays) > 1 else []
    if not arrays or len(beside) > 1 or not {*beside} <= {_LENGTHS, _MASK}:
        told = ", ".join(map(shown, [*arrays][:8])) or "none"
        remedy = f"keep {_INPUTS}, and {_LENGTHS} or {_MASK} beside it"
        raise ModelFileError(path, f"holds the arrays {told}", remedy)
    if not beside:
        return next(iter(arrays.values()))
    cut = cut_padding if beside == [_LENGTHS] else cut_masked
    return cut(arrays[_INPUTS], arrays[beside[0]], str(path))


def _entries(path: Path) -> dict[str, Array]:
    """All arrays of an archive by name; none unpacks to more than its entry says."""
    try:
        with zipfile.ZipFile(io.BytesIO(whole(path))) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > LARGEST:
                raise ModelFileError(path, f"unpacks to more than {LARGEST} bytes", AGAIN)
            if len({entry.filename for entry in entries}) < len(entries):
                raise ValueError("two entries have one name")
            return {e.filename.removesuffix(".npy"): _array(archive.read(e)) for e in entries}
    except ModelFileError:
        raise
    except Exception as cause:  # a damaged archive makes its reader raise anything
        raise _unreadable(path, cause) from None


def _array(data: bytes) -> Array:
    """The array of a .npy file in memory, whose header says how many bytes there are."""
    stream = io.BytesIO(data)
    _require_header(stream)
    stream.seek(0)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, fortran, dtype = read[version](stream)
    if dtype.hasobject:
        raise ValueError("Python objects")
    numbers = data[stream.tell() :]
    if len(numbers) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"shape {shape} needs another number of bytes")
    found = np.frombuffer(numbers, dtype)
    return found.reshape(shape, order="F" if fortran else "C")


def _require_header(stream: io.BufferedIOBase) -> None:
    """Raise ValueError for a header that says it is longer than any: it would be read whole."""
    major, _ = np.lib.format.read_magic(stream)
    length = int.from_bytes(stream.read(2 if major == 1 else 4), "little")
    if length > LARGEST_HEADER:
        raise ValueError(f"it has a header of {length} bytes")


def _unreadable(path: Path, cause: Exception) -> ModelFileError:
    if "Python objects" in str(cause):
        reason = "holds Python objects, which may run code"
        return ModelFileError(path, reason, "save plain numbers, as float64")
    return ModelFileError(path, f"is no intact {path.suffix} file ({in_a_line(cause)})", AGAIN)
