"""Recorded inputs: sequences from a file, an array or a tensor, looked at before anything is run.

Data are numbers: nothing that is read here can run code.

Files of numbers, by their suffix: one array each, of bounded size, without running what they
hold.
"""

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import FileError, shown
from rnnbounds.impl.reading.data.recordings import LARGEST, Array
from rnnbounds.impl.reading.data.recordings import Data as Data
from rnnbounds.impl.reading.data.recordings import float64 as float64
from rnnbounds.impl.reading.files import parse_safetensors, read_file
from rnnbounds.impl.reading.foreign import pointer

LARGEST_TEXT = 2**28  # bytes of a text, whose numbers take up to four times as much
_AGAIN = "save the numbers again"
_TABLE = "save it as a table of numbers, its columns the channels, below at most a line of names"


def open_data(path: Path) -> Array:
    """The numbers of a file as stored. Raises FileError, of one line, for all that is none."""
    read = READERS.get(path.suffix.lower())
    if read is None:
        kinds = ", ".join(READERS)
        raise FileError(path, "is no file of data that is read", f"save it as one of {kinds}")
    if not path.is_file():  # a pipe would be waited for
        what = "is no regular file" if path.exists() else "does not exist"
        raise FileError(path, what, "name a file of data")
    with path.open("rb") as stream:
        head = stream.read(64)
    if not head:
        raise FileError(path, "is empty", _AGAIN)
    if told := pointer(head):
        raise FileError(path, *told)
    try:
        return read(path)
    except FileError:
        raise
    except Exception as cause:  # damaged bytes make a reader raise anything
        what, remedy = f"is no intact {path.suffix} file", _AGAIN
        if "Object arrays" in str(cause):
            what, remedy = "holds Python objects, which may run code", "save plain numbers"
        elif read is _csv:
            what, remedy = "is no table of numbers", _TABLE
        told_cause = " ".join(str(cause).split())[:120] or type(cause).__name__
        raise FileError(path, f"{what} ({told_cause})", remedy) from None


def _npy(path: Path) -> Array:
    """The array of a .npy file, mapped from the disk."""
    with path.open("rb") as stream:  # NumPy takes all else for a pickle, and says how to load that
        if stream.read(6) != b"\x93NUMPY":
            raise ValueError("it does not begin as one")
    found: np.memmap[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    if beyond := path.stat().st_size - found.offset - found.nbytes:
        raise FileError(path, f"has {beyond} bytes after its numbers", _AGAIN)
    return found


def _npz(path: Path) -> Array:
    """The one array of a .npz archive, which unpacks to no more than its entry says."""
    data = _whole(path)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
    if len(entries) != 1:
        names = ", ".join(shown(entry.filename.removesuffix(".npy")) for entry in entries[:8])
        remedy = "keep the inputs alone, as sequences (N, T, d) of one length"
        raise FileError(path, f"holds the arrays {names or 'none'}", remedy)
    if entries[0].file_size > LARGEST:
        raise FileError(path, f"unpacks to more than {LARGEST} bytes", "save it as .npy")
    (found,) = np.load(io.BytesIO(data), allow_pickle=False).values()
    return np.asarray(found)


def _safetensors(path: Path) -> Array:
    """The one tensor of a file."""
    tensors, _ = parse_safetensors(_whole(path), path)
    if len(tensors) != 1:
        reason = f"holds {len(tensors)} tensors"
        raise FileError(path, reason, "keep the one of the inputs")
    (tensor,) = tensors.values()
    narrow = tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4
    return np.asarray(tensor.float() if narrow else tensor)


def _csv(path: Path) -> Array:
    """A text in UTF-8 with `,`, `;` or tabs between numbers, below at most one line of names."""
    text = _whole(path, LARGEST_TEXT).decode("utf-8-sig").lstrip()
    first, _, rest = text.partition("\n")
    delimiter = next((c for c in ",;\t" if c in first), ",")
    named = not any(map(_is_number, first.split(delimiter)))
    if not (rest if named else text).strip():
        raise FileError(path, "has no row of numbers", _AGAIN)
    return np.loadtxt(
        io.StringIO(text), delimiter=delimiter, skiprows=int(named), ndmin=2, quotechar='"',
        comments=None,
    )  # fmt: skip


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().strip('"'))
        return True
    except ValueError:
        return False


