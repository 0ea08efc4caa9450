"""The README says what the code says.

``python tests/test_readme.py report/run.json`` writes the table of claims anew, there and in the
record that the package carries, from the record of a run.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

from impl.cells import CELLS
from impl.truncate import truncate
from reports import load
from reports.table import CARRIED, Row, carried, encode_table, table_of
from theory.axioms import AXIOMS

README = Path(__file__).parents[1] / "README.md"
HEAD = (
    "| claim | statement | source | proof | tightest lhs/rhs, by | false variants |\n"
    "|---|---|---|---|---|---|\n"
)
START, END = "<!-- claims -->\n", "<!-- end of claims -->"


def table(claims: Iterable[Row]) -> str:
    """The README's table of claims, from the record that the package carries."""
    rows = [HEAD]
    for row in claims:
        proof = f"**not proved**, {len(row.proof.human)} of {row.proof.steps} steps in prose"
        if row.proof.proved:
            proof = f"proved, {row.proof.steps} steps"
        cells = (
            f"`{row.id}`", f"`{row.statement}`", row.source,
            proof, row.reached, str(len(row.false_variants)),
        )  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |\n")
    return "".join(rows)


def test_table_of_claims() -> None:
    """The table is that of the record, which tests/test_claims_record.py keeps current."""
    assert README.read_text().split(START)[1].split(END)[0] == table(carried().claims)


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
    found = table_of(load(Path(sys.argv[1])))
    CARRIED.write_bytes(encode_table(found))
    README.write_text(head + START + table(found.claims) + END + rest.split(END)[1])
