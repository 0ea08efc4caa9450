"""``rnnbounds claims --matrix``: what each claim comes to on each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap

from rnnbounds.reports.errors import RecordError
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.record import Run
from rnnbounds.reports.table import ClaimsTable
from rnnbounds.shell.output import Format, echo, print_json, print_table, terminal_columns

WIDTH = 120  # columns of a table, where there is no terminal
FAILING_STANDINGS = ("VIOLATED", "UNDECIDED", "NOT PROVED")


def require_matrix(source: Run | ClaimsTable, record: Path | None) -> Matrix:
    """The matrix of a run or of its table; raises RecordError for one that is older than those."""
    if source.matrix is None:
        raise RecordError(f"{record}: this record has no matrix; write the run again")
    return source.matrix


def show_matrix(matrix: Matrix, format: Format) -> int:
    """Print a matrix; 1 if an entry fails."""
    if format is Format.json:
        print_json(matrix)
    else:
        print_matrix(matrix)
    return int(any(entry.standing in FAILING_STANDINGS for entry in matrix.entries))


def print_matrix(matrix: Matrix) -> None:
    """Tables of as many columns as fit, then the numbered reasons."""
    numbers, rows = matrix.reasons, matrix.rows

    def text(entry: Entry) -> str:
        return f"{entry.short} [{numbers[entry.reason]}]" if entry.reason else entry.short

    width = terminal_columns(WIDTH)
    first = max(len(claim) for claim in (*rows, "claim"))
    for columns in fitting_columns(matrix, first, width, text_width=lambda e: len(text(e))):
        print_table(
            ("claim", *(column.title for column in columns)),
            [(claim, *(text(row[c.name]) for c in columns)) for claim, row in rows.items()],
        )
        echo()
    for column in matrix.columns:
        if len(column.cells) > 1:
            print_paragraph(f"{column.title}: ", ", ".join(column.cells), width)
    echo("n/a: not applicable, by the assumption that fails; not yet: not yet proved;")
    echo("not attacked: whatever is proved, no system of that cell was shown to it")
    for reason, number in numbers.items():
        print_paragraph(f"[{number}] ", reason, width)


def fitting_columns(
    matrix: Matrix, name_width: int, line_width: int, text_width: Callable[[Entry], int]
) -> Iterator[list[Column]]:
    """The columns in groups that fit beside a first column of that width, in so much room."""
    rows = matrix.rows.values()
    group: list[Column] = []
    width_used = name_width
    for column in matrix.columns:
        width = 2 + max(len(column.title), *(text_width(row[column.name]) for row in rows))
        if group and width_used + width > line_width:
            yield group
            group, width_used = [], name_width
        group.append(column)
        width_used += width
    if group:
        yield group


def print_paragraph(label: str, text: str, width: int) -> None:
    """A line, or a few with the rest below the text's beginning; no word is broken."""
    below = " " * len(label)
    for line in wrap(
        text, width, initial_indent=label, subsequent_indent=below,
        break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        echo(line)
