"""The README's table of experiments, and what of it has to be true without running them.

``python tests/rnnbounds/experiments/test_table.py report`` writes it from the records in the
folders of `report`, as ``rnnbounds experiment --table report`` prints it.
"""

import sys
from pathlib import Path

import pytest

from reports import disk
from rnnbounds.experiments import HOMES, find_experiment
from rnnbounds.experiments.engine.page import LEADS
from rnnbounds.experiments.engine.summary import COLUMNS, markdown, read

README = Path(__file__).parents[3] / "README.md"
START, END = "<!-- experiments -->\n", "<!-- end of experiments -->"


def rows(text):
    """The rows between the marks, by experiment."""
    head, rule, *lines = text.split(START)[1].split(END)[0].splitlines()
    assert (head, set(rule)) == (f"| {' | '.join(COLUMNS)} |", set("| -"))
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip("`"): dict(zip(COLUMNS[1:], row[1:], strict=True)) for row in cells}


def test_every_experiment_has_a_row_or_a_reason():
    """What has no row is named beneath the table; `models` has one of its own."""
    text = README.read_text()
    beneath = text.split(END)[1].split("`rnnbounds experiment NAME")[0]
    known = rows(text)
    assert set(known) <= set(HOMES)
    assert all(f"`{name}`" in beneath for name in set(HOMES) - set(known))
    assert len(known) >= 14


@pytest.mark.parametrize("name", HOMES)
def test_rows_say_what_the_experiments_say(name):
    """The conclusion, what was found in few words, of at least three seeds; the command."""
    row, one = rows(README.read_text()).get(name), find_experiment(name)
    if row is None:
        return
    assert row["conclusion"] == one.conclusion
    assert row["here"] in LEADS
    assert int(row["seeds"]) >= 3
    assert row["again"].startswith(f"`rnnbounds experiment {name}")
    assert 50 < len(row["found"]) < 600


def write(folder):
    """The table of the records there, in place of the README's."""
    table = "".join(f"{line}\n" for line in markdown(read([Path(folder)])))
    head, rest = README.read_bytes().decode().split(START)
    disk.write({README: (head + START + table + END + rest.split(END)[1]).encode()})


if __name__ == "__main__":
    write(sys.argv[1])
