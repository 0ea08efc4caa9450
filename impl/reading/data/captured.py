"""Recorded inputs of a layer inside a model: sequences, their starts, and what else was seen."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnnbounds import disk
from rnnbounds.impl.errors import at_least, shown
from rnnbounds.impl.reading.data.sequences import Data, DataError, read_data

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Captured:
    """Inputs that reached a layer while its model ran.

    sequences: the inputs (T_i, d) of each, in order. starts: (N, S), the states from which they
    were run, of all layers, of an LSTM h before c; zeros where none was given. batch_first: how
    torch's layer stacks its inputs, None for other modules. dilations: what the layer, or a module
    around it, has as `dilation` or `dilations`, by its path. carried_over: in how many of the
    `batches` the layer started where it had ended in the one before. training: True if the model
    was in training mode.

    >>> seen = rnnbounds.capture(model, loader, "encoder.rnn")
    >>> print(*seen.notes(), sep="\\n")
    >>> rnnbounds.measure(model, seen.data(), layer="encoder.rnn")
    """

    layer: str
    sequences: tuple[Array, ...]
    starts: Array
    batch_first: bool | None
    dilations: Mapping[str, object]
    batches: int
    carried_over: int
    training: bool

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of each sequence."""
        return tuple(map(len, self.sequences))

    @property
    def largest_start(self) -> float:
        """The largest |s_i| of a state that a sequence was run from."""
        return float(np.abs(self.starts).max(initial=0.0))

    def notes(self) -> list[str]:
        """Facts that the weights do not say, a line each."""
        short, long = min(self.lengths), max(self.lengths)
        length = f"{short}" if short == long else f"{short} to {long}"
        d = self.sequences[0].shape[1]
        lines = [f"{self.layer}: {len(self.sequences)} sequences of {length} inputs (T, {d})"]
        if self.batch_first is not None:
            lines.append(f"batch_first is {self.batch_first}")
        for path, value in self.dilations.items():
            lines.append(
                f"{shown(path)} = {shown(value)}: if the layer is dilated by r, its inputs stand r "
                f"steps apart and k of them span k·r steps"
            )
        if self.largest_start > 0:
            lines.append(
                f"runs start from states other than zero, up to |s_i| = "
                f"{at_least(self.largest_start)}, where measurements start from zero"
            )
        if self.carried_over:
            lines.append(
                f"the state is carried over: in {self.carried_over} of {self.batches} batches the "
                f"layer starts where it had ended"
            )
        if self.training:
            lines.append("the model is in training mode, where inputs may be drawn at random")
        return lines

    def data(self) -> Data:
        """The sequences as data for `measure`, of different lengths as they are."""
        return read_data(list(self.sequences))

    def save(self, path: str | Path) -> None:
        """Write the sequences: to .npy as (N, T, d), which `measure --data` reads, or to .npz as
        `x` (N, T, d) with zeros after the end of shorter ones, `lengths` (N,) and `starts` (N, S).

        Raises DataError for another name, where lengths differ, or where it cannot be written.
        """
        target, stream = Path(path), io.BytesIO()
        if target.suffix == ".npy":
            np.save(stream, self.data().x)
        elif target.suffix == ".npz":
            x = np.zeros((len(self.sequences), max(self.lengths), self.sequences[0].shape[1]))
            x = x.astype(self.sequences[0].dtype)
            for row, one in zip(x, self.sequences, strict=True):
                row[: len(one)] = one
            np.savez(stream, x=x, lengths=np.array(self.lengths), starts=self.starts)
        else:
            raise DataError(str(path), "is no name for data", "end it in .npy or .npz")
        try:
            disk.write({target: stream.getvalue()})
        except OSError as error:
            raise DataError(str(path), f"cannot be written ({error.strerror})", "choose another "
                            "place") from None  # fmt: skip
