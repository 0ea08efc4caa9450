"""All checks that need a CUDA device, in twelve minutes at most: python tests/gpu.py FOLDER.

Tests marked `gpu`, the rows of tests/bench that compare with cuDNN and with loops, and a campaign.
Each step has a limit of its own; one that fails or runs out of time does not keep the next from
running. FOLDER has tests.txt, bench.txt, bench-CELL.txt, campaign/, and seconds.json with all exit
codes.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BOUNDS = (sys.executable, "-c", "from rnnbounds.cli import main; raise SystemExit(main())")
CELLS = ("rnn-tanh", "rnn-relu", "lstm", "gru")
ROWS: dict[str, tuple[str, int]] = {  # of one call of the bench, and the seconds that it has
    "bench": ("truncation,gradient,campaign", 90),
    **{f"bench-{cell}": (f"serve-{cell}", 75) for cell in CELLS},
}
OUT_OF_TIME = 124


class Step(NamedTuple):
    """A command, the seconds that it may take, and the file that its output goes to."""

    name: str
    command: tuple[str, ...]
    limit: int


def steps(folder: Path) -> list[Step]:
    """What is run, in this order."""
    pytest = (sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir",
              str(ROOT), str(ROOT / "tests"), "-m", "gpu", "-q", "--durations", "20")  # fmt: skip
    bench = (sys.executable, str(ROOT / "tests" / "bench"), "--device", "cuda", "--repeats", "5")
    verify = ("verify", "truncation", "--attacks", "random", "--device", "cuda", "--out")
    return [
        Step("tests", pytest, 170),
        *(Step(name, (*bench, "--rows", rows), limit) for name, (rows, limit) in ROWS.items()),
        Step("campaign", (*BOUNDS, *verify, str(folder / "campaign")), 120),
    ]


def run_steps(chosen: Sequence[Step], folder: Path) -> dict[str, dict[str, float]]:
    """Run the steps, each with its output in a file; exit codes and seconds by name."""
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for step in chosen:
        start = monotonic()
        with (folder / f"{step.name}.txt").open("wb") as output:
            try:
                code = subprocess.run(
                    step.command, stdout=output, stderr=subprocess.STDOUT, timeout=step.limit,
                    check=False,
                ).returncode  # fmt: skip
            except subprocess.TimeoutExpired:
                code = OUT_OF_TIME
        results[step.name] = {"code": code, "seconds": round(monotonic() - start, 1)}
        print(step.name, results[step.name], flush=True)
    (folder / "seconds.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results


def main(arguments: Sequence[str]) -> int:
    """Run all steps; exit 1 if one fails, 2 for a wrong call."""
    if len(arguments) != 1:
        print("usage: python tests/gpu.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).absolute()
    return int(any(result["code"] for result in run_steps(steps(folder), folder).values()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
