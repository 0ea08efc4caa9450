"""What a command costs here and at another commit, both sides interleaved: `tox -e against`.

    python tests/against.py REV [--repeats N] -- COMMAND…

as in ``python tests/against.py HEAD~20 -- verify --profile quick``. Prints the CPU time of each
call, user and system, workers included, and the ratio of the medians. Of `verify` it compares the
records too: exit 1 if a claim has fewer pairs here than there, or a call here fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "import sys; from rnnbounds.cli import main; sys.exit(main(sys.argv[1:]))"


class Spent(NamedTuple):
    """One call: its exit code and its CPU seconds."""

    code: int
    seconds: float


def checked_out(revision: str, folder: Path) -> Path:
    """The files of a commit, in a folder."""
    archive = subprocess.run(
        ["git", "archive", revision], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def spend(home: Path, command: Sequence[str]) -> Spent:
    """Call the program of a checkout."""
    before = getrusage(RUSAGE_CHILDREN)
    told = os.environ | {"PYTHONPATH": str(home), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command], cwd=home, env=told, check=False,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    after = getrusage(RUSAGE_CHILDREN)
    return Spent(
        done.returncode, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    )


def pairs(record: Path) -> dict[str, int]:
    """How many pairs of each claim were judged."""
    return {claim["id"]: claim["pairs"] for claim in json.loads(record.read_bytes())["claims"]}


def fewer(here: dict[str, int], there: dict[str, int]) -> list[str]:
    """The claims with fewer pairs here, one line each."""
    return [
        f"{claim}: {here.get(claim, 0):,} pairs, {count:,} there"
        for claim, count in there.items()
        if here.get(claim, 0) < count
    ]


def main(arguments: Sequence[str]) -> int:
    """Run both sides, and say which is dearer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("revision", help="the other commit")
    parser.add_argument("--repeats", type=int, default=1, help="calls of each side")
    parser.add_argument("command", nargs="+", help="what to call, after --")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="against-") as temporary:
        folder = Path(temporary)
        homes = {"here": ROOT, "there": checked_out(asked.revision, folder / "there")}
        spent: dict[str, list[Spent]] = {"here": [], "there": []}
        for turn in range(asked.repeats):
            for side, home in homes.items():
                kept = folder / f"{side}-record"
                more = ["--out", str(kept)] if asked.command[0] == "verify" else []
                spent[side].append(spend(home, [*asked.command, *more]))
                told = spent[side][-1]
                print(f"{turn + 1} {side:5} {told.seconds:8.1f} s of CPU, exit code {told.code}")
        here, there = (median(one.seconds for one in spent[side]) for side in ("here", "there"))
        print(f"here {here:.1f} s, there {there:.1f} s: a ratio of {here / there:.3f}")
        failed = any(one.code for one in spent["here"])
        records = [folder / f"{side}-record" / "run.json" for side in ("here", "there")]
        if asked.command[0] == "verify":
            lost = fewer(*map(pairs, records))
            print("\n".join(lost) or "at least as many pairs of every claim")
            failed = failed or bool(lost)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
