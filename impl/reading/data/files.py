"""Files of numbers, by their suffix: as arrays, of bounded size, without running what they hold."""

import csv
import io
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.files import ModelFileError, parse_safetensors, read_file
from rnnbounds.impl.reading.foreign import pointer

LARGEST = 2**31  # bytes of numbers in memory; a .npy is mapped and may be of any size
LARGEST_TEXT = 2**28  # bytes of a text, whose numbers take up to four times as much
LARGEST_HEADER = 10_000  # bytes of a .npy's, as NumPy has it, which reads a longer one first
_AGAIN = "save the numbers again"

Array = np.ndarray[Any, Any]


def open_data(path: Path) -> Array:
    """The array of a file; raises ModelFileError, of one line, for all that is none."""
    known = _READERS.get(path.suffix.lower())
    if known is None:
        kinds = ", ".join(_READERS)
        raise ModelFileError(path, "is no file of data that is read", f"save it as one of {kinds}")
    if path.is_file() and not path.stat().st_size:
        raise ModelFileError(path, "is empty", _AGAIN)
    if path.is_file():
        with path.open("rb") as stream:
            if told := pointer(stream.read(64)):
                raise ModelFileError(path, *told)
    return known(path)


def _npy(path: Path) -> Array:
    if not path.is_file():  # a pipe would be waited for
        what = "is no regular file" if path.exists() else "does not exist"
        raise ModelFileError(path, what, "name a file of data")
    try:
        _require_header(path)
        array = np.lib.format.open_memmap(path, mode="r")
    except Exception as cause:  # a damaged header makes NumPy raise anything
        if "Python objects" in str(cause):
            reason = "holds Python objects, which may run code"
            raise ModelFileError(path, reason, "save plain numbers, as float64") from None
        reason = f"is no intact .npy file ({_line(cause)})"
        raise ModelFileError(path, reason, _AGAIN) from None
    if (beyond := path.stat().st_size - array.offset - array.nbytes) > 0:
        raise ModelFileError(path, f"has {beyond} bytes after its numbers", _AGAIN)
    return array


def _require_header(path: Path) -> None:
    """Raise ValueError for a header that says it is longer than any: it would be read whole."""
    with path.open("rb") as stream:
        major, _ = np.lib.format.read_magic(stream)
        length = int.from_bytes(stream.read(2 if major == 1 else 4), "little")
    if length > LARGEST_HEADER:
        raise ValueError(f"it has a header of {length} bytes")


def _csv(path: Path) -> Array:
    try:
        text = _whole(path, LARGEST_TEXT).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelFileError(path, "is no text in UTF-8", _AGAIN) from None
    first = text.lstrip().partition("\n")[0]
    delimiter = next((c for c in ",;\t" if c in first), ",")
    try:
        names = _named(text, delimiter)
        if not any(line.strip() for line in islice(io.StringIO(text), names, None)):
            raise ModelFileError(path, "has no row of numbers", _AGAIN)
        return np.loadtxt(
            io.StringIO(text), delimiter=delimiter, skiprows=names, ndmin=2,
            quotechar='"', comments=None,
        )  # fmt: skip
    except ModelFileError:
        raise
    except (ValueError, csv.Error) as cause:
        reason = f"is no table of numbers ({_line(cause)})"
        raise ModelFileError(path, reason, "keep columns of numbers alone") from None


def _named(text: str, delimiter: str) -> int:
    """How many lines stand before the numbers: 1 if the first that is not empty has names."""
    for number, line in enumerate(io.StringIO(text)):
        if line.strip():
            cells = next(csv.reader([line[:LARGEST_TEXT]], delimiter=delimiter))
            return 0 if any(map(_number, cells)) else number + 1
    return 0


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parquet(path: Path) -> Array:
    data = io.BytesIO(_whole(path))
    try:
        from pyarrow import parquet
    except ImportError:
        remedy = "install rnnbounds[parquet], or save it as .npy"
        raise ModelFileError(path, "needs pyarrow to be read", remedy) from None
    try:
        file = parquet.ParquetFile(data)
        _require_numbers(file.schema_arrow, path)
        if _unpacked(file.metadata) > LARGEST:
            raise ModelFileError(path, f"unpacks to more than {LARGEST} bytes", _AGAIN)
        batches = [_columns(batch) for batch in file.iter_batches()]
        return np.concatenate(batches) if batches else np.empty((0, len(file.schema_arrow)))
    except ModelFileError:
        raise
    except Exception as cause:  # a damaged file makes the parser raise anything
        reason = f"is no intact table of numbers ({_line(cause)})"
        raise ModelFileError(path, reason, "keep columns of numbers alone") from None


def _require_numbers(schema: Any, path: Path) -> None:
    """Raise ModelFileError for a column that is not of numbers, before a value of it is decoded: a
    text of a few bytes in the file may stand in every row."""
    from pyarrow import types

    for field in schema:
        kind = field.type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            reason = f"column {shown(field.name)!r} is of {shown(kind)}, not of numbers"
            raise ModelFileError(path, reason, "keep columns of numbers alone")


def _unpacked(metadata: Any) -> int:
    """Bytes that a Parquet file takes in memory: of its pages, or of its numbers as float64."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    columns = [group.column(i) for group in groups for i in range(group.num_columns)]
    pages = sum(int(column.total_uncompressed_size) for column in columns)
    return max(pages, int(metadata.num_rows) * int(metadata.num_columns) * 8)


@np.errstate(all="ignore")  # a NaN may signal
def _columns(batch: Any) -> Array:
    """A batch of rows; numbers that are missing are NaN."""
    columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def _safetensors(path: Path) -> Array:
    tensors, _ = parse_safetensors(_whole(path), path)
    if len(tensors) != 1:
        reason = f"holds {len(tensors)} tensors"
        raise ModelFileError(path, reason, "keep the one of the inputs")
    (tensor,) = tensors.values()
    narrow = tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4
    return np.asarray(tensor.float() if narrow else tensor)


_READERS: Mapping[str, Callable[[Path], Array]] = {
    ".npy": _npy, ".csv": _csv, ".parquet": _parquet, ".safetensors": _safetensors,
}  # fmt: skip


def _whole(path: Path, largest: int = LARGEST) -> bytes:
    return read_file(path, largest, what="data", smaller="save it as .npy, which is read in parts")


def _line(cause: BaseException) -> str:
    return " ".join(str(cause).split())[:120] or type(cause).__name__
