"""What the README says on adding a theorem or a quantity is true: its own examples are carried out.

In a copy of the rooms, in a process of its own; the files that an example needs are counted.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import theory

README = Path(__file__).parents[1] / "README.md"
HOUSE = Path(theory.__file__).parents[1]
ROOMS = ("theory", "impl", "properties", "reports", "rnnbounds")
NEEDED = {
    "growth": ("theory/claims/memory/growth.py",),
    "settling": ("theory/claims/memory/settling.py", "properties/measures/settling.py"),
}
# The commands of a recipe in one process, on few systems.
DRIVER = """
import sys
from dataclasses import replace
from properties.attacks.budget import PROFILES
from rnnbounds.cli import main

PROFILES["quick"] = replace(
    PROFILES["quick"], random=6, targeted=2, gradient=1, ascent=5, batch=6, sequences=2
)
name, out = sys.argv[1:]
for arguments in (
    ["prove", name],
    ["verify", name, "-n", "0", "--out", out],
    ["claims", "--run", out + "/run.json"],
):
    if code := main(arguments):
        sys.exit(code)
"""


def files() -> dict[str, str]:
    """The README's examples that name their file in their first line."""
    found = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", README.read_text(), re.DOTALL)
    return dict(found)


def contents(house: Path) -> dict[Path, bytes]:
    """Every module of the rooms."""
    return {path.relative_to(house): path.read_bytes() for path in house.rglob("*.py")}


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
def test_a_theorem(name: str, tmp_path: Path) -> None:
    """One file, one more about a new quantity: found, proved, attacked, its variant convicted."""
    for room in ROOMS:
        copytree(HOUSE / room, tmp_path / room, ignore=ignore_patterns("__pycache__"))
    before = contents(tmp_path)
    for file in NEEDED[name]:
        (tmp_path / file).write_text(files()[file])
    touched = {path for path, text in contents(tmp_path).items() if before.get(path) != text}
    assert touched == set(map(Path, NEEDED[name]))

    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-P", "-c", DRIVER, name, str(tmp_path / "report")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith(f"{name} (")
    assert "all bounds hold" in run.stdout
    assert run.stdout.splitlines()[-1].startswith(f"{name} ")

    (claim,) = json.loads((tmp_path / "report" / "run.json").read_text())["claims"]
    (ledger,), (variant,), tally = claim["ledgers"], claim["variants"], claim["tally"]
    assert ledger["proved"]
    assert variant["convicted"]
    assert variant["ledger_fails"]
    assert tally["holds"] > 100
    assert not tally["violated"] + tally["undecided"]
    assert claim["attacks"]["gradient"]["checks"] > 0


def test_every_recipe_is_carried_out() -> None:
    """No example of a claim or of a measure is left untried."""
    rooms = ("theory/", "properties/measures/")
    shown = {file for file in files() if file.startswith(rooms)}
    assert shown == {file for needed in NEEDED.values() for file in needed}