def _whole(path: Path, largest: int = LARGEST) -> bytes:
    """All bytes of a file; raises FileError if it is larger."""
    return read_file(path, largest, what="data", smaller="save it as .npy, which is read in parts")


READERS: Mapping[str, Callable[[Path], Array]] = {
    ".npy": _npy, ".npz": _npz, ".csv": _csv, ".safetensors": _safetensors,
}  # fmt: skip


DataSource = str | os.PathLike[str] | Tensor | np.ndarray[Any, Any]


def read_data(source: DataSource | Data) -> Data:
    """Read recorded inputs: one long series (T,) or (T, d), or sequences (N, T, d) of one length.

    `source` is a .npy file, a .npz of one array, a .safetensors of one tensor, or a .csv of
    numbers, of which each row is an input; or a tensor or an array. Raises an InputError of one
    line for what is damaged, too large, of objects, of another shape, of different lengths, or
    holds NaN or infinity (how many, where).
    """
    if isinstance(source, Data):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _shaped(open_data(Path(source)), str(source))
    if not isinstance(source, (Tensor, np.ndarray)):
        reason = f"is a {type(source).__name__}, no array or tensor"
        remedy = "cut its sequences to one length, and join them by numpy.stack or torch.cat"
        raise FileError("the data", reason, remedy)
    return _shaped(_array(source), "the data")


def _array(part: Any) -> Array:
    if np.ma.is_masked(part) or getattr(part, "is_nested", False):
        reason = "has sequences of different lengths, or numbers left out"
        raise FileError("the data", reason, "cut it to sequences (N, T, d) of one length")
    if not isinstance(part, Tensor):
        return np.asarray(part)
    try:
        part = part.detach().cpu().resolve_neg()
        return np.asarray(part.float() if part.dtype == torch.bfloat16 else part)
    except (TypeError, RuntimeError, NotImplementedError):
        what = f"is a tensor of {part.dtype}, {part.layout}, on {part.device}"
        raise FileError("the data", what, "hand over a dense one of float32 or float64") from None


def _shaped(array: Array, source: str) -> Data:
    """One long series (T,) or (T, d), or sequences (N, T, d)."""
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        reason = f"holds {shown(array.dtype)} and no real numbers of at most 64 bits"
        remedy = ", sequences cut to one length" if array.dtype.kind == "O" else ""
        raise FileError(source, reason, f"save it as float32 or float64{remedy}")
    one = array.ndim < 3
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or not array.size:
        reason = f"has shape {tuple(array.shape)}, but (T, d) or (N, T, d) is needed"
        raise FileError(source, reason, "reshape it")
    if not array.flags.c_contiguous:  # rows are to lie one after another
        if array.nbytes > LARGEST:
            reason = f"is larger than {LARGEST} bytes and not stored row by row"
            raise FileError(source, reason, "save it with numpy.ascontiguousarray")
        array = np.ascontiguousarray(array)
    data = Data(array, one, source)
    _require_finite(data)
    return data


def _require_finite(data: Data) -> None:
    """Raise FileError for NaN and infinity, with their number and the first by sequence and t."""
    if data.rows.dtype.kind != "f":
        return
    count, first, row = 0, None, 0
    for block in data.inputs():
        bad = ~torch.isfinite(block)
        if found := int(bad.sum()):
            at = bad.nonzero()[0].tolist()
            first = first or (row + at[0], at[1])
            count += found
        row += len(block)
    if first is not None:
        sequence, t = divmod(first[0], data.T)
        where = f"t = {t}, channel {first[1]}" + ("" if data.one else f" of sequence {sequence}")
        what = "1 number is" if count == 1 else f"{count} numbers are"
        reason = f"{what} NaN or infinite, the first at {where}"
        raise FileError(data.source, reason, "repair the recording, or leave that part out")
