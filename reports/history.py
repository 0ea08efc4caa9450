"""Runs that are kept: a folder of records, each named by its own content, none ever changed.

A record's name is the hash of its bytes, so that two writers of one run write the same file, and
two of different runs different ones; no index is written, that two could tear. The order is that
of the times that the records tell.
"""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from reports.errors import InputError
from reports.files import write_atomic
from reports.records.codec import encode, load_with_bytes
from reports.records.record import Run


class KeptError(InputError):
    """A kept record that is not what its name says."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: it was changed since it was kept; remove it")


@dataclass(frozen=True)
class History:
    """The runs of a folder."""

    folder: Path

    def keep(self, run: Run) -> Path:
        """Keep a run; its file, which may have been there before."""
        data = encode(run)
        path = self.folder / f"{sha256(data).hexdigest()}.json"
        if not path.exists():
            write_atomic(path, data)
        return path

    def runs(self) -> list[Run]:
        """All of them, the oldest first; raises RecordError, and KeptError for a changed one."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            if len(path.stem) == 64:
                run, data = load_with_bytes(path)
                if sha256(data).hexdigest() != path.stem:
                    raise KeptError(path)
                found.append(run)
        return sorted(found, key=lambda run: (run.environment.started, run.seed))
