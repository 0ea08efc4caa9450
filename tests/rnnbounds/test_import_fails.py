"""What goes wrong while a command is loaded is one line too: exit 2, no traceback."""

import pytest

PROGRAM = "import sys; {before}; from rnnbounds.cli import main; sys.exit(main())"
TWICE = "from impl.cells.gated import gru, lstm; gru.GRU_KIND = lstm.LSTM_KIND"
ABSENT = "sys.modules['z3'] = None"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "what"),
    [
        (TWICE, "two cells are named 'lstm'; give one of them another name"),
        (ABSENT, "install rnnbounds again, with what it needs"),
    ],
)
def test_one_line(python, before, what):
    """Two cells of one name, of which one would be read for the other; a package that is gone."""
    result = python("-c", PROGRAM.format(before=before), "claims", "--now")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("rnnbounds: ")
    assert result.stderr.endswith(f"{what}\n")
    assert result.stderr.count("\n") == 1
