"""Cost of whole processes: start-up time, time of the main job, and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rnnbounds.bench import naive
from rnnbounds.bench.clock import Clock, Timing
from rnnbounds.bench.row import Measured, against
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec

PROFILED = "truncation"
GIB = 2.0**30
IMPORT = ("-c", "import rnnbounds")
HELP = ("-c", "from rnnbounds.cli import main; main(['--help'])")
TORCH = ("-c", "import torch")


class Spent(NamedTuple):
    """CPU seconds of a process, and the most bytes that it held."""

    seconds: float
    bytes: float


def spent(*arguments: str) -> Spent:
    """Run Python with these arguments in a process; return its CPU seconds and peak bytes."""
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=one)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, child.args)
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def starting(code: tuple[str, ...], clock: Clock) -> Measured:
    """CPU seconds of a program, and of one that imports torch, one after the other."""
    pairs = [(spent(*code).seconds, spent(*TORCH).seconds) for _ in range(clock.repeats)]
    return against(Timing(tuple(zip(*pairs, strict=True))), (1, 1), 1e3)


@cache
def main_job() -> tuple[Spent, int]:
    """The quick profile of one claim in one process, and how many pairs it judged."""
    with tempfile.TemporaryDirectory() as folder:
        cost = spent(
            "-c", "import sys; from rnnbounds.cli import main; sys.exit(main())",
            "verify", PROFILED, "--profile", "quick", "-n", "0", "--out", folder,
        )  # fmt: skip
        record = json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))
    attacks = record["claims"][0]["attacks"].values()
    return cost, sum(attack["pairs"] for attack in attacks)


def drawn(count: int) -> list[SystemSpec]:
    """So many of the systems that the profile draws, one pair each."""
    found: list[SystemSpec] = []
    visit_random_specs("rnn", found.append, examples=count, batch=1, sequences=1, seed=0)
    return found


def quick(clock: Clock) -> Measured:
    """The main job, once, against the mean of what loops take on systems as it draws them."""
    systems = []
    for spec in drawn(4 * clock.repeats):
        batch = build_batch(spec)
        cell = batch.cell
        systems.append((cell.W[0], cell.U[0], cell.b[0], batch.x[0, :, :, 0], batch.K))
    each = clock.once(lambda: [naive.truncation_gaps(*one) for one in systems]) / len(systems)
    cost, pairs = main_job()
    told = f"{pairs} pairs in {cost.seconds:.0f} s, once"
    ours = 1e6 * cost.seconds / pairs
    ratio = 1e6 * each / ours
    return Measured(ours, 1e6 * each, ratio, (ratio, ratio), 1, told)


def memory(clock: Clock) -> Measured:
    """The most that the main job held."""
    held = main_job()[0].bytes
    return Measured(held / GIB, 2.0, held / GIB / 2, (held / GIB / 2, held / GIB / 2), 1)
