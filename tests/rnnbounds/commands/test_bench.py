"""``rnnbounds bench``: what it prints, and what it refuses."""

import json
from dataclasses import asdict, replace

import pytest
import torch

from rnnbounds.bench.row import BenchRow, RowMeasurement
from rnnbounds.bench.serving import PointResult


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
    outcome = call("bench", "--rows", "serve-gru")
    assert outcome.code == 2
    assert "the row serve-gru compares with cuDNN; add --device cuda" in outcome.err


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is there")
def test_without_a_device(call, tmp_path):
    """One line, and nothing written."""
    outcome = call("bench", "--device", "cuda", "--out", str(tmp_path / "speed"))
    assert outcome.code == 2
    assert outcome.err == "rnnbounds: no CUDA device is available; choose --device cpu\n"
    assert not list(tmp_path.iterdir())


def test_page(call, table, tmp_path):
    """The record and the page, whose text says where they are."""
    outcome = call("bench", "--out", str(tmp_path))
    assert outcome.code == 1
    assert outcome.out.splitlines()[-1] == (
        f"wrote {tmp_path / 'bench.json'} and {tmp_path / 'index.html'}"
    )
    assert json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))[1]["met"] is False
    assert "1 of 2 targets met; missed: slow." in (tmp_path / "index.html").read_text("utf-8")


def test_sizes(call, table, monkeypatch):
    """Sizes of a row against cuDNN are a table of their own."""
    point = asdict(PointResult(16, 1, 4096, 30.0, None, 1300.0, 1290.0, 900.0, 43.3, 30.0, True,
                               0.01, 0.2, 1e-6))  # fmt: skip
    seen = RowMeasurement(30.0, 1300.0, 1.44, (1.44, 1.44), 3, points=(point,))
    row = replace(table["fast"], measure=lambda clock: seen, asked=1, on_cuda_alone=True)
    monkeypatch.setitem(table, "fast", row)
    monkeypatch.setattr("rnnbounds.commands.bench.check_device", lambda device: device)
    lines = call("bench", "--rows", "fast", "--device", "cuda", "--markdown").out.splitlines()
    assert lines[4].startswith("| n | sequences | ours µs | graph µs | cuDNN µs |")
    assert lines[6].startswith("| 16 | 1 × 4096 | 30 |  | 1300 | 1290 | 900 | 43.3 | ≥ 30 | met |")
