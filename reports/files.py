"""Files written whole or not at all: a temporary file beside the target, fsync, then a rename.

Two processes that write the same name leave one whole file, the later one. Nothing is renamed
before everything is on disk, so a full disk or a bad name leaves what was there before. Each file
is replaced by itself: a record and a page that two processes write at the same moment are each
whole, though they may come from different runs.
"""

from collections.abc import Mapping
from pathlib import Path

from rnnbounds import disk
from rnnbounds.reports.errors import InputError


class WriteError(InputError):
    """The output cannot be written there."""

    def __init__(self, path: Path, error: OSError) -> None:
        reason = error.strerror or type(error).__name__
        super().__init__(f"cannot write {path}: {reason}; choose another place")


def write_atomic(path: Path, data: bytes) -> None:
    """Write one file atomically, making its folder if needed; raises WriteError."""
    write_all(path.parent, {path.name: data})


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the named files into the folder, each atomically, none unless all can be written.

    The folder is made if it is missing. Raises WriteError; temporary files never stay behind.
    """
    make_folder(folder)
    try:
        disk.write({folder / name: data for name, data in files.items()})
    except OSError as error:
        raise WriteError(Path(error.filename or folder), error) from None


def make_folder(folder: Path) -> None:
    """Make the folder if it is missing; raises WriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except ValueError:
        raise WriteError(folder, OSError(0, "it is no name of a folder")) from None
    except OSError as error:
        raise WriteError(Path(error.filename or folder), error) from None
