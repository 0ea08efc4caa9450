"""Runs that are kept: a folder of records, each named by its own content, none ever changed; and
the file of what a guard found, a line a run.

A record's name is the hash of its bytes, so that two writers of one run write the same file, and
two of different runs different ones; no index is written, that two could tear. The order is that
of the times in the records.
"""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.records.codec import MOST_BYTES, encode, load_with_bytes
from rnnbounds.reports.records.guarded import GuardResults
from rnnbounds.reports.records.record import Run


class HistoryLineError(InputError):
    """A line of a guard's history that is no record."""

    def __init__(self, path: Path, number: int, reason: str) -> None:
        super().__init__(f"{path}: line {number}: {reason}; remove it, or name another file")


class ChangedRecordError(InputError):
    """A kept record that is not what its name says."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: it was changed since it was kept; remove it")


@dataclass(frozen=True)
class History:
    """The runs of a folder."""

    folder: Path

    def store(self, run: Run) -> Path:
        """Keep a run; its file, which may have been there before."""
        data = encode(run)
        path = self.folder / f"{sha256(data).hexdigest()}.json"
        if not path.exists():
            write_atomic(path, data)
        return path

    def runs(self) -> list[Run]:
        """All of them, the oldest first; raises RecordError, and KeptError for a changed one."""
        runs = []
        for path in sorted(self.folder.glob("*.json")):
            if len(path.stem) == 64:
                run, data = load_with_bytes(path)
                if sha256(data).hexdigest() != path.stem:
                    raise ChangedRecordError(path)
                runs.append(run)
        return sorted(runs, key=lambda run: (run.environment.started, run.seed))


def load_guard_history(path: Path) -> list[GuardResults]:
    """Read the results of a guard, one Guarded a line, from a file written by --history, in its
    order; [] if there is no such file. Raises LineError."""
    try:
        lines = disk.read(path, MOST_BYTES).splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HistoryLineError(path, 1, error.strerror or "it cannot be read") from None
    results = []
    for number, line in enumerate(lines, start=1):
        try:
            results.append(msgspec.json.decode(line, type=GuardResults))
        except (ValueError, RecursionError) as error:
            raise HistoryLineError(path, number, str(error)[:200]) from None
    return results
