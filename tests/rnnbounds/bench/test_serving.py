"""Rows against cuDNN: what is asked, how sizes are measured and shown, with a clock that reads
numbers off a list."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
import torch

from rnnbounds.bench import ROWS, select_rows, serving
from rnnbounds.bench.ceilings import Ceilings
from rnnbounds.bench.clock import Clock, Work
from rnnbounds.bench.events import EventTimer
from rnnbounds.bench.page import bench_page, length_plot, point_table
from rnnbounds.bench.row import BenchRow, RowMeasurement, RowResult
from rnnbounds.bench.serving import GRID, Point, PointResult
from rnnbounds.impl.errors import InputError

SMALL = (Point(4, 1, 30), Point(5, 2, 40))


class FakeTimer:
    """Runs each work once and reads its seconds off a list; what `captured` counts is no graph."""

    device = "cpu"

    def __init__(self, *seconds: float, captured: int = 2) -> None:
        self.seconds, self.captured = seconds, captured

    def medians(self, works: Sequence[Work]) -> list[float]:
        for work in works:
            work()
        return list(self.seconds[: len(works)])

    def capture(self, work: Work) -> Work | None:
        self.captured -= 1
        return work if self.captured >= 0 else None

    def ceilings(self) -> Ceilings:
        return Ceilings(1e12, 1e11)


def result(name: str, points: Sequence[Point], timer: FakeTimer) -> RowResult:
    """A row of these points."""
    cell = name.removeprefix("serve-").removeprefix("length-")
    measured = serving.measure_sizes(cell, 1, points, Clock("cuda"), timer)
    row = BenchRow(name, "some work", "by cuDNN", "µs", "of what is asked", lambda clock: measured,
                   asked=1, on_device=True, on_cuda_alone=True)  # fmt: skip
    return row.run(Clock("cuda"))


def test_targets() -> None:
    """Those of one layer; nothing may be slower than cuDNN."""
    asked = {point: serving.asked_ratio(point, 1) for point in GRID}
    assert len(asked) == 25
    assert [asked[Point(n, 1, 4096)] for n in (16, 64, 128, 256, 512)] == [30, 30, 15, 15, 15]
    assert [asked[Point(n, 64, 512)] for n in (16, 64, 128, 256, 512)] == [3, 3, 1.5, 1, 1]
    assert {asked[point] for point in GRID if point[1:] in ((1, 512), (64, 4096))} == {1}
    assert {serving.asked_ratio(point, 2) for point in GRID} == {1}


def test_loads_are_counted() -> None:
    """Two units and one step by hand: W, U and, of the second layer, a U of two columns."""
    point = Point(2, 1, 1)
    assert serving.serving_load("rnn-tanh", 1, point) == (2 * 2 * 10, 4 * (8 + 2 + 20))
    assert serving.serving_load("gru", 2, point).flops == 2 * 3 * 2 * (10 + 4)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", serving.GATES)
def test_truncated_modules_are_the_modules(cell: str, layers: int) -> None:
    """Outputs differ by what 21 inputs forget, and rounding."""
    timer = FakeTimer(1e-6, 40e-6, 20e-6, 0.5e-6, 30e-6)
    seen = serving.measure_point(cell, layers, Point(4, 2, 30), timer)
    assert seen.difference < 1e-3
    assert (seen.ours, seen.ours_graph, seen.other, seen.other_graph, seen.other_tf32) == (
        pytest.approx((1, 0.5, 40, 30, 20))
    )
    assert (seen.ratio, seen.asked, seen.met) == (pytest.approx(40), 1, True)
    load = serving.serving_load(cell, layers, Point(4, 2, 30))
    assert seen.product_share == pytest.approx(load.flops / 1e-6 / 1e12)
    assert seen.copy_share == pytest.approx(load.bytes / 1e-6 / 1e11)


def test_without_graphs() -> None:
    """A call that cannot be captured has no time as a graph; the other's keeps its own."""
    seen = serving.measure_point("lstm", 1, SMALL[0], FakeTimer(2e-6, 1e-6, 1e-6, captured=0))
    assert (seen.ours_graph, seen.other_graph, seen.met) == (None, None, False)
    assert seen.text_cells()[:5] == ("4", "1 × 30", "2", "", "1")


def test_precision_is_put_back() -> None:
    """TensorFloat-32 is allowed within alone."""
    before = torch.backends.cudnn.allow_tf32
    with serving.tensor_float(not before):
        assert torch.backends.cudnn.allow_tf32 is not before
    assert torch.backends.cudnn.allow_tf32 is before


def test_a_row_is_its_worst_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the share of what is asked of it, not by speed alone."""
    monkeypatch.setattr(serving, "asked_ratio", lambda point, layers: 30 if point.n == 4 else 1)
    seen = result("serve-rnn-tanh", SMALL, FakeTimer(1e-6, 15e-6, 1e-6, 1e-6, 1e-6))
    assert seen.measured.ratio == pytest.approx(0.5)
    assert (seen.asked, seen.met, seen.time_name) == (1, False, "device events")
    assert "1 of 2 sizes met; the least is n = 4, 1 × 30" in seen.measured.note
    assert [point["met"] for point in seen.to_json()["points"]] == [False, True]


def test_page() -> None:
    """A figure of time against length, the rows, and the sizes of each."""
    timer = FakeTimer(1e-6, 15e-6, 1e-6, 1e-6, 1e-6)
    results = [result(name, SMALL, timer) for name in ("serve-lstm", "length-gru")]
    plot = length_plot(results)
    assert [line.label for line in plot.lines] == ["gru, truncated", "gru, cuDNN"]
    assert plot.lines[1].y == pytest.approx([15, 15])
    assert len(point_table(results[0]).rows) == 2
    page = bench_page(results, "cpu", datetime.now(UTC), "medians of 3").decode()
    assert "<svg" in page
    assert "2 of 2 targets met" in page


def test_rows_of_a_cpu_have_no_sizes() -> None:
    """Nor a figure."""
    row = BenchRow("one", "work", "loops", "ms", "times", lambda clock: measured, asked=3)
    measured = RowMeasurement(1.0, 2.0, 2.0, (2.0, 2.0), 1)
    results = [row.run(Clock())]
    assert point_table(results[0]) is None
    assert length_plot(results) is None
    assert "missed: one" in bench_page(results, "cpu", datetime.now(UTC), "").decode()


def test_rows_that_need_cuda() -> None:
    """They are in the table of a device alone, and refused where there is none."""
    names = {name for name, row in ROWS.items() if row.on_cuda_alone}
    assert len(names) == 8 + 3
    assert not names & {row.name for row in select_rows()}
    assert {row.name for row in select_rows(device="cuda")} == set(ROWS)
    with pytest.raises(InputError, match="the row serve-lstm compares with cuDNN; add --device"):
        select_rows(["serve-lstm"])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_events_read_a_device() -> None:
    """Figures are positive, and what is captured is replayed."""
    timer = EventTimer(repeats=2)
    seen = serving.measure_point("rnn-tanh", 1, Point(16, 2, 64), timer)
    assert PointResult(**vars(seen)) == seen
    assert min(seen.ours, seen.other, seen.other_tf32) > 0
    assert seen.difference < 1e-3
    numbers = torch.zeros(3, device="cuda")
    replay = timer.capture(lambda: numbers.add_(1))
    before = float(numbers[0])
    replay()
    assert float(numbers[0]) == before + 1
    assert timer.capture(lambda: float(numbers[0])) is None
