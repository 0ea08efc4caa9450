"""The description of the house names folders that exist, and every folder that a room holds."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
ROOMS = ("theory", "impl", "properties", "reports", "rnnbounds")


def test_folders_exist():
    """In the text, in its table and in its pictures."""
    named = set(re.findall(r"\b(?:[a-z_]+/)+", TEXT))
    assert set(ROOMS) <= {name.rstrip("/") for name in named}
    assert [name for name in sorted(named) if not (ROOT / name).is_dir()] == []


def test_every_package_of_a_room_has_its_line():
    """Once each, in the table."""
    packages = {
        f"{path.parent.relative_to(ROOT)}/"
        for room in ROOMS
        for path in ROOT.glob(f"{room}/*/__init__.py")
        if not path.parent.is_symlink()
    }
    assert packages == set(re.findall(r"^\| `([a-z_/]+/)` \|", TEXT, re.MULTILINE))


def test_it_is_short():
    """A newcomer reads it in one go."""
    assert len(TEXT.splitlines()) <= 150
