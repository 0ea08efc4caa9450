"""What a writer may replace: a regular file, by whatever name, and nothing else."""

import os
import stat
from pathlib import Path

import pytest

import impl.disk
import reports.disk

TWINS = (impl.disk, reports.disk)


@pytest.mark.parametrize("module", TWINS)
def test_what_is_no_regular_file_is_never_replaced(tmp_path, module):
    """A pipe, and what links to it: renaming would destroy it, as root even a device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for place in (tmp_path / "pipe", tmp_path / "link"):
        for act in (lambda p: module.write({p: b"new"}), module.require_writable):
            with pytest.raises(OSError, match="is no regular file"):
                act(place)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]


@pytest.mark.parametrize("module", TWINS)
def test_no_device_is_replaced(module):
    """`--out /dev/null` leaves the device."""
    with pytest.raises(OSError, match="is no regular file"):
        module.require_writable(Path(os.devnull))


@pytest.mark.parametrize("module", TWINS)
def test_a_link_is_written_through(tmp_path, module):
    """The link stays, also one to a file that is not there yet; in a circle it is refused."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "old").write_bytes(b"old")
    for name, end in (("one", "old"), ("two", "sub/new")):
        (tmp_path / name).symlink_to(end)
        module.require_writable(tmp_path / name)
        module.write({tmp_path / name: b"written"})
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / end).read_bytes() == b"written"
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match=str(tmp_path / "round")):
        module.write({tmp_path / "round": b"new"})
    assert (tmp_path / "round").is_symlink()


@pytest.mark.parametrize("module", TWINS)
def test_a_write_protected_file_stays(tmp_path, module, monkeypatch):
    """A rename asks only the folder; whoever protects a file means the file."""
    (tmp_path / "kept").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root is asked about no mode
    with pytest.raises(OSError, match="write-protected"):
        module.write({tmp_path / "kept": b"new"})
    assert (tmp_path / "kept").read_bytes() == b"old"
