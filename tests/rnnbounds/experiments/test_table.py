"""The documentation's table of experiments, and what of it has to be true without running them.

``python tests/rnnbounds/experiments/test_table.py report`` writes it from the records in the
folders of `report`, as ``rnnbounds experiment --table report`` prints it.
"""

import sys
from pathlib import Path

import pytest

from rnnbounds import disk
from rnnbounds.experiments import HOMES, find_experiment
from rnnbounds.experiments.engine.page import VERDICTS
from rnnbounds.experiments.engine.summary import COLUMNS, markdown_table, read_records

DOCS = Path(__file__).parents[3] / "docs"
TABLE, PAGE = DOCS / "records" / "experiments.md", DOCS / "reference" / "experiments.md"


def rows(text):
    """The rows of the table, by experiment."""
    head, rule, *lines = text.splitlines()
    assert (head, set(rule)) == (f"| {' | '.join(COLUMNS)} |", set("| -"))
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip("`"): dict(zip(COLUMNS[1:], row[1:], strict=True)) for row in cells}


def test_every_experiment_has_a_row_or_a_reason():
    """What has no row is named beneath the table; `models` has one of its own."""
    beneath = PAGE.read_text(encoding="utf-8").split("`rnnbounds experiment NAME")[0]
    known = rows(TABLE.read_text(encoding="utf-8"))
    assert set(known) <= set(HOMES)
    assert all(f"`{name}`" in beneath for name in set(HOMES) - set(known))
    assert len(known) >= 14


@pytest.mark.parametrize("name", HOMES)
def test_rows_say_what_the_experiments_say(name):
    """The conclusion, what was found in few words, of at least three seeds; the command."""
    row, one = rows(TABLE.read_text(encoding="utf-8")).get(name), find_experiment(name)
    if row is None:
        return
    assert row["conclusion"] == one.conclusion
    assert row["here"] in VERDICTS
    assert int(row["seeds"]) >= 3
    assert row["again"].startswith(f"`rnnbounds experiment {name}")
    assert 50 < len(row["found"]) < 600


def write(folder):
    """The table of the records there, in place of the documentation's."""
    disk.write(
        {
            TABLE: "".join(
                f"{line}\n" for line in markdown_table(read_records([Path(folder)]))
            ).encode()
        }
    )


if __name__ == "__main__":
    write(sys.argv[1])
