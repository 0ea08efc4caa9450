"""The page of a benchmark: speed against length, the table of rows, and the sizes of each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from math import log2

from rnnbounds.bench.row import COLUMNS, RowResult
from rnnbounds.bench.serving import POINT_COLUMNS, PointResult
from rnnbounds.properties.runs.run import run_environment
from rnnbounds.reports.pages.experiment import (
    Cell,
    Page,
    Plot,
    Section,
    Table,
    Verdict,
    render_page,
)
from rnnbounds.reports.pages.figures.plot import Series
from rnnbounds.reports.pages.run.summary import environment_items


def point_table(result: RowResult) -> Table | None:
    """The sizes of a row against cuDNN; None of other rows."""
    if not result.row.on_cuda_alone:
        return None
    cells = tuple(PointResult(**point).text_cells() for point in result.measured.points)
    numeric = frozenset(range(len(POINT_COLUMNS))) - {1, 9}
    return Table(POINT_COLUMNS, cells, numeric, caption=result.row.work)


def length_plot(results: Sequence[RowResult]) -> Plot | None:
    """Time against length, ours and cuDNN's of each cell; None where no row goes through them."""
    lines = tuple(
        Series(
            f"{result.row.name.removeprefix('length-')}, {label}",
            [log2(point["length"]) for point in result.measured.points],
            [point[side] for point in result.measured.points],
            style="line" if side == "ours" else "dashed",
        )
        for result in results
        if result.row.name.startswith("length-")
        for side, label in (("ours", "truncated"), ("other", "cuDNN"))
    )
    caption = (
        "Median time of all outputs of one sequence, 64 units, float32: a truncated model runs its "
        "chunks side by side, a recurrent loop one step after another."
    )
    return Plot(lines, "log₂ of the length", "µs", caption, log_y=True) if lines else None


def page_sections(results: Sequence[RowResult]) -> Iterator[Section]:
    """The figure, the rows, the sizes of each row that has some."""
    if plot := length_plot(results):
        yield Section("Speed against length", (plot,))
    answers: dict[bool | None, Cell] = {
        True: Verdict("met", "good"),
        False: Verdict("not met", "bad"),
        None: "",
    }
    rows = tuple((*result.text_cells()[:-1], answers[result.met]) for result in results)
    yield Section("Rows", (Table(COLUMNS, rows, look="cards"),))
    for result in results:
        if table := point_table(result):
            yield Section(result.row.name, (table,))


def bench_page(results: Sequence[RowResult], device: str, started: datetime, reading: str) -> bytes:
    """The page as HTML; `reading` says how the figures were read."""
    missed = [result.row.name for result in results if result.met is False]
    asked = sum(result.met is not None for result in results)
    lead = f"{asked - len(missed)} of {asked} targets met"
    return render_page(Page(
        "How fast it is", tuple(page_sections(results)),
        lead=f"{lead}; missed: {', '.join(missed)}." if missed else f"{lead}.",
        verdict=Verdict("misses targets", "bad") if missed else Verdict("fast enough", "good"),
        kicker=reading, environment=environment_items(run_environment(device, 1, started, ())),
    ))  # fmt: skip
