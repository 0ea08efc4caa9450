"""Files taken whole, in both rooms that have them: what is read, written, and left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import impl.disk
import reports.disk
from impl.checker.truncated import check_truncated
from impl.checker.truncated_file import is_truncated
from impl.checker.unitary import check
from impl.errors import InputError
from impl.reading.adapters import load_model
from impl.reading.files import LARGEST, write_file
from reports.errors import InputError as ReportsError
from reports.files import write_atomic
from reports.records.codec import load

TWINS = (impl.disk, reports.disk)
WRITERS = (write_file, write_atomic)
# A process that dies between writing and renaming.
KILLED = """
import os, signal, sys
from pathlib import Path
import {module} as disk
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
disk.write({{Path(sys.argv[1]): b"half"}})
"""


def names(folder: Path) -> list[str]:
    """What lies in the folder."""
    return sorted(path.name for path in folder.iterdir())


def test_both_rooms_have_the_same():
    """Neither room imports the other, so each has the module, to the letter."""
    one, other = (Path(module.__file__).read_bytes() for module in TWINS)
    assert one == other


@pytest.mark.parametrize("reader", [load_model, check, check_truncated, load])
def test_only_regular_files_are_read(tmp_path, reader):
    """A pipe that nobody writes to is not waited for, a device without end not read."""
    os.mkfifo(tmp_path / "fifo")
    for place in (tmp_path / "fifo", Path("/dev/zero"), tmp_path):
        with pytest.raises((InputError, ReportsError)):
            reader(place)
        assert not is_truncated(place)


@pytest.mark.parametrize("reader", [load_model, check, check_truncated, load])
def test_only_files_of_a_bounded_size_are_read(tmp_path, reader):
    """A file that only says that it is huge is refused before a byte of it is read."""
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 2 * LARGEST)
    with pytest.raises((InputError, ReportsError)):
        reader(tmp_path / "huge")
    assert not is_truncated(tmp_path / "huge")


@pytest.mark.parametrize("module", TWINS)
def test_what_a_read_says(tmp_path, module):
    """The bytes, or what the file is or does instead."""
    (tmp_path / "a").write_bytes(b"abc")
    assert module.read(tmp_path / "a", 3) == b"abc"
    for path, limit, what in (
        (tmp_path / "a", 2, "is larger than 2 bytes"),
        (tmp_path / "b", 2, "does not exist"),
        (tmp_path, 2, "is no regular file"),
        (Path("a\0b"), 2, "cannot be opened"),
        (Path("/proc/self/status"), 2**20, "grows while it is read"),
    ):
        with pytest.raises(OSError, match=what):
            module.read(path, limit)


@pytest.mark.parametrize("module", ["impl.disk", "reports.disk"])
@pytest.mark.parametrize("write", WRITERS)
def test_what_a_killed_writer_left_is_removed(tmp_path, module, write):
    """SIGKILL between writing and renaming leaves a file, which the next writer there removes."""
    run = [sys.executable, "-c", KILLED.format(module=module), str(tmp_path / "a.safetensors")]
    assert subprocess.run(run, timeout=300, check=False).returncode == -9
    (left,) = names(tmp_path)
    assert left.endswith(".tmp")
    write(tmp_path / "b.safetensors", b"whole")
    assert names(tmp_path) == ["b.safetensors"]


@pytest.mark.parametrize("module", TWINS)
def test_what_another_is_writing_stays(tmp_path, module):
    """The file of a living writer is locked, and no other writer touches it."""
    temporary, stream = module._temporary(tmp_path)
    with stream:
        for twin in TWINS:
            twin.write({tmp_path / "b": b"whole"})
        assert names(tmp_path) == sorted([temporary.name, "b"])
    module.write({tmp_path / "b": b"whole"})
    assert names(tmp_path) == ["b"]


@pytest.mark.parametrize("module", TWINS)
def test_a_file_of_a_user_stays(tmp_path, module):
    """Nothing is removed but what is named as only a writer names it."""
    kept = [".x.tmp", ".rnnbounds-x.tmp", "rnnbounds-0123456789abcdef.tmp"]
    for name in kept:
        (tmp_path / name).touch()
    module.write({tmp_path / "b": b""})
    assert names(tmp_path) == sorted([*kept, "b"])


@pytest.mark.parametrize("module", TWINS)
def test_names_that_are_none(tmp_path, module, monkeypatch):
    """No name, a folder's, one that is too long, with a zero, in no folder: an OSError, at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    bad = ("", ".", "/", "folder", "x" * 300, "a\0b", "no/b", "/proc/x")
    for name in bad:
        for action in (module.require_writable, lambda path: module.write({path: b""})):
            with pytest.raises(OSError, match=r"."):
                action(Path(name))
    assert names(tmp_path) == ["folder"]
    module.write({Path("x" * 250): b""})  # as long as a name may be, and no longer beside it
    module.require_writable(tmp_path / "y")
    assert names(tmp_path) == ["folder", "x" * 250]


@pytest.mark.parametrize("module", TWINS)
def test_one_file_by_many_names(tmp_path, module, monkeypatch):
    """Relative, through a folder, by a symbolic and by a hard link."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "soft").symlink_to("a")
    os.link("a", "hard")
    for name in ("a", "folder/../a", "soft", "hard", str(tmp_path / "a")):
        assert module.same(tmp_path / "a", Path(name))
    for name in ("b", "folder", "a\0b", ""):
        assert not module.same(tmp_path / "a", Path(name))
