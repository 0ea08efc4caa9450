"""Columns of a table: which are channels, and which rows are one series."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.data.ragged import Ragged
from rnnbounds.impl.reading.data.recordings import Array
from rnnbounds.impl.reading.files import ModelFileError

REMEDY = "choose columns of numbers by --columns"


@dataclass(frozen=True)
class TableColumns:
    """Columns by name. channels: those that are inputs, in this order; all others than `group` and
    `time` if there are none. group: rows of one value of it are one series. time: it has to
    increase within a series."""

    channels: tuple[str, ...] = ()
    group: str | None = None
    time: str | None = None

    @classmethod
    def of(
        cls, columns: str | Iterable[str] | None, group: str | None, time: str | None
    ) -> "TableColumns":
        """Columns as a user names them: "a,b", or a list of names."""
        names = columns.split(",") if isinstance(columns, str) else [*(columns or ())]
        if not all(names):
            raise InputError(f"columns = {shown(columns)} names no column; give names, as a,b")
        return cls(tuple(names), group, time)

    @property
    def stated(self) -> bool:
        """True if any column is named."""
        return self != TableColumns()

    def chosen(self, names: Sequence[str], path: Path) -> list[str]:
        """The channels of a table of these columns, then group and time as far as they are named;
        raises ModelFileError for a name that is missing, doubled or used twice."""
        extra = [name for name in (self.group, self.time) if name is not None]
        found = [*(self.channels or (name for name in names if name not in extra)), *extra]
        for name in found:
            if (count := names.count(name)) != 1:
                what = f"has {count or 'no'} column{'s' * (count > 1)} {shown(name)!r}"
                known = ", ".join(map(shown, names[:8])) + (", …" if len(names) > 8 else "")
                raise ModelFileError(path, what, f"its columns are {known}")
            if found.count(name) > 1:
                raise ModelFileError(path, f"column {shown(name)!r} is asked for twice", REMEDY)
        if len(found) == len(extra):
            raise ModelFileError(path, "has no column of inputs", REMEDY)
        return found


def series(
    path: Path, named: TableColumns, values: Array, groups: Array | None, times: Array | None
) -> Array | Ragged:
    """The rows (R, d) as they are, or one series for each group, in the order in which groups come
    first: groups (R,) are indices, times (R,) compare with one another.

    Raises ModelFileError if the time does not increase from each row of a series to its next.
    """
    order = np.arange(len(values)) if groups is None else np.argsort(groups, kind="stable")
    if times is not None:
        _require_increasing(path, named, times, order, groups)
    if groups is None:
        return values
    return Ragged(values[order], np.bincount(groups))


def _require_increasing(
    path: Path, named: TableColumns, times: Array, order: Array, groups: Array | None
) -> None:
    sorted_times = times[order]
    try:
        later = np.asarray(sorted_times[1:] > sorted_times[:-1], dtype=bool)
        known = bool((sorted_times == sorted_times).all())  # no NaN
    except TypeError:
        reason = f"column {shown(named.time)!r} mixes times that cannot be compared"
        raise ModelFileError(path, reason, "write all of them alike") from None
    same = np.ones(len(later), dtype=bool)
    if groups is not None:
        same = groups[order][1:] == groups[order][:-1]
    if len(bad := np.flatnonzero(same & ~later)) or not known:
        where = f" at row {order[bad[0] + 1] + 1}" if len(bad) else ""
        within = "" if groups is None else f" within its {shown(named.group)!r}"
        reason = f"column {shown(named.time)!r} does not increase{within}{where}"
        raise ModelFileError(path, reason, "sort the rows by time, and keep one of each time")
