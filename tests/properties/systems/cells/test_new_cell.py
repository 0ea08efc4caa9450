"""A new cell is one file: the rooms are copied, the README's example is put there, nothing else."""

import re
from pathlib import Path

import pytest
from rooms import ROOT, with_files

PROGRAM = """
import torch
from impl.certificate.certify import certify
from impl.convert.truncate import truncate
from properties.attacks.search import random_specs
from properties.judging.evidence import Evidence
from properties.judging.judge import judge
from properties.runs.matrix import matrix
from properties.systems.batch import build
from properties.systems.table import FAMILIES
from theory import claim

model = {"g": torch.tensor([-1.0, 0.0, 1.0]), "b": torch.ones(3), "U": torch.ones(3, 2)}
model["W"] = torch.eye(3) / 16
print(certify(model, 1.0, cell="kept").verdict)
print(truncate(model, 1e-2, 1.0, cell="kept")[1]["verdict"])
specs = []
random_specs("kept", specs.append, examples=3, batch=2, sequences=1, seed=0, family="cell")
chosen, evidence = [claim("truncation"), claim("vanishing-gradient")], {}
for one in chosen:
    form = one.form("box")
    evidence[one.id] = {"box": Evidence.of(one, form)}
    for batch in map(build, specs):
        evidence[one.id]["box"].add(batch, judge(form.statement, form.assumptions, batch))
    tally = evidence[one.id]["box"].cells["kept"].tally
    print(tally.holds > 0, tally.violated, tally.undecided)
seen = {e.column: e.standing for e in matrix(chosen, evidence, {}).entries}
print("kept" in FAMILIES["cell"].members, seen["kept"])
"""


def example() -> str:
    """The cell that the README adds."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (found,) = (block for block in blocks if "class Kept" in block)
    return str(found)


@pytest.mark.slow
def test_a_cell_is_one_file(tmp_path: Path) -> None:
    """It is certified, truncated, drawn, attacked by claims about any cell, and has a column."""
    assert with_files(tmp_path, {"impl/cells/kept.py": example()}, PROGRAM) == [
        "certified", "certified", "True 0 0", "True 0 0", "True NOT PROVED",
    ]  # fmt: skip
