"""An axis of dates: labels in ISO form, UTC, no closer to one another than they are wide."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from rnnbounds.reports.pages.figures.axis import DIGIT, Axis, Tick
from rnnbounds.reports.records.possible import time_of

DAY = 86_400.0
MARGIN = 0.08  # of the axis on both sides, so that a label of the first or last date has room
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 360, 720)  # minutes
_DAYS = (1, 2, 7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650, 9125, 18250)


def seconds(text: str) -> float | None:
    """A date in ISO form as seconds since 1970, UTC where it names no zone; None for none."""
    told = time_of(text)
    return None if told is None else told.timestamp()


def iso_date(text: str) -> str:
    """The date of an ISO time, in UTC; a text that is none as it is."""
    at = seconds(text)
    return text if at is None else _time(at).date().isoformat()


def dates(title: str, values: Iterable[float], length: float) -> Axis:
    """The axis that holds these seconds since 1970; days as 2026-11-21, hours of one day as 10:30
    behind its date in the title."""
    known = sorted(values)
    if not known:
        return Axis(title, 0, 1)
    first, last = known[0], known[-1]
    day = _time(first).date()
    one_day = day == _time(last).date()
    if first == last:
        return Axis(title, first - DAY / 2, first + DAY / 2, [(first, day.isoformat())])
    margin = MARGIN * (last - first)
    low, high = first - margin, last + margin
    room = length * (last - first) / (high - low)
    ticks = _apart(first, last, margin / 2, room, one_day)
    title = f"{title}, {day.isoformat()}" if one_day else title
    return Axis(title, low, high, ticks or [(first, _label(first, one_day))])


def _apart(
    first: float, last: float, beyond: float, length: float, one_day: bool
) -> Sequence[Tick]:
    """Ticks from the first to the last date and a little beyond, at the smallest step at which
    labels fit: days from the first one's midnight on, of one day hours or minutes."""
    steps = [60.0 * minutes for minutes in _STEPS] if one_day else [DAY * days for days in _DAYS]
    width = DIGIT * (len("10:30") if one_day else len("2026-11-21") + 1)
    step = next((s for s in steps if s / (last - first) * length >= width), steps[-1])
    midnight = datetime.combine(_time(first).date(), datetime.min.time(), UTC).timestamp()
    places = (midnight + i * step for i in range(int((last + beyond - midnight) // step) + 1))
    return [(at, _label(at, one_day)) for at in places if at >= first - beyond]


def _label(at: float, one_day: bool) -> str:
    return format(_time(at), "%H:%M" if one_day else "%Y-%m-%d")


def _time(at: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=at)
