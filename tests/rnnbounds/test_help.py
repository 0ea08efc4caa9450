"""Help, on terminals of several widths: nothing in it is cut."""

import re
import subprocess
import sys

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
    """Three lines on standard error, of which the last says where the rest is, and exit code 2:
    nothing was shown to hold."""
    outcome = call()
    assert (outcome.code, outcome.out) == (2, "")
    first, begin, documentation = outcome.err.splitlines()
    assert "recurrent" in first
    assert {"certify", "measure", "verify"} <= set(begin.split())
    assert "docs/index.md" in documentation


LIMITS = {"certify": 16, "measure": 14}


def test_counts(shown):
    """The list of commands and the helps of the two largest stay short; --all adds rare options."""
    assert len(COMMANDS) <= 14
    for command, most in LIMITS.items():
        assert len(re.findall(r"^  --(?!help)", shown(command, 120), re.MULTILINE)) <= most


def test_rare_options(call):
    """They are listed by --help --all alone."""
    for command, option in (("certify", "--direction"), ("measure", "--states")):
        assert option not in call(command, "--help").out.split()
        assert option in call(command, "--help", "--all").out.split()


CALLS = (
    ("certify", "--nope"), ("certify", "none.pt"), ("measure", "m.pt", "--data", "none.npy"),
    ("measure", "none.pt"), ("truncate", "--nope"), ("unitary", "--nope"),
)  # fmt: skip


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_wrong_calls_import_no_torch(words):
    """Unknown options, missing files and missing options are answered at once."""
    code = f"import sys; from rnnbounds.cli import main; print(main({list(words)!r}), *sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    code, *modules = told.stdout.split()
    assert code == "2"
    assert told.stderr.startswith("rnnbounds: ")
    assert "torch" not in modules


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
    """All of them, by family, and none beside the option."""
    options, _, cells = " ".join(shown(command, 80).split()).partition("Cells: ")
    assert not re.search(r"\brnn-relu\b|\bgru-cho\b", options)
    families, _, activations = cells.partition(". Several")[0].partition(": ")
    activations = activations.replace(" (of rnn it is linear)", "").split(", ")
    families = families.replace("and of each activation ", "").replace(" and ", ", ").split(", ")
    told = {
        family.replace("ACTIVATION", activation) for family in families
        for activation in (activations if "ACTIVATION" in family else [""])
    }  # fmt: skip
    assert told - {"rnn-identity"} == set(CELLS)
