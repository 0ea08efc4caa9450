"""What the commands print: JSON documents, tables, and progress that needs a terminal."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import typer

from reports import disk
from reports.files import WriteError
from rnnbounds.shell.terminal import echo as echo
from rnnbounds.shell.terminal import printable, tell, write

WIDE = 10_000  # columns: nothing wraps where there is no terminal
PAUSE = 10.0  # seconds between two lines about a long run
EACH = 0.0  # the same where each part is worth a line


class Format(StrEnum):
    """How a command prints its result."""

    text = "text"
    json = "json"


def print_json(document: Any) -> None:
    """One JSON document on standard output; what is not printable stands as JSON's escape."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    known = getattr(sys.stdout, "encoding", None) or "utf-8"
    write(_escaped(text, known) + "\n")


def _escaped(text: str, encoding: str) -> str:
    """Only strings hold what is not printable or not ASCII: there JSON may write it in digits."""
    ascii_only = not "λ".encode(encoding, "ignore")

    def fine(c: str) -> bool:
        return c == "\n" or (c.isprintable() and (c.isascii() or not ascii_only))

    return "".join(c if fine(c) else json.dumps(c)[1:-1] for c in text)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A plain table on standard output; nothing is cut off where it is no terminal."""
    from rich.console import Console  # slow to import: what shows no table does without
    from rich.table import Table

    # Rich writes to memory: it would flush standard output and answer for its failures itself.
    terminal = sys.stdout is not None and sys.stdout.isatty()
    console = Console(
        file=io.StringIO(), force_terminal=terminal, markup=False, emoji=False, highlight=False
    )
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(printable(cell) for cell in row))
    if not terminal:
        console.width = WIDE
    with console.capture() as shown:
        console.print(table)
    write(shown.get())


def path_of(text: str) -> Path:
    """A path that an option names; an empty one is a variable that was not set."""
    if not text:
        raise typer.BadParameter("it is empty")
    return Path(text)


def check_target(path: Path, suffix: str) -> None:
    """Raise WriteError unless a file of that kind can be written there, folder and all."""
    if not path.name.endswith(suffix):
        raise WriteError(path, OSError(0, f"the name does not end in {suffix}"))
    check_folder(path.parent, path.name)


def check_folder(folder: Path, *names: str) -> Path:
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
def waiting(title: str) -> Iterator[None]:
    """On a terminal, a line on standard error that says what is done, gone when it is."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True, markup=False).status(printable(title)):
        yield


@contextmanager
def progress(
    total: int, title: str, clock: Callable[[], float] = monotonic,
    within: Callable[[], str] = lambda: "", pause: float | None = None,
) -> Iterator[Callable[[str], None]]:  # fmt: skip
    """``yield``s advance(label). On a terminal, a bar on standard error, gone when done, that tells
    `within` parts how far it is, and the time left; elsewhere a line there after each `pause`."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Within(ProgressColumn):
        """Asked anew each time that the bar is drawn."""

        def render(self, task: object) -> Text:
            return Text(within())

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(total, title, clock, PAUSE if pause is None else pause)
        return
    bar = Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(),
        MofNCompleteColumn(), Within(), TimeElapsedColumn(), TextColumn("left:"),
        TimeRemainingColumn(), console=console, transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task(title, total=total)
        yield lambda label: bar.update(task, advance=1, description=printable(label))


def _lines(
    total: int, title: str, clock: Callable[[], float], pause: float
) -> Callable[[str], None]:
    """Says where the work is and what is left, by the parts so far, once `pause` has gone by."""
    done, start = 0, clock()
    told = start

    def advance(label: str) -> None:
        nonlocal done, told
        done += 1
        now = clock()
        if now - told >= pause:
            told = now
            left = (now - start) / done * (total - done)
            tell(f"{title}: {done} of {total}, {printable(label)}, some {left:.0f} s left")

    return advance
