"""A copy of the rooms, with files added, for what a new file alone must do."""

import shutil
import subprocess
import sys
from os import environ
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("theory", "impl", "properties", "reports", "rnnbounds")


def with_files(place: Path, files: dict[str, str], program: str) -> list[str]:
    """What a program prints, line by line, in rooms to which nothing but these files is added."""
    for room in ROOMS:
        shutil.copytree(ROOT / room, place / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files.items():
        assert not (place / name).exists()
        (place / name).write_text(text)
    run = subprocess.run(
        (sys.executable, "-c", program), env={**environ, "PYTHONPATH": str(place)},
        capture_output=True, text=True, check=False, cwd=place,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()
