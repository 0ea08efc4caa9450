"""Files taken whole: read at once if they are regular and not huge, written all or not at all.

A file is written beside its target under another name, flushed to the disk and renamed, so that a
reader sees the old one or the new one. A link of that name is replaced and what it names is left as
it is, for the folder may have been another's to fill; and what is no regular file, as a pipe or a
device, stays, link and all. Its writer holds a lock on it: what a killed process left is the
unlocked, and the next writer in that folder removes it. Everything here raises OSError.
"""

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

_STALE_NAME = re.compile(r"\.rnnbounds-[0-9a-f]{16}\.tmp")


class UnreadableError(OSError):
    """A file that is not to be read."""


def read(path: Path, limit: int) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; a pipe or a device is not waited for.

    Read in one go, since another process may replace the file meanwhile. The OSError's text says
    what the file is or does instead.
    """
    try:
        _require_regular(path.stat())  # before it is opened: opening a device may do something
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as stream:
            status = os.fstat(handle)
            _require_regular(status)
            if status.st_size > limit:
                raise UnreadableError(errno.EFBIG, f"is larger than {limit} bytes")
            data = stream.read(status.st_size + 1)
    except FileNotFoundError:
        raise OSError(errno.ENOENT, "does not exist") from None
    except UnreadableError:
        raise
    except (OSError, ValueError) as cause:
        raise OSError(errno.EIO, f"cannot be opened ({type(cause).__name__})") from None
    if len(data) > status.st_size:
        raise OSError(errno.EBUSY, "grows while it is read")
    return data


def write(files: Mapping[Path, bytes]) -> None:
    """Write all files, each atomically, none unless all can be written; their folders are there.

    Temporary files never stay behind, not even those of an earlier process that was killed.
    """
    with ExitStack() as cleanup:
        ready = []
        for target, data in files.items():
            with _report_target(target):
                _require_target(target)
                temporary, stream = _open_temporary(target.parent)
                cleanup.callback(temporary.unlink, missing_ok=True)
                cleanup.enter_context(stream)
                rest = memoryview(data)
                while rest:
                    rest = rest[stream.write(rest) :]
                os.fsync(stream.fileno())
                ready.append((target, temporary))
        for target, temporary in ready:
            with _report_target(target):
                temporary.replace(target)
    for folder in {target.parent for target in files}:
        _sync_folder(folder)


def require_writable(target: Path) -> None:
    """Raise OSError unless a file of that name could be written now; nothing is left behind."""
    with _report_target(target):
        _require_target(target)
        temporary, stream = _open_temporary(target.parent)
        stream.close()
        temporary.unlink(missing_ok=True)


def is_same_file(first: Path, other: Path) -> bool:
    """True if both paths lead to one existing file, through whatever links."""
    with suppress(OSError, ValueError):
        return first.samefile(other)
    return False


@contextmanager
def _report_target(target: Path) -> Iterator[None]:
    """Re-raise an OSError under the target's name instead of its temporary file's."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OSError(error.errno or errno.EIO, reason, str(target)) from None


def _require_target(target: Path) -> None:
    """Raise OSError unless a file of that name may be written, or one in place of a link."""
    if not target.name or "\0" in str(target):
        raise OSError(errno.EINVAL, "that is no name of a file")
    with suppress(FileNotFoundError):
        status = target.stat()  # raises where the name is too long, and for links in a circle
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, "a folder has that name")
        _require_regular(status)
        if target.is_symlink():
            if os.path.realpath(target.parent) == "/dev":  # a stream, such as /dev/stdout
                raise UnreadableError(errno.EINVAL, "is no regular file")
        elif not os.access(target, os.W_OK):
            raise OSError(errno.EACCES, "it is write-protected")


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(errno.EINVAL, "is no regular file")


def _open_temporary(folder: Path) -> tuple[Path, FileIO]:
    """A new file, locked as long as it is open; what the dead left in the folder is removed.

    Without a buffer, which would fail on a full disk once more when the file is closed.
    """
    _remove_stale(folder)
    while True:
        path = folder / f".rnnbounds-{secrets.token_hex(8)}.tmp"
        stream = path.open("xb", buffering=0)
        _lock(stream)
        if os.fstat(stream.fileno()).st_nlink:  # no sweep came between opening and locking
            return path, stream
        stream.close()


def _remove_stale(folder: Path) -> None:
    with suppress(OSError):
        for path in [path for path in folder.iterdir() if _STALE_NAME.fullmatch(path.name)]:
            with suppress(OSError), path.open("r+b") as stream:
                if _lock(stream, wait=False):
                    path.unlink()


def _lock(stream: IO[bytes], *, wait: bool = True) -> bool:
    """Lock an open file until its process ends, however it ends; True if the lock was acquired."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
    return False


def _sync_folder(folder: Path) -> None:
    """Make the renames themselves last, on systems that can open a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
