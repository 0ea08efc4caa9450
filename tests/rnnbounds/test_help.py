"""Help, on terminals of several widths: nothing in it is cut."""

import re

import pytest

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.shell.program import COMMANDS

EACH = (*COMMANDS, None)


@pytest.fixture
def shown(call, monkeypatch):
    """The help of a command, or of the program, in so many columns."""

    def told(command, columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        outcome = call(*[command] if command else [], "--help")
        assert (outcome.code, outcome.err) == (0, "")
        return outcome.out

    return told


def test_without_a_command(call):
    """The whole help on standard error, and exit code 2: nothing was shown to hold."""
    outcome = call()
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == call("--help").out


@pytest.mark.parametrize("command", EACH)
def test_lines_end_between_words(shown, command):
    """Within the terminal, as wide as it is; no name or option is broken, nothing is left out."""
    narrow, usual, wide = (shown(command, columns) for columns in (80, 120, 200))
    for text, columns in ((narrow, 80), (usual, 120), (wide, 200)):
        assert max(map(len, text.splitlines())) <= columns
        assert "..." not in text.partition("\n")[2]
        assert not re.search(r"-$", text, re.MULTILINE)
        assert "\N{NON-BREAKING HYPHEN}" not in text
        assert "list[" not in text
        assert text.split() == narrow.split()
    assert wide == narrow or max(map(len, wide.splitlines())) > 80


@pytest.mark.parametrize("command", ["certify", "measure", "truncate", "unitary"])
def test_cells_are_listed_at_the_end(shown, command):
    """Each of them once, by family, and none beside the option."""
    options, _, cells = shown(command, 80).partition("Cells: ")
    assert not re.search(r"\brnn-relu\b|\bgru-cho\b", options)
    words = cells.partition("Several layers")[0].replace(",", " ").split()
    assert sorted(words) == sorted(CELLS)
    assert "\n\n  leaky-identity, leaky-relu," in cells
