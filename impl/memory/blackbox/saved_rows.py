"""Results of windows that were run, kept in a file from which a stopped run goes on.

The file is safetensors: tables of float64 with a row for each window that was run, in order. Its
metadata hold a key, the digest of the data, the options and the model's parameters, and the number
of windows in a batch. It is replaced whole after each batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from rnnbounds import disk
from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.memory.blackbox.model import MemoryLimitError
from rnnbounds.impl.reading.files import as_safetensors, parse_safetensors, read_file

FORMAT = "rnnbounds/resume/1"


class ResumeError(InputError):
    """A file from which no run can go on, or to which none can be written."""

    def __init__(self, path: Path, what: str, remedy: str) -> None:
        super().__init__(f"{shown(path)}: {what}; {remedy}")


@dataclass
class SavedRows:
    """Tables of rows by name, in memory alone if there is no path; `batch` windows are run at once,
    fewer where memory ran out."""

    path: Path | None
    key: str
    batch: int
    tables: dict[str, Tensor] = field(default_factory=dict)
    _done: bool = field(default=True, init=False)

    @classmethod
    def open(cls, path: Path | None, key: str, batch: int) -> "SavedRows":
        """The rows of the file, none if it does not exist; raises ResumeError for a file that is of
        another measurement, and where it cannot be written."""
        if path is None:
            return cls(None, key, batch)
        try:
            disk.require_writable(path)
        except OSError as error:
            what = f"cannot be written ({error.strerror})"
            raise ResumeError(path, what, "choose another place") from None
        if not path.exists():
            return cls(path, key, batch)
        tables, known = parse_safetensors(read_file(path, what="results"), path)
        if known.get("format") != FORMAT or not known.get("batch", "").isdecimal():
            raise ResumeError(path, "holds no windows that were run", "name another file")
        if known.get("key") != key:
            what = "is of another measurement: data, options or parameters differ"
            raise ResumeError(path, what, "name another file, or remove this one")
        return cls(path, key, max(1, min(batch, int(known["batch"]))), tables)

    def table(self, name: str, columns: int, most: int) -> Tensor:
        """The rows that are known, (at most `most`, columns); raises ResumeError for a damaged
        table."""
        rows = self.tables.get(name, torch.empty(0, columns, dtype=torch.float64))
        if rows.dtype != torch.float64 or rows.ndim != 2 or rows.shape[1] != columns:
            raise ResumeError(Path(self.path or ""), f"table {name} is damaged", "remove the file")
        if len(rows) > most or not bool(torch.isfinite(rows).all()):
            raise ResumeError(Path(self.path or ""), f"table {name} is damaged", "remove the file")
        return rows

    def add(self, name: str, rows: Tensor) -> None:
        """Append rows to a table, and replace the file; raises ResumeError."""
        self.tables[name] = torch.cat([self.tables[name], rows]) if name in self.tables else rows
        if self.path is None:
            return
        known = {"format": FORMAT, "key": self.key, "batch": str(self.batch)}
        try:
            disk.write({self.path: as_safetensors(self.tables, known)})
        except OSError as error:
            what = f"cannot be written ({error.strerror})"
            raise ResumeError(self.path, what, "choose another place") from None

    def batches(self, first: int, last: int) -> Iterator[slice]:
        """Yield batches of the windows from `first` to `last`; a batch that is followed by
        `halve()` is yielded again, halved."""
        while first < last:
            self._done = True
            part = slice(first, min(first + self.batch, last))
            yield part
            first = part.stop if self._done else first

    def halve(self) -> None:
        """Run half as many windows at once; raises MemoryLimitError where it is one already."""
        if self.batch == 1:
            raise MemoryLimitError
        self.batch, self._done = self.batch // 2, False
