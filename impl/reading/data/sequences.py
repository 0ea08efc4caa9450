"""Recorded inputs: sequences from a file, an array or a tensor, looked at before anything is run.

Data are numbers: nothing that is read here can run code.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import FileError, shown
from rnnbounds.impl.reading.data.files import open_data
from rnnbounds.impl.reading.data.recordings import LARGEST, Array
from rnnbounds.impl.reading.data.recordings import Data as Data
from rnnbounds.impl.reading.data.recordings import float64 as float64

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
