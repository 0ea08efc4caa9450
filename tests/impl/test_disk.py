"""Files taken whole: what is read, written, and left behind."""

import os
import resource
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from rnnbounds import disk
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.checker.unitary import check
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.tensors import said_format
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.files import LARGEST, write_file
from rnnbounds.reports.errors import InputError as ReportsError
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.records.codec import load

WRITERS = (write_file, write_atomic)
# A process that dies between writing and renaming.
KILLED = """
import os, signal, sys
from pathlib import Path
from rnnbounds import disk
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
disk.write({Path(sys.argv[1]): b"half"})
"""


def names(folder: Path) -> list[str]:
    """What lies in the folder."""
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def no_file_beyond(size):
    """No file of this process may grow beyond so many bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("reader", [load_model, check, check_truncated, load])
def test_only_regular_files_of_a_bounded_size_are_read(tmp_path, reader):
    """A pipe that nobody writes to is not waited for, a device without end not read, a file that
    only says that it is huge is refused before a byte of it is read."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 2 * LARGEST)
    places = dict.fromkeys((tmp_path / "fifo", Path("/dev/zero"), tmp_path), "is no regular file")
    for place, words in (places | {tmp_path / "huge": "is larger than"}).items():
        with pytest.raises((InputError, ReportsError)):
            reader(place)
        with pytest.raises(OSError, match=words):
            said_format(place)


def test_what_a_read_says(tmp_path):
    """The bytes, or what the file is or does instead."""
    (tmp_path / "a").write_bytes(b"abc")
    assert disk.read(tmp_path / "a", 3) == b"abc"
    for path, limit, what in (
        (tmp_path / "a", 2, "is larger than 2 bytes"),
        (tmp_path / "b", 2, "does not exist"),
        (tmp_path, 2, "is no regular file"),
        (Path("a\0b"), 2, "cannot be opened"),
        (Path("/proc/self/status"), 2**20, "grows while it is read"),
    ):
        with pytest.raises(OSError, match=what):
            disk.read(path, limit)


@pytest.mark.parametrize("write", WRITERS)
def test_what_a_killed_writer_left_is_removed(tmp_path, write):
    """SIGKILL between writing and renaming leaves a file, which the next writer there removes."""
    run = [sys.executable, "-c", KILLED, str(tmp_path / "a.safetensors")]
    assert subprocess.run(run, timeout=300, check=False).returncode == -9
    (left,) = names(tmp_path)
    assert left.endswith(".tmp")
    write(tmp_path / "b.safetensors", b"whole")
    assert names(tmp_path) == ["b.safetensors"]


def test_files_of_others_stay(tmp_path):
    """The file of a living writer is locked, and no other writer touches it; nothing is removed but
    what is named as only a writer names it."""
    kept = [".x.tmp", ".rnnbounds-x.tmp", "rnnbounds-0123456789abcdef.tmp"]
    for name in kept:
        (tmp_path / name).touch()
    temporary, stream = disk._open_temporary(tmp_path)
    with stream:
        disk.write({tmp_path / "b": b"whole"})
        assert names(tmp_path) == sorted([*kept, temporary.name, "b"])
    disk.write({tmp_path / "b": b"whole"})
    assert names(tmp_path) == sorted([*kept, "b"])


def test_names_that_are_none(tmp_path, monkeypatch):
    """No name, a folder's, one that is too long, with a zero, in no folder: an OSError, at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    bad = ("", ".", "/", "folder", "x" * 300, "a\0b", "no/b", "/proc/x")
    for name in bad:
        for action in (disk.require_writable, lambda path: disk.write({path: b""})):
            with pytest.raises(OSError, match=r"."):
                action(Path(name))
    assert names(tmp_path) == ["folder"]
    disk.write({Path("x" * 250): b""})  # as long as a name may be, and no longer beside it
    disk.require_writable(tmp_path / "y")
    assert names(tmp_path) == ["folder", "x" * 250]


def test_one_file_by_many_names(tmp_path, monkeypatch):
    """Relative, through a folder, by a symbolic and by a hard link."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "soft").symlink_to("a")
    os.link("a", "hard")
    for name in ("a", "folder/../a", "soft", "hard", str(tmp_path / "a")):
        assert disk.is_same_file(tmp_path / "a", Path(name))
    for name in ("b", "folder", "a\0b", ""):
        assert not disk.is_same_file(tmp_path / "a", Path(name))


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    """A pipe, and what links to it: renaming would destroy it, as root even a device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for place in (tmp_path / "pipe", tmp_path / "link"):
        for act in (lambda p: disk.write({p: b"new"}), disk.require_writable):
            with pytest.raises(OSError, match="is no regular file"):
                act(place)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]


@pytest.mark.parametrize("size", [10, 10**6])
def test_a_full_disk_is_said_of_the_file(tmp_path, size):
    """By both rooms' writers, however much is written at once; what was there stays."""
    (tmp_path / "a.json").write_bytes(b"old")
    for write, error in ((write_file, InputError), (write_atomic, ReportsError)):
        with no_file_beyond(5), pytest.raises(error, match=r"a\.json.*File too large"):
            write(tmp_path / "a.json", bytes(size))
    with no_file_beyond(5), pytest.raises(OSError, match="File too large") as told:
        disk.write({tmp_path / "b": b"", tmp_path / "a.json": bytes(size)})
    assert told.value.filename == str(tmp_path / "a.json")
    assert names(tmp_path) == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == b"old"


def test_a_link_is_replaced_and_what_it_names_stays(tmp_path):
    """A link in a folder that is written to may lead anywhere, to what is not there yet as well;
    in a circle it is refused. The folder itself may be a link: that is where the caller wrote."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "folder").symlink_to("sub")
    (tmp_path / "old").write_bytes(b"old")
    for name, end in (("one", "old"), ("two", "sub/new"), ("folder/three", "../old")):
        (tmp_path / name).symlink_to(end)
        disk.require_writable(tmp_path / name)
        disk.write({tmp_path / name: b"written"})
        assert not (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_bytes() == b"written"
    assert (tmp_path / "old").read_bytes() == b"old"
    assert names(tmp_path / "sub") == ["three"]
    assert (tmp_path / "folder").is_symlink()
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match=str(tmp_path / "round")):
        disk.write({tmp_path / "round": b"new"})
    assert (tmp_path / "round").is_symlink()


def test_a_stream_is_not_replaced_by_a_file(tmp_path, monkeypatch):
    """`--summary /dev/stdout > FILE` leads to a regular file, by a link that root could replace."""
    (tmp_path / "FILE").touch()
    (tmp_path / "stdout").symlink_to("FILE")
    monkeypatch.setattr(os.path, "realpath", lambda path: "/dev")
    with pytest.raises(OSError, match="is no regular file"):
        disk.write({tmp_path / "stdout": b"new"})
    assert (tmp_path / "stdout").is_symlink()


def test_a_write_protected_file_stays(tmp_path, monkeypatch):
    """A rename asks only the folder; whoever protects a file means the file."""
    (tmp_path / "kept").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root is asked about no mode
    with pytest.raises(OSError, match="write-protected"):
        disk.write({tmp_path / "kept": b"new"})
    assert (tmp_path / "kept").read_bytes() == b"old"
