"""Files of numbers, by their suffix: as arrays, of bounded size, without running what they hold."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from rnnbounds.impl.reading.data.arrays import npy_file, npz_file
from rnnbounds.impl.reading.data.arrow_tables import arrow_table, parquet_table
from rnnbounds.impl.reading.data.contents import AGAIN, whole
from rnnbounds.impl.reading.data.ragged import Ragged
from rnnbounds.impl.reading.data.recordings import Array
from rnnbounds.impl.reading.data.tables import TableColumns
from rnnbounds.impl.reading.data.text_tables import csv_table
from rnnbounds.impl.reading.data.wave_files import wave_file
from rnnbounds.impl.reading.files import ModelFileError, parse_safetensors
from rnnbounds.impl.reading.foreign import pointer


def open_data(path: Path, named: TableColumns | None = None) -> Array | Ragged:
    """The numbers of a file, of those columns if it is a table: an array as stored, or sequences of
    different lengths. Raises ModelFileError, of one line, for all that is none."""
    known = _TABLES.get(path.suffix.lower()) or _READERS.get(path.suffix.lower())
    if known is None:
        kinds = ", ".join((*_READERS, *_TABLES))
        raise ModelFileError(path, "is no file of data that is read", f"save it as one of {kinds}")
    if path.is_file() and not path.stat().st_size:
        raise ModelFileError(path, "is empty", AGAIN)
    if path.is_file():
        with path.open("rb") as stream:
            if told := pointer(stream.read(64)):
                raise ModelFileError(path, *told)
    if (table := _TABLES.get(path.suffix.lower())) is not None:
        return table(path, named or TableColumns())
    if named is not None and named.stated:
        kinds = ", ".join(_TABLES)
        reason = "is no table, so that it has no columns"
        raise ModelFileError(path, reason, f"leave these out, or save it as one of {kinds}")
    return _READERS[path.suffix.lower()](path)


def _safetensors(path: Path) -> Array:
    tensors, _ = parse_safetensors(whole(path), path)
    if len(tensors) != 1:
        reason = f"holds {len(tensors)} tensors"
        raise ModelFileError(path, reason, "keep the one of the inputs")
    (tensor,) = tensors.values()
    narrow = tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4
    return np.asarray(tensor.float() if narrow else tensor)


_READERS: Mapping[str, Callable[[Path], Array | Ragged]] = {
    ".npy": npy_file, ".npz": npz_file, ".safetensors": _safetensors, ".wav": wave_file,
}  # fmt: skip
_TABLES: Mapping[str, Callable[[Path, TableColumns], Array | Ragged]] = {
    ".csv": csv_table, ".parquet": parquet_table, ".arrow": arrow_table,
}  # fmt: skip
