"""Recorded inputs: sequences from files, tensors and loaders, looked at before anything is run.

Data are numbers: nothing that is read here can run code. They keep the dtype that they are stored
in, are mapped from the disk where the format allows it, and become float64, which is exact for all
dtypes that are read but integers beyond 2⁵³, a block at a time.
"""

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.errors import InputError, RangeError, at_least, exactly, number, shown, to_copy
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.reading.data.files import LARGEST, open_data

BLOCK = 2**20  # numbers that are float64 at a time

DataSource = str | os.PathLike[str] | Tensor | np.ndarray[Any, Any] | Iterable[Any]


class DataError(InputError):
    """Inputs that cannot be what the model is run on."""

    def __init__(self, source: str, reason: str, remedy: str) -> None:
        super().__init__(f"{shown(source)}: {reason}; {remedy}")


@dataclass(frozen=True, eq=False)
class Data:
    """N sequences of T inputs of d channels, all finite: `x` (N, T, d) as stored.

    `one`: whether they came as one long series (T, d). `source` names them in messages.
    """

    x: np.ndarray[Any, Any]
    one: bool
    source: str

    @property
    def N(self) -> int:
        """How many sequences."""
        return int(self.x.shape[0])

    @property
    def T(self) -> int:
        """How long each is."""
        return int(self.x.shape[1])

    @property
    def d(self) -> int:
        """How many channels an input has."""
        return int(self.x.shape[2])

    def inputs(self) -> Iterator[Tensor]:
        """All inputs in order, a block (rows, d) in float64 at a time."""
        rows = max(1, BLOCK // self.d)
        flat = self.x.reshape(-1, self.d)  # a view: rows lie one after another
        for start in range(0, len(flat), rows):
            yield float64(flat[start : start + rows])

    @property
    def largest(self) -> float:
        """At least ‖x_t‖₂ of every input, rounded up."""
        found = 0.0
        for block in self.inputs():
            norms = torch.linalg.vector_norm(block, dim=1)
            top = norms.amax()  # the largest is among those that rounding does not tell from it
            near = norms >= top * (1 - 2.0**-30) if 2.0**-400 < top < math.inf else norms >= 0
            found = max(found, float(norm_up(block[near]).amax()))
        return found

    @property
    def ends(self) -> tuple[Tensor, Tensor]:
        """The least and the largest number of each channel, (d,) each."""
        blocks = [(block.amin(0), block.amax(0)) for block in self.inputs()]
        low, high = (torch.stack(ends) for ends in zip(*blocks, strict=True))
        return low.amin(0), high.amax(0)

    def require_width(self, d: int) -> "Data":
        """Itself; raises DataError unless inputs have d channels."""
        if self.d != d:
            reason = f"has {self.d} channels per input, but the model reads {d}"
            raise DataError(self.source, reason, "pass the inputs of the model")
        return self

    def require_within(self, B: float) -> "Data":
        """Itself; raises DataError if an input has ‖x_t‖₂ > B, which is decided exactly."""
        if not 0 <= number("the input bound B", B, "a number ≥ 0") < math.inf:
            raise RangeError("the input bound B", B, "a number ≥ 0")
        beyond, largest = 0, 0.0
        for block in self.inputs():
            if torch.linalg.vector_norm(block, dim=1).amax() < B * (1 - 2.0**-30):
                continue
            norms = norm_up(block)
            for row in (norms > B).nonzero()[:, 0].tolist():
                if norms[row] > B * (1 + 2.0**-40) or _beyond(block[row], B):
                    beyond, largest = beyond + 1, max(largest, float(norms[row]))
        if beyond:
            reason = (
                f"{beyond} of {self.N * self.T} inputs are beyond ‖x_t‖₂ ≤ {exactly(B)}, by "
                f"up to {at_least(largest - B, 3)}"
            )
            raise DataError(
                self.source, reason, f"state an input bound of {to_copy(largest)} or more"
            )
        return self

    def require_in(self, low: Tensor, high: Tensor, what: str) -> "Data":
        """Itself; raises DataError if an input leaves the box low ≤ x ≤ high, (d,) each."""
        count, most = 0, 0.0
        for block in self.inputs():
            apart = torch.maximum(low - block, block - high).amax(1)
            count, most = count + int((apart > 0).sum()), max(most, float(apart.amax()))
        if count:
            reason = (
                f"{count} of {self.N * self.T} inputs leave {what}, by up to {at_least(most, 3)}"
            )
            raise DataError(self.source, reason, "state a larger set of inputs")
        return self

    def require_among(self, rows: Tensor, what: str) -> "Data":
        """Itself; raises DataError if an input is none of the rows (m, d), to the last bit."""
        known = {row.tobytes() for row in _bits(rows)}
        count = sum(row.tobytes() not in known for block in self.inputs() for row in _bits(block))
        if count:
            reason = f"{count} of {self.N * self.T} inputs are none of {what}"
            raise DataError(self.source, reason, "state the set that they are of")
        return self

    def require_of(self, bound: float) -> "Data":
        """Itself; raises an InputError unless all inputs are of that ball, or `InputSet`."""
        if isinstance(bound, InputSet):
            bound.require(self.d)
            self.require_in(bound.low, bound.high, bound.what)
            if bound.rows is not None:
                self.require_among(bound.rows, bound.what)
        return self.require_within(bound)

    def windows(self, length: int | None = None) -> np.ndarray[Any, Any]:
        """Windows that share no input, a view (N, M, length, d): each sequence cut from its start,
        what is left over at its end left out; by default the sequences whole. Raises DataError
        where a sequence is shorter."""
        length = self.T if length is None else length
        if type(length) is not int or length < 1:
            raise RangeError("the window", repr(length), "a whole number of inputs, at least 1")
        if length > self.T:
            reason = f"has sequences of {self.T} inputs, fewer than a window of {length}"
            raise DataError(self.source, reason, "record longer ones, or ask for a shorter window")
        each = self.T // length
        return self.x[:, : each * length].reshape(self.N, each, length, self.d)


def read_data(source: DataSource | Data) -> Data:
    """Sequences (T, d) or (N, T, d); (T,) is one channel.

    `source` is a .npy file, a .csv of numbers (with or without a line of names), a .parquet (extra
    `parquet`) or a .safetensors of one tensor; a tensor or an array; or batches (N, T, d) of a
    DataLoader, of which tuples give their first entry. Raises an InputError of one line for what is
    damaged, too large, of objects, of another shape, or holds NaN or infinity (how many, where).
    """
    if isinstance(source, Data):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _shaped(open_data(Path(source)), str(source))
    if isinstance(source, (Tensor, np.ndarray)):
        return _shaped(_array(source), "the data")
    return _shaped(_batches(source), "the data")


def float64(x: np.ndarray[Any, Any]) -> Tensor:
    """A part of the data, copied."""
    with np.errstate(all="ignore"):  # a NaN may signal
        return torch.from_numpy(np.array(x, dtype=np.float64))


def _array(part: Any) -> np.ndarray[Any, Any]:
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


def _batches(loader: Any) -> np.ndarray[Any, Any]:
    """All batches of a loader, one after another; as much as a file may hold."""
    remedy = "hand over a tensor, an array, a file, or a loader of tensors (N, T, d)"
    try:
        steps = iter(loader)
    except TypeError:
        raise DataError("the data", f"is a {type(loader).__name__}", remedy) from None
    found: list[np.ndarray[Any, Any]] = []
    size = 0
    for batch in steps:
        part = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
        if not isinstance(part, (Tensor, np.ndarray)):
            raise DataError("the data", f"has a batch of {type(part).__name__}", remedy)
        array = _array(part)
        if array.ndim != 3 or (found and array.shape[1:] != found[0].shape[1:]):
            told = f", after one of shape {found[0].shape}" if found else ""
            raise DataError("the data", f"has a batch of shape {array.shape}{told}", remedy)
        size += array.nbytes
        if size > LARGEST:
            reason = f"is more than {LARGEST} bytes in its batches"
            raise DataError("the data", reason, "hand over fewer of them")
        found.append(array)
    if not found:
        raise DataError("the data", "has no batches", remedy)
    return np.concatenate(found)


def _shaped(array: np.ndarray[Any, Any], source: str) -> Data:
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        reason = f"holds {array.dtype} and no real numbers of at most 64 bits"
        raise DataError(source, reason, "save it as float32 or float64")
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
    data = Data(array, one, source)
    if array.dtype.kind == "f":
        _require_finite(data)
    return data


def _require_finite(data: Data) -> None:
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
        raise DataError(data.source, reason, "repair the recording, or leave that part out")


def _bits(rows: Tensor) -> np.ndarray[Any, Any]:
    """The rows in float64, where −0 is 0."""
    found: np.ndarray[Any, Any] = rows.to(torch.float64).add(0.0).numpy()
    return found


def _beyond(x: Tensor, B: float) -> bool:
    return sum(Fraction(a) ** 2 for a in x.tolist()) > Fraction(B) ** 2
