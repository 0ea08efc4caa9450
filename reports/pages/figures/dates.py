"""An axis of dates: labels in ISO form, UTC, no closer to one another than they are wide."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from rnnbounds.reports.pages.figures.axis import DIGIT_WIDTH, Axis, Tick
from rnnbounds.reports.records.possible import parse_time

DAY = 86_400.0
MARGIN = 0.08  # of the axis on both sides, so that a label of the first or last date has room
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 360, 720)  # minutes
_DAYS = (1, 2, 7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650, 9125, 18250)


def epoch_seconds(text: str) -> float | None:
    """A date in ISO form as seconds since 1970, UTC where it names no zone; None for none."""
    time = parse_time(text)
    return None if time is None else time.timestamp()


def iso_date(text: str) -> str:
    """The date of an ISO time, in UTC; a text that is none as it is."""
    at = epoch_seconds(text)
    return text if at is None else _utc_time(at).date().isoformat()


def date_axis(title: str, values: Iterable[float], length: float) -> Axis:
    """The axis that holds these seconds since 1970; days as 2026-11-21, hours of one day as 10:30
    behind its date in the title."""
    times = sorted(values)
    if not times:
        return Axis(title, 0, 1)
    first, last = times[0], times[-1]
    day = _utc_time(first).date()
    one_day = day == _utc_time(last).date()
    if first == last:
        return Axis(title, first - DAY / 2, first + DAY / 2, [(first, day.isoformat())])
    margin = MARGIN * (last - first)
    low, high = first - margin, last + margin
    room = length * (last - first) / (high - low)
    ticks = _date_ticks(first, last, margin / 2, room, one_day)
    title = f"{title}, {day.isoformat()}" if one_day else title
    return Axis(title, low, high, ticks or [(first, _date_label(first, one_day))])


def _date_ticks(
    first: float, last: float, overhang: float, length: float, one_day: bool
) -> Sequence[Tick]:
    """Ticks from the first to the last date and a little beyond, at the smallest step at which
    labels fit: days from the first one's midnight on, of one day hours or minutes."""
    steps = [60.0 * minutes for minutes in _STEPS] if one_day else [DAY * days for days in _DAYS]
    width = DIGIT_WIDTH * (len("10:30") if one_day else len("2026-11-21") + 1)
    step = next((s for s in steps if s / (last - first) * length >= width), steps[-1])
    midnight = datetime.combine(_utc_time(first).date(), datetime.min.time(), UTC).timestamp()
    places = (midnight + i * step for i in range(int((last + overhang - midnight) // step) + 1))
    return [(at, _date_label(at, one_day)) for at in places if at >= first - overhang]


def _date_label(at: float, one_day: bool) -> str:
    return format(_utc_time(at), "%H:%M" if one_day else "%Y-%m-%d")


def _utc_time(at: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=at)
