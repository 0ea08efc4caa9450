"""Parts of a long run: stored whole, found again, and refused where they are not their own."""

import pytest
import torch
from safetensors.torch import save_file

from rnnbounds.experiments.engine.parts import PartError, PartStore

HELD = {"W": torch.arange(6.0).reshape(2, 3), "step": torch.tensor([7])}


def test_a_part_comes_back(tmp_path):
    """Bit for bit; once the record is written all that is theirs is removed, and nothing else."""
    parts = PartStore(tmp_path, {"seed": 0})
    assert parts.load("a") is None
    assert not parts.has_parts
    for name in ("a", "b"):
        parts.save(name, HELD)
    found = PartStore(tmp_path, {"seed": 0}).load("a")
    assert all(torch.equal(found[name], part) for name, part in HELD.items())
    assert parts.has_parts
    parts.save("a~1", HELD)
    parts.drop_prefixed("a~")
    assert parts.load("a~1") is None
    (parts.folder / "mine").touch()
    parts.clear()
    assert [path.name for path in parts.folder.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-3], "damaged"),
        (lambda data: b"", "damaged"),
        (lambda data: b"\xff" * 64, "damaged"),
        (lambda data: data[:8] + bytes([data[8] ^ 1]) + data[9:], "damaged"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "damaged"),
    ],
    ids=["truncated", "empty", "bytes", "header", "bit"],
)
def test_damaged_parts_are_refused(tmp_path, change, words):
    """What is not to the last bit as it was written stops the run in one line, and stays."""
    parts = PartStore(tmp_path, {})
    parts.save("a", HELD)
    (path,) = parts.folder.iterdir()
    path.write_bytes(change(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(PartError, match=words) as caught:
        parts.load("a")
    assert str(caught.value).endswith("to start afresh, or write to another --out")
    assert path.read_bytes() == before


def test_parts_of_others_are_refused(tmp_path):
    """Of other settings, under another's name, and of another program."""
    parts = PartStore(tmp_path, {"seed": 0})
    parts.save("a", HELD)
    with pytest.raises(PartError, match=r"other settings; remove .*parts to start"):
        PartStore(tmp_path, {"seed": 1}).load("a")
    (parts.folder / "a.part").rename(parts.folder / "b.part")
    with pytest.raises(PartError, match="damaged"):
        parts.load("b")
    save_file({"W": torch.zeros(2)}, parts.folder / "c.part")
    with pytest.raises(PartError, match="is no part of a run"):
        parts.load("c")
