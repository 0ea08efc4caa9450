"""Description of one row of the benchmark, used by everything that measures or prints it.

A row is one entry of `rnnbounds.bench.table`: its text, its target ratio, its measurement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

from rnnbounds.bench.ceilings import Load, reached
from rnnbounds.bench.clock import Clock, Timing, Work

Sense = Literal["≥", "≤"]
ON_CUDA = 10  # times the ratio that is asked on a CPU


@dataclass(frozen=True)
class Measured:
    """Measurement of one row: each side in the row's unit, their ratio and its spread."""

    ours: float
    other: float | None
    ratio: float
    spread: tuple[float, float]
    repeats: int
    note: str = ""
    points: tuple[dict[str, Any], ...] = field(default=())


@dataclass(frozen=True)
class Sides:
    """Two sides that are timed in turn, which do so many `units` of the work each; figures are
    seconds a unit times `scale`. The ratio is how often `faster` ours is, else its share of the
    other's time; the note has the share of the device's ceilings that the `load` of ours reaches.
    """

    ours: Work
    other: Work
    units: tuple[float, float] = (1, 1)
    scale: float = 1e6
    faster: bool = True
    load: Load | None = None
    note: str = ""

    def measured(self, clock: Clock) -> Measured:
        """Both, reading by reading."""
        timing = clock.interleaved([self.ours, self.other])
        if not self.faster:
            return share(timing, self.scale)
        told = reached(clock, self.load, timing.seconds(0)) if self.load else self.note
        return against(timing, self.units, self.scale, told)


@dataclass(frozen=True)
class Row:
    """One row.

    name: that of ``--rows``. work: what is done, and how much of it. ours, other: the two sides;
    unit: that of their figures. ratio: what is divided by what. asked: the ratio that is asked for,
    None if none is; sense: whether as much or as little. on_device: whether our side runs on the
    device. Of CUDA ten times the ratio is asked, unless it is a share of what the device itself can
    do at most.
    """

    name: str
    work: str
    other: str
    unit: str
    ratio: str
    measure: Callable[[Clock], Sides | Measured]
    asked: float | None = None
    sense: Sense = "≥"
    on_device: bool = False
    share: bool = False

    def run(self, clock: Clock) -> Result:
        """Measure it; what does not run on the device is read by the clock of the CPU."""
        elsewhere = clock.device != "cpu" and not self.on_device
        used = Clock("cpu", clock.repeats, clock.sample) if elsewhere else clock
        found = self.measure(used)
        seen = found.measured(used) if isinstance(found, Sides) else found
        asked = self.asked
        if asked is not None and used.device != "cpu" and self.sense == "≥" and not self.share:
            asked *= ON_CUDA
        return Result(self, used, asked, seen)


@dataclass(frozen=True)
class Result:
    """A row with what was seen of it."""

    row: Row
    clock: Clock
    asked: float | None
    seen: Measured

    @property
    def met(self) -> bool | None:
        """True if the median ratio meets the target; None without a target."""
        if self.asked is None:
            return None
        ratio = self.seen.ratio
        return ratio >= self.asked if self.row.sense == "≥" else ratio <= self.asked

    def to_json(self) -> dict[str, Any]:
        """The record of one row."""
        row, told = self.row, asdict(self.seen)
        return {
            "row": row.name, "work": row.work, "against": row.other, "unit": row.unit,
            "ratio_of": row.ratio, "asked": self.asked, "sense": row.sense, "met": self.met,
            "device": self.clock.device, "clock": self.clock.name, **told,
        }  # fmt: skip

    def cells(self) -> tuple[str, ...]:
        """The row as text, under `COLUMNS`."""
        seen, asked = self.seen, self.asked
        low, high = (figure(v) for v in seen.spread)
        ratio = (
            f"{figure(seen.ratio)} ({low} to {high})" if seen.repeats > 1 else figure(seen.ratio)
        )
        told = {True: "met", False: "not met", None: ""}[self.met]
        other = "" if seen.other is None else figure(seen.other)
        what = f"{self.row.work}; {seen.note}" if seen.note else self.row.work
        return (
            self.row.name, what, f"{figure(seen.ours)} {self.row.unit}".strip(),
            f"{other} {self.row.other}".strip(), ratio,
            "" if asked is None else f"{self.row.sense} {figure(asked)}", told,
        )  # fmt: skip


COLUMNS = ("row", "work", "ours", "against", "ratio", "asked", "")


def figure(value: float) -> str:
    """Three digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def against(
    timing: Timing, units: tuple[float, float], scale: float = 1e6, note: str = ""
) -> Measured:
    """Side 0 against side 1, which do so many units each: how often faster ours is."""
    factor = units[0] / units[1]
    ratios = [ratio * factor for ratio in timing.ratios(1, 0)]
    ours, other = (scale * timing.seconds(side) / units[side] for side in (0, 1))
    return Measured(ours, other, median(ratios), (ratios[0], ratios[-1]), len(ratios), note)


def share(timing: Timing, scale: float = 1e6) -> Measured:
    """Side 0 as a share of side 1."""
    ratios = timing.ratios(0, 1)
    ours, other = (scale * timing.seconds(side) for side in (0, 1))
    return Measured(ours, other, median(ratios), (ratios[0], ratios[-1]), len(ratios))
