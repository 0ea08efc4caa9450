"""Recorded inputs as a record: sequences of numbers, their extent, and windows cut from them.

Numbers keep the dtype that they are stored in, are mapped from the disk where the format allows it,
and become float64, which is exact for all dtypes that are read but integers beyond 2⁵³, a block at
a time.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.errors import (
    FileError,
    RangeError,
    at_least,
    exactly,
    number,
    to_copy,
)
from rnnbounds.impl.numbers.outward import add_up, norm_bound, norm_up

LARGEST = 2**31  # bytes of numbers in memory; a .npy is mapped and may be of any size
BLOCK = 2**20  # numbers that are float64 at a time
LENGTH = 64  # of the windows that one long series is cut into, unless it is short

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Windows:
    """M windows (T, d) of a recording that share no input, each read when it is taken.

    rows: all inputs (R, d) as stored. first: the row at which each window begins, (M,).
    sequences: the number N of sequences that they are cut from.
    """

    rows: Array
    first: Array
    T: int
    sequences: int

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, chosen: slice | Array) -> Array:
        """Some of the windows, (m, T, d), copied."""
        found: Array = self.rows[self.first[chosen][:, None] + np.arange(self.T)]
        return found

    @property
    def d(self) -> int:
        """The number of channels."""
        return int(self.rows.shape[1])


@dataclass(frozen=True, eq=False)
class Data:
    """N sequences of T inputs of d channels, all finite: `x` (N, T, d) as stored, row by row.

    `one`: true for one long series. `source` names them in messages.
    """

    x: Array
    one: bool
    source: str

    @property
    def N(self) -> int:
        """How many sequences."""
        return len(self.x)

    @property
    def T(self) -> int:
        """How many inputs a sequence has."""
        return int(self.x.shape[1])

    @property
    def d(self) -> int:
        """How many channels an input has."""
        return int(self.x.shape[2])

    @property
    def rows(self) -> Array:
        """All inputs (N T, d), one after another, a view."""
        return self.x.reshape(-1, self.d)

    @property
    def reversed(self) -> "Data":
        """The sequences as a cell reads them that runs from the last input to the first."""
        x = np.ascontiguousarray(self.x[:, ::-1])
        return Data(x, self.one, f"{self.source}, backward")

    def inputs(self) -> Iterator[Tensor]:
        """All inputs in order, a block (rows, d) in float64 at a time."""
        rows = max(1, BLOCK // self.d)
        for start in range(0, len(self.rows), rows):
            yield float64(self.rows[start : start + rows])

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

    def require_width(self, d: int, window: int | None) -> None:
        """Raise FileError unless inputs have d channels, and where the axis before theirs is as
        long, so that time may be either, unless a window is stated."""
        shape = f"(T, d) = {self.x.shape[1:]}" if self.one else f"(N, T, d) = {self.x.shape}"
        if self.d != d:
            reason = f"is read as {shape}, but the model reads {d} channels per input"
            swapped = d > 1 and d in self.x.shape[:2]
            remedy = "move that axis to the end" if swapped else "pass the inputs of the model"
            raise FileError(self.source, reason, remedy)
        if window is None and self.T == d > 1:
            reason = f"may be {shape} or have its channels before its times"
            as_it_is = f"rnnbounds measure --window {self.windows().T} takes it as it is"
            raise FileError(self.source, reason, f"swap the two if so; {as_it_is}")

    def require_of(self, bound: InputBound) -> None:
        """Raise an InputError unless all inputs are of that ball, or `InputSet`, which is decided
        exactly."""
        if isinstance(bound, InputSet):
            bound.require(self.d)
            self._require_in(bound)
            bound = float(bound)
        if not 0 <= number("the input bound B", bound, "a number ≥ 0") < math.inf:
            raise RangeError("the input bound B", bound, "a number ≥ 0")
        B, beyond, largest = float(bound), 0, 0.0
        for block in self.inputs():
            if norm_bound(block, 1).amax() <= B:
                continue
            norms = norm_up(block)
            for row in (norms > B).nonzero()[:, 0].tolist():
                if norms[row] > B * (1 + 2.0**-40) or _beyond(block[row], B):
                    beyond, largest = beyond + 1, max(largest, float(norms[row]))
        if beyond:
            reason = (
                f"{beyond} of {len(self.rows)} inputs are beyond ‖x_t‖₂ ≤ {exactly(B)}, by "
                f"up to {at_least(largest - B, 3)}"
            )
            raise FileError(
                self.source, reason, f"state an input bound of {to_copy(largest)} or more"
            )

    def _require_in(self, given: InputSet) -> None:
        """Raise FileError if an input leaves the box of the set, or is none of its rows, to the
        last bit."""
        outside, most = 0, 0.0
        for block in self.inputs():
            apart = torch.maximum(given.low - block, block - given.high).amax(1)
            outside, most = outside + int((apart > 0).sum()), max(most, float(apart.amax()))
        if outside:
            reason = f"{outside} of {len(self.rows)} inputs leave {given.what}, by up to "
            remedy = "state a larger set of inputs"
            raise FileError(self.source, f"{reason}{at_least(most, 3)}", remedy)
        if given.rows is not None:
            known = {row.tobytes() for row in _bits(given.rows)}
            rows = (row for block in self.inputs() for row in _bits(block))
            if other := sum(row.tobytes() not in known for row in rows):
                reason = f"{other} of {len(self.rows)} inputs are none of {given.what}"
                raise FileError(self.source, reason, "state the set that they are of")

    def distance(self, x: Sequence[float]) -> float:
        """At least the Euclidean distance of x (d,) from the nearest input, by rounding alone."""
        point = torch.tensor(x, dtype=torch.float64)
        nearest = [
            block[torch.linalg.vector_norm(block - point, dim=1).argmin()]
            for block in self.inputs()
        ]
        rows = torch.stack(nearest)
        apart = torch.maximum(add_up(rows, -point), add_up(point, -rows))
        return float(norm_up(apart).amin())

    def windows(self, length: int | None = None) -> Windows:
        """Windows of that length that share no input: each sequence is cut from its start, and the
        rest at its end left out; by default the sequences themselves, and one series in windows of
        64, or of its eighth part. Raises FileError if they are shorter, RangeError for no
        length."""
        if length is None:
            length = min(self.T, LENGTH, max(2, self.T // 8)) if self.one else self.T
        if type(length) is not int or length < 1:
            raise RangeError("the window", repr(length), "a whole number of inputs, at least 1")
        if length > self.T:
            reason = f"has sequences of {self.T} inputs, fewer than a window of {length}"
            raise FileError(self.source, reason, "record longer ones, or ask for a shorter window")
        begins = np.arange(self.N)[:, None] * self.T + np.arange(self.T // length) * length
        return Windows(self.rows, begins.ravel(), length, self.N)


def float64(x: Array) -> Tensor:
    """A part of the data, copied."""
    with np.errstate(all="ignore"):  # a NaN may signal
        return torch.from_numpy(np.array(x, dtype=np.float64))


def _bits(rows: Tensor) -> np.ndarray[Any, Any]:
    """The rows in float64, where −0 is 0."""
    found: np.ndarray[Any, Any] = rows.to(torch.float64).add(0.0).numpy()
    return found


def _beyond(x: Tensor, B: float) -> bool:
    return sum(Fraction(a) ** 2 for a in x.tolist()) > Fraction(B) ** 2
