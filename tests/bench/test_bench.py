"""The bench: both sides do the same work, and what is read is told. No time is asked for here."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
import commands
import naive
from clock import Clock, Row, Seen, compare
from rows import CELLS, CUDA_ROWS, ROWS, draw_systems, one_pair, truncated_pair, truncation_gaps

from rnnbounds.cli import main
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.gradients.rounding import gradient_gap_error

HERE, QUICK = Path(__file__).parent, Clock(repeats=2, least=0.0)


def test_gaps() -> None:
    """Ours and the loops agree within the error bound of ours."""
    cell, x, C, y = draw_systems(2, 2, "cpu", n=4, T=7)
    squared = loss("squared", C, y)
    ours, error = (f(cell, x, 4, squared) for f in (gradient_gaps, gradient_gap_error))
    for i in range(2):
        pair = one_pair(cell, x, i, 1)
        gaps = torch.tensor(naive.truncation_gaps(*pair, 4), dtype=torch.float64)
        torch.testing.assert_close(truncation_gaps(cell, x, 4)[i, :, 1], gaps, rtol=0, atol=1e-13)
        slopes = torch.tensor(naive.gradient_gaps(*pair, C[i], y[i], 4), dtype=torch.float64)
        assert ((ours[i, 1] - slopes).abs() <= 2 * error[i, 1] + 1e-15).all()


@pytest.mark.parametrize("cell", CELLS)
def test_truncated_models(cell: str) -> None:
    """With fewer inputs than the window a truncated model is torch's module."""
    ours, other = truncated_pair(cell, 4, 2, 21, QUICK)
    torch.testing.assert_close(ours(), other(), rtol=0, atol=1e-6)


def test_ratios(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what each side does of the work; a row is met from what is asked on."""
    times = [(1.0, 2.0, 1.0), (10.0, 10.0, 30.0)]
    monkeypatch.setattr(Clock, "interleaved", lambda self, works: times)
    seen = compare(QUICK, lambda: 0, lambda: 0, (4, 2), 1e3)
    assert seen == Seen(250.0, 5000.0, 20.0, (10.0, 60.0))
    met = [Row("one", "", "", lambda clock: seen, asked).run(QUICK)["met"] for asked in (20, 21)]
    assert met == [True, False]
    assert len({row.name for row in (*ROWS, *CUDA_ROWS)}) == len(ROWS) + len(CUDA_ROWS)


def test_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """A line of Markdown and a record a row, exit 1 if it is missed; unknown rows are refused."""
    seen = Seen(2.0, 3.0, 1.5, (1.0, 2.0))
    program = runpy.run_path(str(HERE / "__main__.py"))["main"]
    row = Row("one", "some work", "ms", lambda clock: seen, 2)
    monkeypatch.setitem(program.__globals__, "ROWS", (row,))
    assert program(["--rows", "one", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("| one | some work ")
    (record,) = json.loads((tmp_path / "bench.json").read_text("utf-8"))
    assert (record["ratio"], record["met"]) == (1.5, False)
    with pytest.raises(SystemExit, match="2"):
        program(["--rows", "speed"])


def test_commands_of_models_have_their_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Without the models they miss these alone."""
    monkeypatch.chdir(tmp_path)
    for name in ("certify", "measure"):
        assert main(commands.COMMANDS[name].split()) == 2
        assert " does not exist; name a file" in capsys.readouterr().err


def test_the_record_is_read(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Rows of units stand among others, as the table has them; no command is recorded that is not
    measured."""
    monkeypatch.setattr(commands, "measured", lambda: iter([("help", 0.08), ("verify", 96.04)]))
    commands.table()
    assert commands.recorded(capsys.readouterr().out) == {"help": 0.08, "verify": 96.0}
    known = commands.recorded("| quick | work | 9 |\n| `help` | 0.08 |\n| `claims` | 12 |\n")
    assert known == {"help": 0.08, "claims": 12.0}
    assert commands.recorded(commands.RECORD.read_text("utf-8")).keys() <= commands.COMMANDS.keys()
