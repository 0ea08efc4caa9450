"""Output of the commands: JSON documents, tables, and progress bars if there is a terminal."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from textwrap import wrap
from time import monotonic
from typing import Any

import msgspec
import typer

from rnnbounds import disk
from rnnbounds.errors import printable
from rnnbounds.reports.files import WriteError
from rnnbounds.shell.terminal import echo as echo
from rnnbounds.shell.terminal import print_error, write

PAUSE = 10.0  # seconds between two lines about a long run
NO_PAUSE = 0.0  # the same where each part is worth a line


class Format(StrEnum):
    """How a command prints its result."""

    text = "text"
    json = "json"


def print_json(document: Any) -> None:
    """One JSON document on standard output; what is not printable stands as JSON's escape."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    write(_escape_json(text, encoding) + "\n")


def _escape_json(text: str, encoding: str) -> str:
    """Only strings hold what is not printable or not ASCII: there JSON may write it in digits."""
    ascii_only = not "λ".encode(encoding, "ignore")

    def fine(c: str) -> bool:
        return c == "\n" or (c.isprintable() and (c.isascii() or not ascii_only))

    return "".join(c if fine(c) else json.dumps(c)[1:-1] for c in text)


def terminal_columns(otherwise: int) -> int:
    """How many columns a line of standard output has room for, if it is a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return otherwise
    return shutil.get_terminal_size((otherwise, 0)).columns


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A plain table on standard output, each row named by its first cell.

    Nothing is cut off: where a terminal has no room for the longest words, a row is its name and a
    line or more for each other cell; where there is no terminal, a line is as long as it takes.
    """
    from rich.console import Console  # slow to import: what shows no table does without
    from rich.table import Table

    width = terminal_columns(sys.maxsize)
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = _column_widths([columns, *cells], width)
    if widths is None:
        write("".join(f"{line}\n" for row in cells for line in _stacked_row(columns, row, width)))
        return
    # Rich writes to memory: it would flush standard output and answer for its failures itself.
    terminal = sys.stdout is not None and sys.stdout.isatty()
    console = Console(
        file=io.StringIO(), force_terminal=terminal, markup=False, emoji=False, highlight=False,
        width=sum(widths) + 2 * len(widths),
    )  # fmt: skip
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column, room in zip(columns, widths, strict=True):
        table.add_column(column, width=room)
    for row in cells:
        table.add_row(*row)
    with console.capture() as capture:
        console.print(table)
    write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def _column_widths(rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """The widths of columns two apart, in which no word and no name, the first cell, is broken;
    what is left goes to those that need it. None where these alone take more."""
    from rich.cells import cell_len

    columns = list(zip(*rows, strict=True))
    full = [max(map(cell_len, column)) for column in columns]
    words = [[word for cell in column for word in cell.split()] for column in columns[1:]]
    widths = [full[0], *(max(map(cell_len, column_words), default=0) for column_words in words)]
    spare = width - sum(widths) - 2 * (len(widths) - 1)
    if spare < 0:
        return None
    order = sorted(range(len(widths)), key=lambda i: full[i] - widths[i])
    for place, column in enumerate(order):
        more = min(full[column] - widths[column], spare // (len(order) - place))
        widths[column] += more
        spare -= more
    return widths


def _stacked_row(columns: Sequence[str], row: Sequence[str], width: int) -> Iterator[str]:
    """A row whose columns do not fit beside one another."""
    yield f"{columns[0]} {row[0]}"
    label_width = max(map(len, columns[1:]), default=0)
    for column, cell in zip(columns[1:], row[1:], strict=True):
        yield from wrap(
            cell, max(width, label_width + 24), initial_indent=f"  {column:<{label_width}}  ",
            subsequent_indent=" " * (label_width + 4), break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip


def parse_path(text: str) -> Path:
    """A path that an option names; an empty one is a variable that was not set."""
    if not text:
        raise typer.BadParameter("it is empty")
    return Path(text)


def check_target(path: Path, suffix: str) -> None:
    """Raise WriteError unless a file of that kind can be written there, folder and all."""
    if not path.name.endswith(suffix):
        raise WriteError(path, OSError(0, f"the name does not end in {suffix}"))
    require_folder(path.parent, path.name)


def require_folder(folder: Path, *names: str) -> Path:
    """The folder, if files of these names can be written there; asked before the work.

    Nothing is made. Raises WriteError for what is a file, lies below one, or is not writable.
    """
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise WriteError(folder, NotADirectoryError(0, f"{nearest} is a file"))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise WriteError(folder, PermissionError(0, f"{nearest} is not writable"))
    for name in names if folder.is_dir() else ():
        try:
            disk.require_writable(folder / name)
        except OSError as error:
            raise WriteError(folder / name, error) from None
    return folder


@contextmanager
def show_status(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield report(done, total). On a terminal, a bar on standard error, gone when done, that tells
    how far it is, if that is reported, and the time left; elsewhere nothing."""
    with _progress_bar() as bar:
        if bar is None:
            yield lambda done, total: None
            return
        task = bar.add_task(printable(title), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def show_progress(
    total: int, title: str, clock: Callable[[], float] = monotonic,
    pause: float | None = None,
) -> Iterator[Callable[[str], None]]:  # fmt: skip
    """Yield advance(label). On a terminal, such a bar; elsewhere a line on standard error after
    each `pause`."""
    with _progress_bar() as bar:
        if bar is None:
            yield _line_reporter(total, title, clock, PAUSE if pause is None else pause)
            return
        task = bar.add_task(title, total=total)
        yield lambda label: bar.update(task, advance=1, description=printable(label))


@contextmanager
def _progress_bar() -> Iterator[Any]:
    """A bar on standard error, None where that is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console

    with rich.Progress(
        rich.SpinnerColumn(), rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn(),
        rich.TextColumn("left:"), rich.TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    ) as bar:  # fmt: skip
        yield bar


def _line_reporter(
    total: int, title: str, clock: Callable[[], float], pause: float
) -> Callable[[str], None]:
    """Says where the work is and what is left, by the parts so far, once `pause` has gone by."""
    done, start = 0, clock()
    last_report = start

    def advance(label: str) -> None:
        nonlocal done, last_report
        done += 1
        now = clock()
        if now - last_report >= pause:
            last_report = now
            left = (now - start) / done * (total - done)
            print_error(f"{title}: {done} of {total}, {printable(label)}, some {left:.0f} s left")

    return advance
