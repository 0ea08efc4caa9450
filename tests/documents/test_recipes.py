"""What the documentation says on adding a theorem, a quantity or a cell is true: its own examples
are carried out.

In one copy of the rooms, by a process of its own; the files that an example needs are counted.
"""

import json
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import rnnbounds

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("guides/bounds.md", "guides/cell.md")
HOUSE = Path(rnnbounds.__file__).parent
NEEDED = {
    "growth": ("theory/claims/memory/growth.py",),
    "settling": ("theory/claims/memory/settling.py",),
}
CELL = "impl/cells/kept.py"
AFTER = "-- what follows --"
# All in one process, which imports the rooms once: commands on few systems, and programs.
DRIVER = """
import json
import sys
from dataclasses import replace
from rnnbounds.properties.attacks.budget import PROFILES
from rnnbounds.cli import main

commands, after, programs = json.loads(sys.argv[1])
usual = PROFILES["quick"]
PROFILES["quick"] = replace(
    usual, random=6, targeted=2, gradient=1, ascent=5, batch=6, sequences=2
)
for arguments in commands:
    if code := main(arguments):
        sys.exit(code)
PROFILES["quick"] = usual
for program in programs:
    print(after)
    exec(program, {})
"""
OF_A_CELL = """
import torch
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import FAMILIES
from rnnbounds.theory import claim

model = {"g": torch.tensor([-1.0, 0.0, 1.0]), "b": torch.ones(3), "U": torch.ones(3, 2)}
model["W"] = torch.eye(3) / 16
print(certify(model, inputs=1.0, cell="kept").verdict)
print(truncate(model, inputs=1.0, eps=1e-2, cell="kept")[1]["verdict"])
specs = []
visit_random_specs("kept", specs.append, examples=3, batch=2, sequences=1, seed=0, family="cell")
chosen, evidence = [claim("truncation"), claim("vanishing-gradient")], {}
for one in chosen:
    form = one.form("box")
    evidence[one.id] = {"box": Evidence.empty(one, form)}
    for batch in map(build_batch, specs):
        evidence[one.id]["box"].add_batch(batch, judge(form.statement, form.assumptions, batch))
    tally = evidence[one.id]["box"].tally
    print(tally.holds > 0, tally.violated, tally.undecided)
print("kept" in FAMILIES["cell"].members)
"""


def files() -> dict[str, str]:
    """The examples that name their file in their first line."""
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
    found = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", text, re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the rooms, with what was compiled of them, to which each example adds its files."""
    house = tmp_path_factory.mktemp("house")
    copytree(HOUSE, house / "rnnbounds")
    for file, text in files().items():
        assert not (house / "rnnbounds" / file).exists()
        (house / "rnnbounds" / file).write_text(text)
    return house


@pytest.fixture(scope="module")
def printed(house: Path) -> list[str]:
    """What the commands print with all examples, and then the program about a cell."""
    commands = [f"prove {name}" for name in NEEDED]
    commands.append(f"verify {' '.join(NEEDED)} -n 0 --out report")
    commands.append("claims --run report/run.json")
    asked = [one.split() for one in commands], AFTER, [OF_A_CELL]
    environment = {**os.environ, "PYTHONPATH": str(house), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-P", "-c", DRIVER, json.dumps(asked)],
        cwd=house, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.split(f"{AFTER}\n")


@pytest.fixture(scope="module")
def run(house: Path, printed: list[str]) -> dict[str, Any]:
    """The record of the run."""
    return json.loads((house / "report" / "run.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
def test_a_theorem(name: str, printed: list[str], run: dict[str, Any]) -> None:
    """One file, with a new quantity or without: found, proved, attacked, its variant convicted."""
    out = printed[0]
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
def test_a_cell(printed: list[str]) -> None:
    """One file: certified, truncated, drawn, attacked by claims about any cell."""
    assert printed[1].splitlines() == [
        "certified", "certified", "True 0 0", "True 0 0", "True",
    ]  # fmt: skip


def test_every_recipe_is_carried_out() -> None:
    """None is left untried, and each fits on a page of 120 lines."""
    assert all(len(text.splitlines()) <= 120 for text in files().values())
    assert set(files()) == {CELL, *chain.from_iterable(NEEDED.values())}
