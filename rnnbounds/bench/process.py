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
from rnnbounds.bench.row import RowMeasurement, speed_ratio
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec

PROFILED = "truncation"
GIB = 2.0**30
IMPORT = ("-c", "import rnnbounds")
HELP = ("-c", "from rnnbounds.cli import main; main(['--help'])")
TORCH = ("-c", "import torch")


class ProcessCost(NamedTuple):
    """CPU seconds of a process, and the most bytes that it held."""

    seconds: float
    bytes: float


def run_python(*arguments: str) -> ProcessCost:
    """Run Python with these arguments in a process; return its CPU seconds and peak bytes."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    child = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, child.args)
    unit = 1 if sys.platform == "darwin" else 1024
    return ProcessCost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def startup_cost(code: tuple[str, ...], clock: Clock) -> RowMeasurement:
    """CPU seconds of a program, and of one that imports torch, one after the other."""
    pairs = [(run_python(*code).seconds, run_python(*TORCH).seconds) for _ in range(clock.repeats)]
    return speed_ratio(Timing(tuple(zip(*pairs, strict=True))), (1, 1), 1e3)


@cache
def run_main_job() -> tuple[ProcessCost, int]:
    """The quick profile of one claim in one process, and how many pairs it judged."""
    with tempfile.TemporaryDirectory() as folder:
        cost = run_python(
            "-c", "import sys; from rnnbounds.cli import main; sys.exit(main())",
            "verify", PROFILED, "--profile", "quick", "-n", "0", "--out", folder,
        )  # fmt: skip
        record = json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))
    attacks = record["claims"][0]["attacks"].values()
    return cost, sum(attack["pairs"] for attack in attacks)


def draw_specs(count: int) -> list[SystemSpec]:
    """So many of the systems that the profile draws, one pair each."""
    specs: list[SystemSpec] = []
    visit_random_specs("rnn", specs.append, examples=count, batch=1, sequences=1, seed=0)
    return specs


def quick_profile(clock: Clock) -> RowMeasurement:
    """The main job, once, against the mean of what loops take on systems as it draws them."""
    systems = []
    for spec in draw_specs(4 * clock.repeats):
        batch = build_batch(spec)
        cell = batch.cell
        systems.append((cell.W[0], cell.U[0], cell.b[0], batch.x[0, :, :, 0], batch.K))
    loop_seconds = clock.time_once(
        lambda: [naive.truncation_gaps(*system) for system in systems]
    ) / len(systems)
    cost, pairs = run_main_job()
    note = f"{pairs} pairs in {cost.seconds:.0f} s, once"
    per_pair = 1e6 * cost.seconds / pairs
    ratio = 1e6 * loop_seconds / per_pair
    return RowMeasurement(per_pair, 1e6 * loop_seconds, ratio, (ratio, ratio), 1, note)


def peak_memory(clock: Clock) -> RowMeasurement:
    """The most that the main job held."""
    peak = run_main_job()[0].bytes
    return RowMeasurement(peak / GIB, 2.0, peak / GIB / 2, (peak / GIB / 2, peak / GIB / 2), 1)
