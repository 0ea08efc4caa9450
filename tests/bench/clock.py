"""Seconds of two sides that do the same work, interleaved in one run.

On a CPU the clock is that of the process, which does not count what others on the machine were
given; on a CUDA device it is the wall, read once the device is done.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import torch

REPEATS = 11
LEAST_SECONDS = 0.004  # that one reading takes at least: short work is done several times
SYSTEM_FACTOR = 64  # on CUDA, where launches would rule otherwise
CUDA_FACTOR = 10  # times the ratio that is asked on a CPU, against loops on the CPU
Work = Callable[[], object]


@dataclass(frozen=True)
class Clock:
    """Reads one device, so many times."""

    device: str = "cpu"
    repeats: int = REPEATS
    least: float = LEAST_SECONDS

    @property
    def factor(self) -> int:
        """How many times as many systems fill the device as fill a CPU."""
        return 1 if self.device == "cpu" else SYSTEM_FACTOR

    def now(self) -> float:
        """Seconds."""
        if self.device == "cpu":
            return process_time()
        torch.cuda.synchronize(self.device)
        return perf_counter()

    def once(self, work: Work, times: int = 1) -> float:
        """Seconds of one of so many runs of a work."""
        start = self.now()
        for _ in range(times):
            work()
        return (self.now() - start) / times

    def interleaved(self, works: Sequence[Work]) -> list[tuple[float, ...]]:
        """Seconds of each work, reading by reading, after one that warms up."""
        first = [min(self.once(work), self.once(work)) for work in works]
        times = [max(1, ceil(self.least / max(seconds, 1e-7))) for seconds in first]
        readings = [
            [self.once(work, often) for work, often in zip(works, times, strict=True)]
            for _ in range(self.repeats)
        ]
        return list(zip(*readings, strict=True))


class Seen(NamedTuple):
    """Medians in the row's unit, the median ratio and its least and greatest."""

    ours: float
    other: float
    ratio: float
    spread: tuple[float, float]
    note: str = ""


def compare(
    clock: Clock, ours: Work, other: Work, units: tuple[float, float] = (1, 1), scale: float = 1e6
) -> Seen:
    """Time both sides, which do so many units each: how often faster ours is; figures are seconds a
    unit times `scale`."""
    own, others = clock.interleaved([ours, other])
    part = units[0] / units[1]
    ratios = sorted(theirs / mine * part for mine, theirs in zip(own, others, strict=True))
    figures = (scale * median(side) / unit for side, unit in zip((own, others), units, strict=True))
    return Seen(*figures, median(ratios), (ratios[0], ratios[-1]))


@dataclass(frozen=True)
class Row:
    """A measurement, the unit of its figures and the ratio that is asked. Where ours runs on CUDA
    against `loops` on the CPU, ten times as much is asked."""

    name: str
    work: str
    unit: str
    measure: Callable[[Clock], Seen]
    asked: float | None = None
    loops: bool = False

    def run(self, clock: Clock) -> dict[str, Any]:
        """The record of this row."""
        seen = self.measure(clock)
        cuda = clock.device != "cpu" and self.loops
        asked = None if self.asked is None else self.asked * (CUDA_FACTOR if cuda else 1)
        met = None if asked is None else seen.ratio >= asked
        return {
            "row": self.name, "work": self.work, "unit": self.unit, "asked": asked, "met": met,
            "device": clock.device, **seen._asdict(),
        }  # fmt: skip
