"""Axes of dates: ISO labels, apart from one another, whatever the span."""

from itertools import pairwise

import pytest

from rnnbounds.reports.pages.figures.axis import DIGIT_WIDTH, X_LENGTH
from rnnbounds.reports.pages.figures.dates import DAY, date_axis, epoch_seconds, iso_date


@pytest.mark.parametrize(
    "span", [60, 3600, 9 * 3600, 3 * DAY, 40 * DAY, 400 * DAY, 4000 * DAY, 20_000 * DAY]
)
@pytest.mark.parametrize("start", ["2026-11-21T00:00:00Z", "2026-02-28T13:30:00Z"])
def test_labels_are_apart_and_true(start, span):
    """At the places that they name, in order, none wider than the room it has."""
    first = epoch_seconds(start)
    axis = date_axis("date", [first, first + span / 3, first + span], X_LENGTH)
    assert axis.low < first
    assert axis.high > first + span
    assert 1 <= len(axis.ticks) <= 8
    for (at, label), (later, _) in pairwise(axis.ticks):
        assert (later - at) / (axis.high - axis.low) * X_LENGTH >= DIGIT_WIDTH * len(label)
    for at, label in axis.ticks:
        assert axis.low <= at <= axis.high
        if len(label) == 10 and span >= DAY:
            assert epoch_seconds(label) == at
    days = {iso_date("2026-11-21")} if span < DAY else set()
    if days and "11-21" in start:
        assert axis.title == "date, 2026-11-21"


def test_one_date():
    """One run stands in the middle, at its date."""
    at = epoch_seconds("2026-11-21T10:00:00+02:00")
    axis = date_axis("date", [at, at], X_LENGTH)
    assert axis.ticks == [(at, "2026-11-21")]
    assert axis.high - at == at - axis.low
    assert date_axis("date", [], X_LENGTH).ticks == ()


def test_times():
    """In UTC, whatever zone they name; what is none stays text."""
    assert epoch_seconds("1970-01-01T02:00:00+02:00") == epoch_seconds("1970-01-01") == 0
    assert epoch_seconds("yesterday") is None
    assert iso_date("2026-11-21T23:30:00-01:00") == "2026-11-22"
    assert iso_date("yesterday") == "yesterday"
