"""What the commands print, and where they may write."""

import re
import sys

import pytest

from rnnbounds.cli import main
from rnnbounds.shell import output
from rnnbounds.shell.output import print_table, show_progress
from rnnbounds.theory import CLAIMS


def test_a_table_is_neither_cut_nor_interpreted(capsys):
    """Long cells stay on one line, and square brackets and colons are no markup."""
    long = "x" * 500
    print_table(("a", "b"), [("[red]:smile:[/red]", long), (1, None)])
    header, first, second = capsys.readouterr().out.splitlines()
    assert header.split() == ["a", "b"]
    assert first.split() == ["[red]:smile:[/red]", long]
    assert second.split() == ["1", "None"]


@pytest.fixture
def terminal(capsys, monkeypatch):
    """A terminal of so many columns: what was printed since, without escapes."""

    def told(columns, print_it):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        print_it()
        out = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
        return [line.rstrip() for line in out.splitlines()]

    return told


ENTRIES = [
    "claim one-long-name",
    "  statement  words that wrap",
    "  ratio      0.7310585786300049",
    "claim two",
    "  statement  -",
    "  ratio      1",
]
ROWS = [("one-long-name", "words that wrap", "0.7310585786300049"), ("two", "-", "1")]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            80,
            ["claim          statement        ratio",
             "one-long-name  words that wrap  0.7310585786300049",
             "two            -                1"],
        ),
        (
            45,
            ["claim          statement   ratio",
             "one-long-name  words that  0.7310585786300049",
             "               wrap",
             "two            -           1"],
        ),
        *((columns, ENTRIES) for columns in (40, 8)),
    ],
)  # fmt: skip
def test_a_terminal_cuts_no_name_and_no_number(terminal, columns, expected):
    """Columns wrap between words; where the longest words have no room, rows are entries."""
    heads = ("claim", "statement", "ratio")
    assert terminal(columns, lambda: print_table(heads, ROWS)) == expected


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_claims_on_a_terminal(terminal, columns):
    """Each id whole, and no line too long for the terminal."""
    told = terminal(columns, lambda: main(["claims"]))
    ids = [claim.id for claim in CLAIMS]
    words = {word for line in told for word in line.split()[:2]}
    assert {*ids} <= words
    assert not re.search(r"\w…", "\n".join(told))  # a formula has one between signs
    assert max(map(len, told)) <= columns


def test_progress_without_a_terminal(capsys, monkeypatch):
    """A line on standard error for each pause that has gone by, however many parts end in it."""
    monkeypatch.setattr(output, "PAUSE", 10.0)
    times = iter((0.0, 1.0, 9.0, 10.0, 19.0, 33.0))
    with show_progress(5, "attacking", lambda: next(times)) as advance:
        for label in ("one", "two", "three\x1b[2J", "four", "five"):
            advance(label)
    assert capsys.readouterr() == (
        "",
        "rnnbounds: attacking: 3 of 5, three\\x1b[2J, some 7 s left\n"
        "rnnbounds: attacking: 5 of 5, five, some 0 s left\n",
    )
