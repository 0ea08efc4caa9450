"""Windows of recorded inputs: cut from the data, and counted while a measurement runs them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from rnnbounds.impl.reading.data.sequences import Data

LENGTH = 64  # of the windows that one long series is cut into, unless it is short

R = TypeVar("R")


@dataclass
class WindowCount:
    """Calls progress(done, total) after each block of windows; a total of `total` windows."""

    total: int
    progress: Callable[[int, int], None] | None
    done: int = 0

    def after(self, windows: slice, found: R) -> R:
        """Count these windows as done, report the progress, and return `found`."""
        self.done += windows.stop - windows.start
        if self.progress is not None:
            self.progress(self.done, self.total)
        return found


def cut(data: Data, length: int | None) -> np.ndarray[Any, Any]:
    """Windows (N, each, T, d) of `length` inputs; by default the sequences whole, and one long
    series in windows of 64 inputs, or of its eighth part if that is shorter."""
    if length is None and data.one:
        length = min(data.T, LENGTH, max(2, data.T // 8))
    return data.windows(length)


def rows_of(held: np.ndarray[Any, Any], rows: slice) -> np.ndarray[Any, Any]:
    """The windows of these numbers, in order, of windows (N, each, T, d): (M, T, d), copied."""
    i = np.arange(rows.start, rows.stop)
    found: np.ndarray[Any, Any] = held[i // held.shape[1], i % held.shape[1]]
    return found
