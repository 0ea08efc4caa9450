"""The README says what the code says.

``python tests/test_readme.py report/run.json`` writes the table of claims anew, its tightness from
the record of a run.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from impl.cells import CELLS
from impl.truncate import truncate
from properties.parts import ledger_records
from reports import load
from reports.record import Run
from reports.text import ratio
from theory import CLAIMS
from theory.axioms import AXIOMS

README = Path(__file__).parents[1] / "README.md"
HEAD = (
    "| claim | statement | source | proof | tightest lhs/rhs, by | false variants |\n"
    "|---|---|---|---|---|---|\n"
)
START, END = "<!-- claims -->\n", "<!-- end of claims -->"
REACHED = re.compile(r"(\d.*), (random|targeted|gradient|extremal)|–")


def table(tightness: Mapping[str, str]) -> str:
    """The README's table of claims, from the claims themselves and what a run reached."""
    rows = [HEAD]
    for entry in CLAIMS:
        ledgers = ledger_records(entry, minimal=False)
        steps = sum(len(ledger.steps) for ledger in ledgers)
        prose = sum(len(ledger.human) for ledger in ledgers)
        proof = f"**not proved**, {prose} of {steps} steps in prose"
        if all(ledger.proved for ledger in ledgers):
            proof = f"proved, {steps} steps"
        cells = (
            f"`{entry.id}`", f"`{entry.statement.text}`", entry.source.text,
            proof, tightness[entry.id], str(len(entry.false_variants)),
        )  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |\n")
    return "".join(rows)


def tightness_of(run: Run) -> dict[str, str]:
    """The greatest lhs/rhs of each claim, and the first attack that reached it."""
    found = {}
    for entry in run.claims:
        reached = {name: attack.best_ratio for name, attack in entry.attacks.items()}
        by = [name for name in run.attacks if reached.get(name) == entry.best_ratio]
        found[entry.id] = f"{ratio(entry.best_ratio)}, {by[0]}" if entry.best_ratio else "–"
    return found


def written() -> dict[str, str]:
    """The tightness that the README states, by claim."""
    rows = README.read_text().split(START)[1].split(END)[0].removeprefix(HEAD).splitlines()
    cells = [row.strip("| ").split(" | ") for row in rows]
    return {cell[0].strip("`"): cell[-2] for cell in cells}


def test_table_of_claims() -> None:
    """The table is current, and states how tight each claim was seen to be."""
    tightness = written()
    assert all(REACHED.fullmatch(cell) for cell in tightness.values())
    assert README.read_text().split(START)[1].split(END)[0] == table(tightness)


def test_axioms() -> None:
    """The README counts the axioms right."""
    assert len({axiom.id for axiom in AXIOMS}) == 12
    assert "twelve textbook axioms" in README.read_text()


def test_the_example_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell that the README adds is read, certified, and truncated to within ε."""
    (source,) = (block for block in blocks("python") if "KEPT_KIND" in block)
    known: dict[str, Any] = {}
    exec(source, known)
    monkeypatch.setitem(CELLS, "kept", known["KEPT_KIND"])  # the line in impl/cells.py
    generator = torch.Generator().manual_seed(0)
    model = {"g": torch.tensor([-1.0, 0.0, 1.0]), "b": torch.ones(3)}
    model["W"] = torch.randn(3, 3, generator=generator) / 16
    model["U"] = torch.randn(3, 2, generator=generator)
    module, certificate = truncate(model, 1e-2, 1.0, cell="kept")
    assert certificate["verdict"] == "certified"
    x = torch.nn.functional.normalize(torch.randn(1, 200, 2, generator=generator), dim=2)
    whole = type(module)(dict(module.named_parameters()), cell="kept", k=200)
    with torch.no_grad():
        assert float((whole(x) - module(x)).norm(dim=2).max()) <= 1e-2


def blocks(language: str) -> list[str]:
    """The README's examples in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)


if __name__ == "__main__":
    head, rest = README.read_text().split(START)
    new = table(tightness_of(load(Path(sys.argv[1]))))
    README.write_text(head + START + new + END + rest.split(END)[1])
