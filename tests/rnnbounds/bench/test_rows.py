"""The rows, how they are read and how they are shown. Nothing here asks how long anything took."""

import pytest

from rnnbounds.bench import ROWS, ceilings, models, process, select_rows, vanilla
from rnnbounds.bench.clock import Clock, Timing
from rnnbounds.bench.models import CERTIFIED_CELLS, small_weights
from rnnbounds.bench.row import BenchRow, RowMeasurement, speed_ratio, time_share
from rnnbounds.bench.systems import draw_systems
from rnnbounds.bench.vanilla import log_slope

QUICK = Clock(repeats=1, sample=0.0)
TIMING = Timing(((1.0, 2.0, 1.0), (10.0, 10.0, 30.0)))


def row(name: str = "one", **more) -> BenchRow:
    """A row that is measured at once."""
    seen = RowMeasurement(1.0, 20.0, 20.0, (10.0, 30.0), 3, "as told")
    return BenchRow(name, "some work", "by loops", "ms", "times faster", lambda clock: seen, **more)


def test_ratios() -> None:
    """Sides are compared reading by reading, by what each does of the work."""
    seen = speed_ratio(TIMING, (4, 2), 1e3)
    assert (seen.ours, seen.other, seen.ratio, seen.spread) == (250.0, 5000.0, 20.0, (10.0, 60.0))
    assert time_share(TIMING, 1.0).ratio == 0.1


def test_interleaved() -> None:
    """One reading of each side follows the other's, after one that warms up."""
    order: list[str] = []
    timing = Clock(repeats=3, sample=0.0).time_interleaved(
        [lambda: order.append("a"), lambda: order.append("b")]
    )
    assert "".join(order).endswith("ababab")
    assert [len(side) for side in timing.sides] == [3, 3]


def test_slope() -> None:
    """That of a power."""
    assert log_slope((1, 2, 4), (3.0, 12.0, 48.0)) == pytest.approx(2.0)


@pytest.mark.parametrize(("asked", "sense", "met"), [
    (20.0, "≥", True), (21.0, "≥", False), (20.0, "≤", True), (19.0, "≤", False), (None, "≥", None),
])  # fmt: skip
def test_met(asked, sense, met) -> None:
    """By the median, in the row's sense."""
    result = row(asked=asked, sense=sense).run(QUICK)
    told = result.to_json()
    assert told["met"] is met
    assert (told["row"], told["ours"], told["other"], told["ratio"]) == ("one", 1.0, 20.0, 20.0)
    assert told["clock"] == "CPU time"
    assert "20 (10 to 30)" in result.text_cells()


def test_cuda_is_asked_for_more() -> None:
    """Ten times the ratio of what runs there, but for shares; what does not is read on the CPU."""
    of_rate = row(asked=0.4, on_device=True, share=True).run(Clock("cuda"))
    assert (of_rate.asked, of_rate.met) == (0.4, True)
    there, here = (row(asked=3.0, on_device=flag).run(Clock("cuda")) for flag in (True, False))
    assert (there.asked, there.met, there.clock.name) == (30.0, False, "wall time")
    assert (here.asked, here.met, here.clock.device) == (3.0, True, "cpu")


def test_sizes_fill_the_device() -> None:
    """A batch on CUDA is larger."""
    assert [Clock(device).system_factor for device in ("cpu", "cuda:0")] == [1, 64]


def test_shares_of_what_the_device_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations and bytes a second over those of a product and a copy; nothing on the CPU."""
    monkeypatch.setattr(ceilings, "COPY_LENGTH", 2**16)
    most = ceilings.measure_ceilings("cpu")
    assert min(most) > 0
    load = ceilings.Load(flops=5e12, bytes=1e12)
    assert ceilings.ceiling_shares(QUICK, load, 1.0) == ""
    monkeypatch.setattr(ceilings, "measure_ceilings", lambda device: ceilings.Ceilings(5e13, 2e12))
    told = ceilings.ceiling_shares(Clock("cuda"), load, 1.0)
    assert told == "1e+03 ms, 0.1 of a product's 50 TFLOP/s and 0.5 of a copy's 2 TB/s"


def test_loads_are_counted() -> None:
    """One system of one sequence, by hand: as many steps as the longest window."""
    many = draw_systems(1, 1, n=2, d=1, T=vanilla.K)
    states = vanilla.K + vanilla.K * (vanilla.K + 1) // 2
    assert vanilla.count_states(many) == states
    flops = 2 * 2 * (2 * states + vanilla.K)
    assert vanilla.truncation_load(many) == (flops, 8 * (2 * 2 * states + vanilla.K))
    assert vanilla.gradient_load(many) == (2 * states * 2 * (4 + 4 + 2), 16 * states * (4 + 2))


def test_every_row_is_complete() -> None:
    """Each has its own name; the families are the table."""
    families = {name.split("-")[0] for name in ROWS}
    assert families == {
        "truncation", "gradient", "rate", "growth", "campaign", "descent", "norm", "inference",
        "serve", "length", "certify", "import", "help", "quick", "memory",
    }  # fmt: skip
    assert select_rows(["memory", "truncation"]) == (ROWS["truncation"], ROWS["memory"])


@pytest.mark.parametrize("name", [
    "growth-T", "certify-rnn-tanh", "norm-16", "norm-balls-16", "norm-found-16",
])  # fmt: skip
def test_rows_measure(name: str) -> None:
    """A row that is run once has finite figures."""
    seen = ROWS[name].run(QUICK).measured
    assert seen.spread[0] <= seen.ratio <= seen.spread[1]
    assert seen.repeats == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "truncation", "gradient", "rate-16", "growth-K", "campaign", "descent", "inference-rnn",
    "import",
])  # fmt: skip
def test_slow_rows_measure(name: str) -> None:
    """The same of those that take a second."""
    test_rows_measure(name)


def test_a_grid_tells_all_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row is the worst of them."""
    seen = {(16, 1): 3.0, (16, 8): 0.9, (64, 1): 2.0, (64, 8): 4.0}
    monkeypatch.setattr(models, "SIZES", (16, 64))
    monkeypatch.setattr(models, "BATCHES", (1, 8))
    monkeypatch.setattr(
        models, "time_inference",
        lambda name, n, N, T, clock, layers: RowMeasurement(1.0, 2.0, seen[n, N], (0.5, 5.0), 1),
    )  # fmt: skip
    found = models.inference_grid("RNN", QUICK)
    assert found.ratio == 0.9
    assert "the worst is n = 16, 8 sequences" in found.note
    assert [point["ratio"] for point in found.points] == list(seen.values())


def test_the_main_job_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its seconds by its pairs, and its memory against the limit."""
    job = process.ProcessCost(10.0, 2.0**30), 1000
    monkeypatch.setattr(process, "run_main_job", lambda: job)
    assert process.peak_memory(QUICK).ratio == 0.5
    seen = process.quick_profile(QUICK)
    assert seen.ours == 1e4
    assert seen.note == "1000 pairs in 10 s, once"


@pytest.mark.parametrize("cell", CERTIFIED_CELLS)
def test_certified_cells_have_weights(cell: str) -> None:
    """Of the shapes that their layout asks for."""
    from rnnbounds.impl.cells.table import CELLS

    kind = CELLS[cell]
    held = small_weights(kind)
    assert kind.layout(held).sizes(held).d == 4
