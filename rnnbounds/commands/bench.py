"""``rnnbounds bench``: how fast this machine does it, against what a user would write."""

from __future__ import annotations

from typing import Annotated

import torch
import typer

from rnnbounds.bench import select_rows
from rnnbounds.bench.clock import REPEATS, Clock
from rnnbounds.bench.row import COLUMNS, RowResult
from rnnbounds.commands.options import Device, FormatOption
from rnnbounds.impl.models.device import check_device
from rnnbounds.shell.output import Format, echo, print_json, print_table, show_progress


def bench(
    rows: Annotated[
        str | None, typer.Option("--rows", help="rows, separated by commas; all by default")
    ] = None,
    device: Device = "cpu",
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="measurements of each side, interleaved")
    ] = REPEATS,
    markdown: Annotated[bool, typer.Option("--markdown", help="the table in Markdown")] = False,
    format: FormatOption = Format.text,
) -> int:
    """Time the package against naive loops, LAPACK and torch on one thread; exit 1 if a target is
    missed."""
    selected = select_rows(None if rows is None else rows.split(","))
    clock = Clock(check_device(device), repeats)
    torch.set_num_threads(1)
    results: list[RowResult] = []
    with show_progress(len(selected), "bench") as advance:
        for row in selected:
            results.append(row.run(clock))
            advance(row.name)
    if format is Format.json:
        print_json([result.to_json() for result in results])
    elif markdown:
        for line in markdown_lines(results):
            echo(line)
    else:
        print_table(COLUMNS, [result.text_cells() for result in results])
        echo(reading_text(clock))
    return int(any(result.met is False for result in results))


def reading_text(clock: Clock) -> str:
    """How the figures were read."""
    return (
        f"medians of {clock.repeats} measurements of {clock.name} on {clock.device}, both sides "
        f"interleaved on one thread; in brackets the smallest and the largest ratio"
    )


def markdown_lines(results: list[RowResult]) -> list[str]:
    """The table as Markdown."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(result.text_cells() for result in results)]
    return ["| " + " | ".join(line) + " |" for line in lines]
