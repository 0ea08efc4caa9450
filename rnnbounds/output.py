"""What the commands print: JSON documents, tables, and progress that needs a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from reports.files import WriteError

WIDE = 10_000  # columns: nothing wraps where there is no terminal


class Format(StrEnum):
    """How a command prints its result."""

    text = "text"
    json = "json"


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A plain table on standard output; nothing is cut off where it is no terminal."""
    console = Console(markup=False, emoji=False, highlight=False)
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    if not console.is_terminal:
        console.width = WIDE
    console.print(table)


def at_least(value: float, digits: int = 6) -> str:
    """A bound from above to that many digits, rounded up."""
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value)):g}"


def at_most(value: float) -> str:
    """A bound from below to six digits, rounded down."""
    return f"{Context(prec=6, rounding=ROUND_FLOOR).create_decimal(Decimal(value)):g}"


def check_folder(folder: Path) -> Path:
    """The folder, if files can be written there; asked before the work, not after it.

    Nothing is made. Raises WriteError for what is a file, lies below one, or is not writable.
    """
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise WriteError(folder, NotADirectoryError(0, f"{nearest} is a file"))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise WriteError(folder, PermissionError(0, f"{nearest} is not writable"))
    return folder


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
