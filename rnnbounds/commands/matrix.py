"""``rnnbounds claims --matrix``: what each claim comes to on each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap

from rnnbounds.reports.errors import RecordError
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.record import Run
from rnnbounds.reports.table import ClaimsTable
from rnnbounds.shell.output import Format, columns_of_terminal, echo, print_json, print_table

WIDTH = 120  # columns of a table, where there is no terminal
FAILING = ("VIOLATED", "UNDECIDED", "NOT PROVED")


def matrix_in(found: Run | ClaimsTable, record: Path | None) -> Matrix:
    """The matrix of a run or of its table; raises RecordError for one that is older than those."""
    if found.matrix is None:
        raise RecordError(f"{record}: this record has no matrix; write the run again")
    return found.matrix


def show_matrix(matrix: Matrix, format: Format) -> int:
    """Print a matrix; 1 if an entry fails."""
    if format is Format.json:
        print_json(matrix)
    else:
        print_matrix(matrix)
    return int(any(entry.standing in FAILING for entry in matrix.entries))


def print_matrix(matrix: Matrix) -> None:
    """Tables of as many columns as fit, then the numbered reasons."""
    numbers, rows = matrix.reasons, matrix.rows

    def text(entry: Entry) -> str:
        return f"{entry.short} [{numbers[entry.reason]}]" if entry.reason else entry.short

    width = columns_of_terminal(WIDTH)
    first = max(len(claim) for claim in (*rows, "claim"))
    for columns in fitting(matrix, first, width, text_width=lambda e: len(text(e))):
        print_table(
            ("claim", *(column.title for column in columns)),
            [(claim, *(text(row[c.name]) for c in columns)) for claim, row in rows.items()],
        )
        echo()
    for column in matrix.columns:
        if len(column.cells) > 1:
            paragraph(f"{column.title}: ", ", ".join(column.cells), width)
    echo("n/a: not applicable, by the assumption that fails; not yet: not yet proved;")
    echo("not attacked: whatever is proved, no system of that cell was shown to it")
    for reason, number in numbers.items():
        paragraph(f"[{number}] ", reason, width)


def fitting(
    matrix: Matrix, first: int, room: int, text_width: Callable[[Entry], int]
) -> Iterator[list[Column]]:
    """The columns in groups that fit beside a first column of that width, in so much room."""
    rows = matrix.rows.values()
    group: list[Column] = []
    used = first
    for column in matrix.columns:
        width = 2 + max(len(column.title), *(text_width(row[column.name]) for row in rows))
        if group and used + width > room:
            yield group
            group, used = [], first
        group.append(column)
        used += width
    if group:
        yield group


def paragraph(label: str, text: str, width: int) -> None:
    """A line, or a few with the rest below the text's beginning; no word is broken."""
    below = " " * len(label)
    for line in wrap(
        text, width, initial_indent=label, subsequent_indent=below,
        break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        echo(line)
