"""Description of one row of the benchmark, used by everything that measures or prints it.

A row is one entry of `rnnbounds.bench.table`: its text, its target ratio, its measurement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

from rnnbounds.bench.ceilings import Load, ceiling_shares
from rnnbounds.bench.clock import Clock, Timing, Work

Sense = Literal["≥", "≤"]
CUDA_FACTOR = 10  # times the ratio that is asked on a CPU


@dataclass(frozen=True)
class RowMeasurement:
    """Measurement of one row: each side in the row's unit, their ratio and its spread."""

    ours: float
    other: float | None
    ratio: float
    spread: tuple[float, float]
    repeats: int
    note: str = ""
    points: tuple[dict[str, Any], ...] = field(default=())


@dataclass(frozen=True)
class TimedSides:
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

    def measure_both(self, clock: Clock) -> RowMeasurement:
        """Both, reading by reading."""
        timing = clock.time_interleaved([self.ours, self.other])
        if not self.faster:
            return time_share(timing, self.scale)
        note = ceiling_shares(clock, self.load, timing.seconds(0)) if self.load else self.note
        return speed_ratio(timing, self.units, self.scale, note)


@dataclass(frozen=True)
class BenchRow:
    """One row.

    name: that of ``--rows``. work: what is done, and how much of it. ours, other: the two sides;
    unit: that of their figures. ratio: what is divided by what. asked: the ratio that is asked for,
    None if none is; sense: whether as much or as little. on_device: whether our side runs on the
    device. Of CUDA ten times the ratio is asked, unless it is a share of what the device itself can
    do at most. on_cuda_alone: whether there is nothing to compare on a CPU; its target is its own.
    """

    name: str
    work: str
    other: str
    unit: str
    ratio: str
    measure: Callable[[Clock], TimedSides | RowMeasurement]
    asked: float | None = None
    sense: Sense = "≥"
    on_device: bool = False
    share: bool = False
    on_cuda_alone: bool = False

    def run(self, clock: Clock) -> RowResult:
        """Measure it; what does not run on the device is read by the clock of the CPU."""
        elsewhere = clock.device != "cpu" and not self.on_device
        row_clock = Clock("cpu", clock.repeats, clock.sample) if elsewhere else clock
        outcome = self.measure(row_clock)
        measured = outcome.measure_both(row_clock) if isinstance(outcome, TimedSides) else outcome
        target = self.asked
        if (
            target is not None
            and row_clock.device != "cpu"
            and self.sense == "≥"
            and not (self.share or self.on_cuda_alone)
        ):
            target *= CUDA_FACTOR
        return RowResult(self, row_clock, target, measured)


@dataclass(frozen=True)
class RowResult:
    """A row with what was seen of it."""

    row: BenchRow
    clock: Clock
    asked: float | None
    measured: RowMeasurement

    @property
    def time_name(self) -> str:
        """Name of the time that was read."""
        return "device events" if self.row.on_cuda_alone else self.clock.name

    @property
    def met(self) -> bool | None:
        """True if the median ratio meets the target; None without a target."""
        if self.asked is None:
            return None
        ratio = self.measured.ratio
        return ratio >= self.asked if self.row.sense == "≥" else ratio <= self.asked

    def to_json(self) -> dict[str, Any]:
        """The record of one row."""
        row, fields = self.row, asdict(self.measured)
        return {
            "row": row.name, "work": row.work, "against": row.other, "unit": row.unit,
            "ratio_of": row.ratio, "asked": self.asked, "sense": row.sense, "met": self.met,
            "device": self.clock.device, "clock": self.time_name, **fields,
        }  # fmt: skip

    def text_cells(self) -> tuple[str, ...]:
        """The row as text, under `COLUMNS`."""
        measured, target = self.measured, self.asked
        low, high = (three_digits(v) for v in measured.spread)
        ratio = (
            f"{three_digits(measured.ratio)} ({low} to {high})"
            if measured.repeats > 1
            else three_digits(measured.ratio)
        )
        answer = {True: "met", False: "not met", None: ""}[self.met]
        other = "" if measured.other is None else three_digits(measured.other)
        work = f"{self.row.work}; {measured.note}" if measured.note else self.row.work
        return (
            self.row.name, work, f"{three_digits(measured.ours)} {self.row.unit}".strip(),
            f"{other} {self.row.other}".strip(), ratio,
            "" if target is None else f"{self.row.sense} {three_digits(target)}", answer,
        )  # fmt: skip


COLUMNS = ("row", "work", "ours", "against", "ratio", "asked", "")


def three_digits(value: float) -> str:
    """Three digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def speed_ratio(
    timing: Timing, units: tuple[float, float], scale: float = 1e6, note: str = ""
) -> RowMeasurement:
    """Side 0 against side 1, which do so many units each: how often faster ours is."""
    factor = units[0] / units[1]
    ratios = [ratio * factor for ratio in timing.ratios(1, 0)]
    ours, other = (scale * timing.seconds(side) / units[side] for side in (0, 1))
    return RowMeasurement(ours, other, median(ratios), (ratios[0], ratios[-1]), len(ratios), note)


def time_share(timing: Timing, scale: float = 1e6) -> RowMeasurement:
    """Side 0 as a share of side 1."""
    ratios = timing.ratios(0, 1)
    ours, other = (scale * timing.seconds(side) for side in (0, 1))
    return RowMeasurement(ours, other, median(ratios), (ratios[0], ratios[-1]), len(ratios))
