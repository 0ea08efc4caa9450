import subprocess
import sys
from pathlib import Path

import pytest

from rnnbounds.reports.files import WriteError, write_all, write_atomic

WRITER = """
import sys
from pathlib import Path
from rnnbounds.reports.files import write_all
letter = sys.argv[2].encode()
for size in range(1, 60):
    write_all(Path(sys.argv[1]), {"run.json": letter * 30000 * size, "index.html": letter * 1000})
"""


def test_write_atomic_makes_folders(tmp_path):
    """A file is written with its folders, replaces what was there, and is readable by others."""
    path = tmp_path / "a" / "b" / "page.html"
    write_atomic(path, b"old")
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["page.html"]
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode


def test_all_or_none(tmp_path):
    """If one file cannot be written, none is replaced and no temporary file stays."""
    write_atomic(tmp_path / "run.json", b"before")
    (tmp_path / "index.html").mkdir()
    with pytest.raises(WriteError, match=r"cannot write .*index\.html: .*; choose another place"):
        write_all(tmp_path, {"run.json": b"after", "index.html": b"page"})
    assert (tmp_path / "run.json").read_bytes() == b"before"
    assert names(tmp_path) == ["index.html", "run.json"]


def test_a_file_where_a_folder_is_needed(tmp_path):
    """An output folder that is a file is refused in one line."""
    (tmp_path / "out").write_bytes(b"")
    with pytest.raises(WriteError, match="cannot write"):
        write_all(tmp_path / "out", {"run.json": b""})


def test_two_writers_never_tear_a_file(tmp_path):
    """While two processes write the same names, every read sees one whole file of one of them."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), letter]) for letter in "ab"
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        for path in (tmp_path / "run.json", tmp_path / "index.html"):
            if path.exists():
                assert whole(path)
                reads += 1
    assert [writer.returncode for writer in writers] == [0, 0]
    assert reads > 0
    assert names(tmp_path) == ["index.html", "run.json"]


def names(folder: Path) -> list[str]:
    """What lies in the folder."""
    return sorted(path.name for path in folder.iterdir())


def whole(path: Path) -> bool:
    """Whether the file is one letter, as often as some single call wrote it."""
    data = path.read_bytes()
    unit = 30000 if path.name == "run.json" else 1000
    return data == data[:1] * len(data) and len(data) % unit == 0 and len(data) > 0
