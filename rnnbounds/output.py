"""What the commands print: JSON documents, tables, and progress that vanishes without a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table


class Format(StrEnum):
    """How a command prints its result."""

    text = "text"
    json = "json"


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A plain table on standard output; nothing is cut off where it is no terminal."""
    console = Console(soft_wrap=not Console().is_terminal)
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    if not console.is_terminal:
        console.width = 400
    console.print(table)


@contextmanager
def progress(total: int, title: str) -> Iterator[Any]:
    """A bar on standard error, gone when done; ``yield``s advance(label)."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    with bar:
        task = bar.add_task(title, total=total)

        def advance(label: str) -> None:
            bar.update(task, advance=1, description=label)

        yield advance
