"""Files written whole or not at all: a temporary file beside the target, fsync, then a rename.

Two processes that write the same name leave one whole file, the later one. Nothing is renamed
before everything is on disk, so a full disk or a bad name leaves what was there before. Each file
is replaced by itself: a record and a page that two processes write at the same moment are each
whole, though they may come from different runs.
"""

import os
import secrets
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from reports.errors import InputError


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
    target = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as cleanup:
            ready = []
            for name, data in files.items():
                target = folder / name
                if target.is_dir():
                    raise IsADirectoryError(0, "a folder has that name")
                temporary = folder / f".{name}.{os.getpid()}.{secrets.token_hex(6)}.tmp"
                cleanup.callback(temporary.unlink, missing_ok=True)
                _write_through(temporary, data)
                ready.append((temporary, target))
            for temporary, target in ready:
                temporary.replace(target)
        _sync(folder)
    except OSError as error:
        raise WriteError(target, error) from None


def _write_through(path: Path, data: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    """Make the renames themselves last, on systems that can open a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
