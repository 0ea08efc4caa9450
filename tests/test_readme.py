"""The README says what the code says."""

from pathlib import Path

from properties.parts import ledger_records
from theory import CLAIMS
from theory.axioms import AXIOMS

README = Path(__file__).parents[1] / "README.md"
HEAD = "| claim | statement | source | proof | false variants |\n|---|---|---|---|---|\n"
START, END = "<!-- claims -->\n", "<!-- end of claims -->"


def table() -> str:
    """The README's table of claims, from the claims themselves."""
    rows = [HEAD]
    for entry in CLAIMS:
        steps = sum(len(ledger.steps) for ledger in ledger_records(entry))
        proof = f"proved, {steps} steps"
        cells = (f"`{entry.id}`", f"`{entry.statement.text}`", entry.source.text, proof)
        rows.append(f"| {' | '.join(cells)} | {len(entry.false_variants)} |\n")
    return "".join(rows)


def test_table_of_claims() -> None:
    """The table is current; ``python tests/test_readme.py`` writes it anew."""
    text = README.read_text()
    assert text.split(START)[1].split(END)[0] == table()


def test_axioms() -> None:
    """The README counts the axioms right."""
    assert len({axiom.id for axiom in AXIOMS}) == 11
    assert "eleven textbook axioms" in README.read_text()


if __name__ == "__main__":
    head, rest = README.read_text().split(START)
    README.write_text(head + START + table() + END + rest.split(END)[1])
