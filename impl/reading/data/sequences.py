"""Recorded inputs: sequences from files, tensors and loaders, looked at before anything is run.

Data are numbers: nothing that is read here can run code.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.data.files import open_data
from rnnbounds.impl.reading.data.ragged import Ragged, cut_masked, cut_padding, joined, unpacked
from rnnbounds.impl.reading.data.recordings import LARGEST, Array
from rnnbounds.impl.reading.data.recordings import Data as Data
from rnnbounds.impl.reading.data.recordings import DataError as DataError
from rnnbounds.impl.reading.data.recordings import float64 as float64
from rnnbounds.impl.reading.data.tables import TableColumns

_MOST = 10**7  # sequences of a list

DataSource = str | os.PathLike[str] | Tensor | np.ndarray[Any, Any] | Iterable[Any]


def read_data(
    source: DataSource | Data,
    *,
    columns: str | Iterable[str] | None = None,
    group: str | None = None,
    time: str | None = None,
    lengths: DataSource | None = None,
    mask: DataSource | None = None,
) -> Data:
    """Read recorded inputs: sequences (T, d) or (N, T, d), or of different lengths; (T,) is one
    channel.

    `source` is a .npy file, a .npz of `x` beside `lengths` or `mask`, a .wav of PCM (as fractions
    of its largest sample), a .safetensors of one tensor, or a table: .csv, .parquet and .arrow
    (extra `parquet`); a tensor or an array; a list of sequences (T_i, d) or a `PackedSequence`; or
    batches of a DataLoader, each (N, T, d), a PackedSequence, or a tuple that begins with one.
    `columns` of a table are its channels, as "a,b"; rows of one `group` are a series, in their
    order, in which `time` has to increase. `lengths` (N,) or a `mask` (N, T) say what of (N, T, d)
    is no padding. Raises an InputError of one line for what is damaged, too large, of objects, of
    another shape, or holds NaN or infinity (how many, where).

    >>> rnnbounds.read_data("x.csv", columns="speed,load", group="machine", time="t")
    """
    named = TableColumns.of(columns, group, time)
    if isinstance(source, Data):
        if named.stated or lengths is not None or mask is not None:
            remedy = "state columns, lengths and masks where they are read"
            raise DataError(source.source, "is data that was read", remedy)
        return source
    if isinstance(source, (str, os.PathLike)):
        where, found = str(source), open_data(Path(source), named)
    else:
        where = "the data"
        if named.stated:
            raise DataError(where, "has no columns with names", "leave columns, group, time out")
        found = _held(source)
    if lengths is not None or mask is not None:
        found = _cut(found, lengths, mask, where)
    return _sequences(found, where) if isinstance(found, Ragged) else _shaped(found, where)


def _held(source: Any) -> Array | Ragged:
    """The numbers of an object of Python."""
    if isinstance(source, PackedSequence):
        return joined([_array(part) for part in unpacked(source)], "the data")
    return _array(source) if isinstance(source, (Tensor, np.ndarray)) else _batches(source)


def _cut(
    found: Array | Ragged, lengths: DataSource | None, mask: DataSource | None, where: str
) -> Ragged:
    """The sequences of padded ones."""
    if isinstance(found, Ragged):
        reason = "has sequences of their own lengths"
        raise DataError(where, reason, "leave lengths and mask out")
    if lengths is not None and mask is not None:
        raise DataError(where, "has lengths and a mask beside it", "give one of the two")
    beside: Any = mask if lengths is None else lengths
    read = open_data(Path(beside)) if isinstance(beside, (str, os.PathLike)) else _array(beside)
    if isinstance(read, Ragged):
        raise DataError(str(beside), "is of different lengths", "give one array")
    if lengths is None:
        return cut_masked(found, read, where)
    return cut_padding(found, read[:, 0] if read.shape[1:] == (1,) else read, where)


def _array(part: Any) -> Array:
    if np.ma.is_masked(part):
        reason = "has masked numbers, which are no inputs"
        raise DataError("the data", reason, "leave those parts out, or fill them in")
    if not isinstance(part, Tensor):
        return np.asarray(part)
    try:
        part = part.detach().cpu().resolve_neg()
        return np.asarray(part.float() if part.dtype == torch.bfloat16 else part)
    except (TypeError, RuntimeError, NotImplementedError):
        what = f"is a tensor of {part.dtype}, {part.layout}, on {part.device}"
        raise DataError("the data", what, "hand over a dense one of float32 or float64") from None


def _batches(loader: Any) -> Array | Ragged:
    """All batches of a loader, or sequences of a list, one after another; as much as a file may
    hold."""
    remedy = "hand over a tensor, an array, a file, a list of (T_i, d), or a loader of (N, T, d)"
    try:
        steps = iter(loader)
    except TypeError:
        raise DataError("the data", f"is a {type(loader).__name__}", remedy) from None
    found: list[Array] = []
    size = 0
    for batch in steps:
        if not isinstance(batch, PackedSequence) and isinstance(batch, (tuple, list)) and batch:
            batch = batch[0]
        packed = isinstance(batch, PackedSequence)
        parts = unpacked(batch) if packed else [batch]
        if not isinstance(parts[0], (Tensor, np.ndarray)):
            raise DataError("the data", f"has a batch of {type(batch).__name__}", remedy)
        arrays = [_array(part) for part in parts]
        shape, known = arrays[0].shape, found[0].shape if found else arrays[0].shape
        whole = len(shape) == 3 and shape[1:] == known[1:]
        listed = packed or isinstance(loader, (tuple, list))  # of a loader, (B, d) is no sequence
        if not whole and not (listed and 1 <= len(shape) == len(known) <= 2):
            told = f", after one of shape {known}" if found else ""
            raise DataError("the data", f"has a batch of shape {shape}{told}", remedy)
        size += sum(array.nbytes for array in arrays)
        if size > LARGEST or len(found) > _MOST:
            reason = f"is more than {LARGEST} bytes in its batches"
            raise DataError("the data", reason, "hand over fewer of them")
        found += arrays
    if not found:
        raise DataError("the data", "has no batches", remedy)
    return np.concatenate(found) if found[0].ndim == 3 else joined(found, "the data")


def _sequences(found: Ragged, source: str) -> Data:
    """Sequences of different lengths, or of one."""
    _require_real(found.rows, source)
    data = Data(np.ascontiguousarray(found.rows), found.lengths, len(found.lengths) == 1, source)
    _require_finite(data)
    return data


def _shaped(array: Array, source: str) -> Data:
    """One long series (T,) or (T, d), or sequences (N, T, d)."""
    _require_real(array, source)
    one = array.ndim < 3
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or not array.size:
        reason = f"has shape {tuple(array.shape)}, but (T, d) or (N, T, d) is needed"
        raise DataError(source, reason, "reshape it")
    if not array.flags.c_contiguous:  # rows are to lie one after another
        if array.nbytes > LARGEST:
            reason = f"is larger than {LARGEST} bytes and not stored row by row"
            raise DataError(source, reason, "save it with numpy.ascontiguousarray")
        array = np.ascontiguousarray(array)
    N, T, d = array.shape
    data = Data(array.reshape(N * T, d), np.full(N, T), one, source)
    _require_finite(data)
    return data


def _require_real(array: Array, source: str) -> None:
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        reason = f"holds {shown(array.dtype)} and no real numbers of at most 64 bits"
        raise DataError(source, reason, "save it as float32 or float64")


def _require_finite(data: Data) -> None:
    """Raise DataError for NaN and infinity, with their number and the first by sequence and t."""
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
        sequence, t = data.place(first[0])
        where = f"t = {t}, channel {first[1]}" + ("" if data.one else f" of sequence {sequence}")
        what = "1 number is" if count == 1 else f"{count} numbers are"
        reason = f"{what} NaN or infinite, the first at {where}"
        raise DataError(data.source, reason, "repair the recording, or leave that part out")
