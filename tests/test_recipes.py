"""What the README says on adding a theorem, a quantity or an attack is true: its own examples are
carried out.

In a copy of the rooms, in a process of its own; the files that an example needs are counted.
"""

import json
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest

import theory

README = Path(__file__).parents[1] / "README.md"
HOUSE = Path(theory.__file__).parents[1]
ROOMS = ("theory", "impl", "properties", "reports", "rnnbounds")
NEEDED = {
    "growth": ("theory/claims/memory/growth.py",),
    "settling": ("theory/claims/memory/settling.py", "properties/measures/settling.py"),
}
ATTACK = "properties/attacks/reseeded.py"
# Commands in one process, on few systems.
DRIVER = """
import json
import sys
from dataclasses import replace
from properties.attacks.budget import PROFILES
from rnnbounds.cli import main

PROFILES["quick"] = replace(
    PROFILES["quick"], random=6, targeted=2, gradient=1, ascent=5, batch=6, sequences=2
)
for arguments in json.loads(sys.argv[1]):
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


def carried_out(house: Path, needed: tuple[str, ...], *commands: str) -> str:
    """What the commands print in a copy of the rooms with the examples, which touch those files."""
    for room in ROOMS:
        copytree(HOUSE / room, house / room, ignore=ignore_patterns("__pycache__"))
    before = contents(house)
    for file in needed:
        (house / file).write_text(files()[file])
    touched = {path for path, text in contents(house).items() if before.get(path) != text}
    assert touched == set(map(Path, needed))

    environment = {**os.environ, "PYTHONPATH": str(house), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-P", "-c", DRIVER, json.dumps([one.split() for one in commands])],
        cwd=house, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What the commands print with all examples, and the record of the run."""
    house = tmp_path_factory.mktemp("house")
    needed = (ATTACK, *chain.from_iterable(NEEDED.values()))
    out = carried_out(
        house, needed, *(f"prove {name}" for name in NEEDED),
        f"verify {' '.join(NEEDED)} -n 0 --out report", "claims --run report/run.json",
    )  # fmt: skip
    return out, json.loads((house / "report" / "run.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
def test_a_theorem(name: str, told: tuple[str, dict[str, Any]]) -> None:
    """One file, one more about a new quantity: found, proved, attacked, its variant convicted."""
    out, run = told
    assert any(line.startswith(f"{name} (") for line in out.splitlines())
    assert "all bounds hold" in out
    assert any(line.startswith(f"{name} ") for line in out.splitlines()[-len(NEEDED) :])

    (claim,) = (one for one in run["claims"] if one["id"] == name)
    (ledger,), (variant,), tally = claim["ledgers"], claim["variants"], claim["tally"]
    assert ledger["proved"]
    assert variant["convicted"]
    assert variant["ledger_fails"]
    assert tally["holds"] > 100
    assert not tally["violated"] + tally["undecided"]
    assert claim["attacks"]["gradient"]["checks"] > 0


@pytest.mark.slow
def test_an_attack(told: tuple[str, dict[str, Any]]) -> None:
    """One file: run by its name among the others, its share of the record told."""
    _, run = told
    assert run["attacks"][-1] == "reseeded"
    for claim in run["claims"]:
        assert claim["attacks"]["reseeded"]["checks"] > 0
        assert all(form["reached"]["reseeded"] for form in claim["forms"])


def test_every_recipe_is_carried_out() -> None:
    """None is left untried: those of a cell and of a kind of system are tested where those are."""
    elsewhere = {"impl/cells/kept.py", "properties/systems/rates.py"}
    assert set(files()) == elsewhere | {ATTACK, *chain.from_iterable(NEEDED.values())}
