"""The script for a CUDA device: its time, and that one step does not keep another from running."""

import json
import runpy
import sys
from pathlib import Path

GPU = runpy.run_path(str(Path(__file__).with_name("gpu.py")))


def test_time(tmp_path: Path) -> None:
    """Twelve minutes for all."""
    assert sum(step.limit for step in GPU["steps"](tmp_path)) <= 12 * 60


def test_each_step_is_run(tmp_path: Path) -> None:
    """After one that fails, and one that runs out of time."""
    python, Step = (sys.executable, "-c"), GPU["Step"]
    found = GPU["run_steps"]([
        Step("fails", (*python, "print('seen'); raise SystemExit(3)"), 60),
        Step("waits", (*python, "import threading; threading.Event().wait()"), 1),
        Step("works", (*python, ""), 60),
    ], tmp_path / "new")  # fmt: skip
    assert [result["code"] for result in found.values()] == [3, GPU["OUT_OF_TIME"], 0]
    assert (tmp_path / "new" / "fails.txt").read_text() == "seen\n"
    assert json.loads((tmp_path / "new" / "seconds.json").read_text()) == found
    assert GPU["main"]([]) == 2
