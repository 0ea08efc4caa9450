"""Help, on terminals of several widths: nothing in it is cut."""

import json
import re

import pytest

from rnnbounds.commands.models.options import DATA_SUFFIXES
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.reading.data.sequences import READERS
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


MODEL = ("rnn.pt", "--inputs", "1")


WRITERS = (
    "verify", "certify", "measure", "truncate", "unitary", "report", "compare", "experiment",
)  # fmt: skip


def test_out_is_a_folder_everywhere(shown):
    """Whatever a command writes goes there; no other option names a place for a page."""
    writers = {c: re.findall(r"^  --(?:out|page) (\S+)", shown(c, 120), re.M) for c in COMMANDS}
    assert {c: places for c, places in writers.items() if places} == {
        command: ["DIR"] for command in WRITERS
    }


CALLS = (
    *((command, "--nope") for command in COMMANDS),
    *((command,) for command in COMMANDS if command not in ("claims", "prove", "verify", "guard")),
    ("certify", "none.pt"), ("certify", "rnn.pt", "--data", "none.npy"),
    ("certify", "rnn.pt", "--inputs", "none.csv"), ("measure", "none.pt"), ("measure", "rnn.pt"),
    ("measure", "rnn.pt", "--data", "none.npy"), ("truncate", "none.pt"), ("truncate", *MODEL),
    ("unitary", "rnn.pt", "--out", "u.safetensors"), ("check", "none.safetensors"),
    ("check", "rnn.pt", "--source", "none.pt"), ("guard", "--config", "none.toml"),
    ("verify", "--baseline", "none.json"), ("verify", "--workers", "x"), ("replay", "{}"),
    ("report", "none.json", "--out", "page"), ("compare", "none.json", "none.json"),
    *(("certify", "rnn.pt", f"--inputs={B}") for B in ("nan", "-1", "inf", "1e999")),
    *(("certify", *MODEL, f"--eps={eps}") for eps in ("nan", "0", "-1", "inf", "x", "0%", "")),
    ("measure", "rnn.pt", "--data", "rnn.pt", "--eps=0"), ("truncate", *MODEL, "--eps=nan"),
    ("guard", "none"), ("guard", "--config", "rnn.pt"), ("guard", "--summary", "rnn.pt/s.md"),
    ("verify", "--summary", "rnn.pt/s.md"), ("compare", "rnn.pt", "rnn.pt"),
    ("report", "rnn.pt", "--out", "page"), ("claims", "--run", "rnn.pt"), ("attack", "rnn.pt"),
    ("claims", "--run", "none.json"), ("experiment", "none"), ("experiment", "urnn", "--set", "x"),
)  # fmt: skip
PROGRAM = """
import json, sys
from rnnbounds.cli import main
for words in json.loads(sys.argv[1]):
    print(main(words), *{"torch", "sympy", "rnnbounds.theory"} & set(sys.modules))
"""


def test_wrong_calls_import_no_torch(python, tmp_path):
    """Unknown options, missing files and missing options of every command are answered at once, in
    one line each: neither torch nor SymPy is imported for that."""
    (tmp_path / "rnn.pt").touch()
    told = python("-c", PROGRAM, json.dumps(CALLS))
    assert told.stdout.splitlines() == ["2"] * len(CALLS)
    errors = told.stderr.splitlines()
    assert len(errors) == len(CALLS)
    assert all(line.startswith("rnnbounds: ") for line in errors)


def test_recorded_inputs_are_known_by_their_suffix():
    """The options look for the files that the reader reads."""
    assert set(DATA_SUFFIXES) == set(READERS)


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
