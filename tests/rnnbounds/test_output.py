"""What the commands print, and where they may write."""

import io
import json
import re
import sys

import pytest
from rich.console import Console

from rnnbounds.cli import main
from rnnbounds.reports.files import WriteError
from rnnbounds.shell import output
from rnnbounds.shell.output import (
    print_json,
    print_table,
    require_folder,
    show_progress,
    show_status,
    time_left,
)
from rnnbounds.theory import CLAIMS


class TerminalStream(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        """Always."""
        return True


def test_one_json_document(capsys):
    """Indented, in UTF-8, and nothing else."""
    print_json({"λ": 0.5, "stable": None})
    told = capsys.readouterr().out
    assert "λ" in told
    assert json.loads(told) == {"λ": 0.5, "stable": None}


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
        (
            40,
            ["claim one-long-name",
             "  statement  words that wrap",
             "  ratio      0.7310585786300049",
             "claim two",
             "  statement  -",
             "  ratio      1"],
        ),
        (
            8,
            ["claim one-long-name",
             "  statement  words that wrap",
             "  ratio      0.7310585786300049",
             "claim two",
             "  statement  -",
             "  ratio      1"],
        ),
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


def test_each_part_may_have_a_line(capsys):
    """Where it is asked for, with the time that the others will take if they take as long."""
    times = iter((0.0, 2.0, 3.0))
    with show_progress(3, "attacking", lambda: next(times), pause=0.0) as advance:
        advance("one")
        advance("two")
    assert capsys.readouterr().err.splitlines() == [
        "rnnbounds: attacking: 1 of 3, one, some 4 s left",
        "rnnbounds: attacking: 2 of 3, two, some 2 s left",
    ]


def test_progress_shows_on_a_terminal(monkeypatch):
    """The bar goes where the terminal is, standard error, and names the part."""
    stream = io.StringIO()

    def console(**kwargs):
        assert kwargs == {"stderr": True}
        return Console(file=stream, force_terminal=True, width=120)

    monkeypatch.setattr("rich.console.Console", console)
    with show_progress(2, "attacking") as advance:
        advance("truncation/random")
    assert "truncation/random" in stream.getvalue()


def test_waiting_shows_on_a_terminal_alone(monkeypatch, capsys):
    """A line on standard error there, gone when it is done; elsewhere nothing."""
    with show_status("certifying"):
        pass
    assert capsys.readouterr() == ("", "")

    stream = TerminalStream()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(output.sys, "stderr", stream)
    with show_status("certifying 256 states"):
        pass
    assert "certifying 256 states" in stream.getvalue()


def test_waiting_says_how_much_is_left(monkeypatch, capsys):
    """By the share that is done and a clock; elsewhere than on a terminal nothing."""

    class Line:
        def __init__(self):
            self.texts = []

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.texts.append("gone")

        def update(self, text):
            self.texts.append(text)

    line, times = Line(), iter((0.0, 10.0, 20.0, 50.0))
    monkeypatch.setattr("rich.console.Console.status", lambda self, title: line)
    monkeypatch.setattr(output.sys, "stderr", TerminalStream())
    with show_status("windows\x1b[2J", lambda: next(times)) as report:
        for done in (1, 20, 50):
            report(done, 50)
    assert line.texts == [
        "windows\\x1b[2J: 1 of 50, about 8 min left",
        "windows\\x1b[2J: 20 of 50, about 30 s left",
        "windows\\x1b[2J: 50 of 50",
        "gone",
    ]
    monkeypatch.setattr(output.sys, "stderr", io.StringIO())
    with show_status("windows", lambda: next(times)) as report:
        report(1, 50)
    assert (line.texts[-1], output.sys.stderr.getvalue()) == ("gone", "")
    assert capsys.readouterr() == ("", "")


def test_no_time_is_left_before_the_first_part_and_after_the_last():
    """There nothing is known, or nothing is left; a second is the least."""
    assert [time_left(done, 10, 5.0) for done in (0, 9, 10)] == ["", ", about 1 s left", ""]


def test_a_folder_is_checked_without_being_made(tmp_path):
    """A folder that could be made is fine and is not made."""
    wanted = tmp_path / "a" / "b"
    assert require_folder(wanted) == wanted
    assert require_folder(tmp_path) == tmp_path
    assert not (tmp_path / "a").exists()


def test_a_file_is_no_folder(tmp_path, monkeypatch):
    """A file, something below a file, and a folder that is not writable are refused."""
    file = tmp_path / "file"
    file.touch()
    for place in (file, file / "below"):
        with pytest.raises(WriteError, match="is a file; choose another place"):
            require_folder(place)
    monkeypatch.setattr(output.os, "access", lambda *_: False)
    with pytest.raises(WriteError, match="is not writable; choose another place"):
        require_folder(tmp_path)


def test_a_relative_folder_is_looked_for_here(tmp_path, monkeypatch):
    """Relative paths start in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(WriteError):
        require_folder(output.Path("file/below"))
    assert require_folder(output.Path("below"))
