"""Tables as text, .csv: all numbers, or columns by their names in the first line."""

import csv
import io
from array import array
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

import numpy as np

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.data.contents import AGAIN, in_a_line, whole
from rnnbounds.impl.reading.data.ragged import Ragged
from rnnbounds.impl.reading.data.recordings import Array
from rnnbounds.impl.reading.data.tables import REMEDY, TableColumns, series
from rnnbounds.impl.reading.files import ModelFileError

LARGEST_TEXT = 2**28  # bytes of a text, whose numbers take up to four times as much


def csv_table(path: Path, named: TableColumns) -> Array | Ragged:
    """The numbers of a text in UTF-8 with `,`, `;` or tabs between them: (R, d), or series by a
    group; raises ModelFileError for a cell that is no number, by line and column."""
    try:
        text = whole(path, LARGEST_TEXT).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelFileError(path, "is no text in UTF-8", AGAIN) from None
    first = text.lstrip().partition("\n")[0]
    delimiter = next((c for c in ",;\t" if c in first), ",")
    try:
        names = _lines_of_names(text, delimiter)
        if not any(line.strip() for line in islice(io.StringIO(text), names, None)):
            raise ModelFileError(path, "has no row of numbers", AGAIN)
        if named.stated:
            if not names:
                raise ModelFileError(path, "has no line of names", "write the columns' names first")
            return _by_name(
                path, named, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            )
        return np.loadtxt(
            io.StringIO(text), delimiter=delimiter, skiprows=names, ndmin=2,
            quotechar='"', comments=None,
        )  # fmt: skip
    except ModelFileError:
        raise
    except (ValueError, csv.Error) as cause:
        raise ModelFileError(path, f"is no table of numbers ({in_a_line(cause)})", REMEDY) from None


def _by_name(path: Path, named: TableColumns, lines: Iterator[list[str]]) -> Array | Ragged:
    """The named columns of the lines of a reader of csv, of which the first has the names."""
    rows = (cells for cells in lines if any(map(str.strip, cells)))
    names = [cell.strip() for cell in next(rows)]
    places = [names.index(name) for name in named.chosen(names, path)]
    d = len(places) - (named.group is not None) - (named.time is not None)
    group = places[d] if named.group is not None else None
    numbers, indices, times = array("d"), array("q"), []
    known: dict[str, int] = {}
    for n, cells in enumerate(rows, 1):
        if len(cells) != len(names):
            reason = f"row {n} has {len(cells)} cells below {len(names)} names"
            raise ModelFileError(path, reason, "give each row all cells")
        for place in places[:d]:
            if (value := _number(cells[place])) is None:
                reason = f"row {n} of column {shown(names[place])!r} is {shown(cells[place])!r}"
                raise ModelFileError(path, f"{reason}, no number", REMEDY)
            numbers.append(value)
        if group is not None:
            if not cells[group].strip():
                raise ModelFileError(
                    path, f"row {n} of column {shown(named.group)!r} is empty", "fill it in"
                )
            indices.append(known.setdefault(cells[group], len(known)))
        if named.time is not None:
            times.append(_time(path, cells[places[-1]], n, named.time))
    values = np.frombuffer(numbers, dtype=np.float64).reshape(-1, d)
    groups = np.frombuffer(indices, dtype=np.int64) if group is not None else None
    return series(path, named, values, groups, np.array(times, dtype=object) if times else None)


def _time(path: Path, cell: str, row: int, name: str) -> int | float | datetime:
    """A time: a whole number, exactly, another number, or a date in ISO 8601."""
    for read in (int, float, datetime.fromisoformat):
        try:
            return read(cell.strip())
        except ValueError:
            continue
    reason = f"row {row} of column {shown(name)!r} is {shown(cell)!r}, no time"
    raise ModelFileError(path, reason, "write numbers, or dates as 2024-01-31T12:00")


def _lines_of_names(text: str, delimiter: str) -> int:
    """How many lines stand before the numbers: 1 if the first that is not empty has names."""
    for number, line in enumerate(io.StringIO(text)):
        if line.strip():
            cells = next(csv.reader([line[:LARGEST_TEXT]], delimiter=delimiter))
            return 0 if any(_number(cell) is not None for cell in cells) else number + 1
    return 0


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
