"""``rnnbounds bench``: what it prints, and what it refuses."""

import pytest

from rnnbounds.bench.row import BenchRow, RowMeasurement


@pytest.fixture
def table(monkeypatch):
    """Two rows, one of which is not met."""
    seen = RowMeasurement(1.0, 20.0, 20.0, (10.0, 30.0), 3)
    rows = {
        name: BenchRow(
            name, "some work", "by loops", "ms", "times faster", lambda clock: seen, asked
        )
        for name, asked in (("fast", 10.0), ("slow", 30.0))
    }
    monkeypatch.setattr("rnnbounds.bench.ROWS", rows)
    return rows


def test_text(call, table):
    """A line a row, and how it was read; exit 1 where something is not met."""
    outcome = call("bench")
    assert outcome.code == 1
    assert [line.split()[0] for line in outcome.out.splitlines()[:3]] == ["row", "fast", "slow"]
    assert "CPU time" in outcome.out
    assert call("bench", "--rows", "fast").code == 0


def test_json(call, table):
    """One document, a record a row."""
    found = call("bench", "--format", "json").json
    assert [(row["row"], row["ratio"], row["asked"], row["met"]) for row in found] == [
        ("fast", 20.0, 10.0, True), ("slow", 20.0, 30.0, False),
    ]  # fmt: skip


def test_markdown(call, table):
    """The table in Markdown."""
    lines = call("bench", "--rows", "fast", "--markdown").out.splitlines()
    assert lines[0].startswith("| row | work | ours |")
    assert lines[1] == "|" + " --- |" * 7
    assert lines[2] == ("| fast | some work | 1 ms | 20 by loops | 20 (10 to 30) | ≥ 10 | met |")


def test_refused(call):
    """An unknown row, with the names of those that there are; an unknown device."""
    outcome = call("bench", "--rows", "truncation,speed")
    assert outcome.code == 2
    assert "unknown row 'speed'" in outcome.err
    assert "truncation" in outcome.err
    assert call("bench", "--device", "tpu").code == 2
