"""``rnnbounds bench``: how fast this machine does it, against what a user would write."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import torch
import typer

from rnnbounds.bench import select_rows
from rnnbounds.bench.clock import REPEATS, Clock
from rnnbounds.bench.page import bench_page, point_table
from rnnbounds.bench.row import COLUMNS, RowResult
from rnnbounds.commands.options import Device, FormatOption, path_option
from rnnbounds.impl.models.device import check_device
from rnnbounds.reports.files import write_all
from rnnbounds.shell.output import (
    Format,
    echo,
    print_json,
    print_table,
    require_folder,
    show_progress,
)

FILES = ("bench.json", "index.html")


def bench(
    rows: Annotated[
        str | None, typer.Option("--rows", help="rows, separated by commas; all by default")
    ] = None,
    device: Device = "cpu",
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="measurements of each side, interleaved")
    ] = REPEATS,
    out: Annotated[
        Path | None, path_option("--out", "DIR", "write bench.json and index.html there")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="the table in Markdown")] = False,
    format: FormatOption = Format.text,
) -> int:
    """Time the package against naive loops, LAPACK, torch and cuDNN on one thread; exit 1 if a
    target is missed."""
    started, clock = datetime.now(UTC), Clock(check_device(device), repeats)
    selected = select_rows(None if rows is None else rows.split(","), device)
    folder = None if out is None else require_folder(out, *FILES)
    torch.set_num_threads(1)
    results: list[RowResult] = []
    with show_progress(len(selected), "bench") as advance:
        for row in selected:
            results.append(row.run(clock))
            advance(row.name)
    records = [result.to_json() for result in results]
    if folder is not None:
        page = bench_page(results, device, started, reading_text(clock))
        document = msgspec.json.format(msgspec.json.encode(records), indent=2)
        write_all(folder, dict(zip(FILES, (document, page), strict=True)))
    if format is Format.json:
        print_json(records)
        return int(any(result.met is False for result in results))
    print_results(results, markdown)
    if not markdown:
        echo(reading_text(clock))
    if folder is not None:
        echo(f"wrote {' and '.join(str(folder / name) for name in FILES)}")
    return int(any(result.met is False for result in results))


def print_results(results: list[RowResult], markdown: bool) -> None:
    """The table of rows, then the sizes of each row that has some."""
    tables: list[tuple[tuple[str, ...], list[tuple[str, ...]]]] = [
        (COLUMNS, [result.text_cells() for result in results])
    ]
    for result in results:
        if table := point_table(result):
            tables.append((table.columns, [tuple(map(str, row)) for row in table.rows]))
    for number, (columns, rows) in enumerate(tables):
        if number:
            echo("")
        if markdown:
            for line in (columns, ("---",) * len(columns), *rows):
                echo("| " + " | ".join(line) + " |")
        else:
            print_table(columns, rows)


def reading_text(clock: Clock) -> str:
    """How the figures were read."""
    return (
        f"medians of {clock.repeats} measurements of {clock.name} on {clock.device}, both sides "
        f"interleaved on one thread; in brackets the smallest and the largest ratio"
    )
