"""Seconds of several sides that do the same work, interleaved in one run.

On a CPU the clock is that of the process, user and system time together: with one thread it agrees
with the wall on a quiet machine, and on a shared one it does not count what others were given. Work
on a CUDA device is not seen by it, so there the clock is the wall, read once the device is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from time import perf_counter, process_time

import torch

REPEATS = 11
SYSTEM_FACTOR = 64  # on CUDA, whose launches would rule otherwise
LEAST_SECONDS = 0.004  # seconds that one reading takes at least: short work is done several times

Work = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds of each side, reading by reading; the sides of one reading follow each other."""

    sides: tuple[tuple[float, ...], ...]

    def seconds(self, side: int) -> float:
        """The median of one side."""
        return median(self.sides[side])

    def ratios(self, top: int, bottom: int) -> tuple[float, ...]:
        """One side over another, reading by reading, in order."""
        return tuple(
            sorted(a / b for a, b in zip(self.sides[top], self.sides[bottom], strict=True))
        )


@dataclass(frozen=True)
class Clock:
    """Reads one device, so many times."""

    device: str = "cpu"
    repeats: int = REPEATS
    sample: float = LEAST_SECONDS

    @property
    def name(self) -> str:
        """Name of the time that the clock reads: CPU time on the CPU, else wall time."""
        return "CPU time" if self.device == "cpu" else "wall time"

    @property
    def system_factor(self) -> int:
        """How many times as many systems fill the device as fill a CPU."""
        return 1 if self.device == "cpu" else SYSTEM_FACTOR

    def now(self) -> float:
        """Seconds."""
        if self.device == "cpu":
            return process_time()
        if torch.device(self.device).type == "cuda":
            torch.cuda.synchronize(self.device)
        return perf_counter()

    def time_once(self, work: Work, times: int = 1) -> float:
        """Seconds of one of so many runs of a work."""
        start = self.now()
        for _ in range(times):
            work()
        return (self.now() - start) / times

    def time_interleaved(self, works: Sequence[Work]) -> Timing:
        """One reading of each side after the other, `repeats` times, after one that warms up."""
        once = [min(self.time_once(work), self.time_once(work)) for work in works]
        times = [max(1, ceil(self.sample / max(seconds, 1e-7))) for seconds in once]
        readings = [
            [self.time_once(work, of_work) for work, of_work in zip(works, times, strict=True)]
            for _ in range(self.repeats)
        ]
        return Timing(tuple(zip(*readings, strict=True)))
