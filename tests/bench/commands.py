"""The commands in units of CPU, their table, and the gate that compares it with the record.

A unit is the CPU time of Python's ``sum(i * i for i in range(20_000_000))`` on the same machine at
the same time. Every process of a command is waited for, so that all of its time is counted.
"""

import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import torch

RECORD = Path(__file__).parents[2] / "docs" / "records" / "bench-cpu.md"
PROGRAM = "from rnnbounds.cli import main; raise SystemExit(main())"
TOLERANCE = 0.25
REPEATS = 3
COMMANDS = {
    "help": "--help",
    "claims": "claims",
    "prove": "prove truncation",
    "certify": "certify small.pt --inputs 1",
    "measure": "measure large.pt --data speech.npy",
    "verify": "verify --profile quick --workers 0 --out run",
}


def unit() -> float:
    """Seconds of a unit now, from a twentieth of it."""
    start = process_time()
    sum(i * i for i in range(1_000_000))
    return 20 * (process_time() - start)


def units(command: str, folder: Path) -> float:
    """Units of CPU that a command takes in that folder, the median of three runs: of bytecode, as
    installed packages have it."""
    environment, readings = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}, []
    for _ in range(REPEATS):
        before, sample = resource.getrusage(resource.RUSAGE_CHILDREN), unit()
        call = [sys.executable, "-c", PROGRAM, *command.split()]
        ended = subprocess.run(
            call, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if ended.returncode > 1:  # 1 is an answer: a model that is not certified
            raise SystemExit(ended.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        readings.append(seconds / median([sample, unit(), unit()]))
    return median(readings)


def write_models(folder: Path) -> None:
    """An LSTM of 64 units, one of three layers of 256, and a minute of 40 speech features."""
    torch.manual_seed(0)
    torch.save(torch.nn.LSTM(40, 64).state_dict(), folder / "small.pt")
    torch.save(torch.nn.LSTM(40, 256, 3).state_dict(), folder / "large.pt")
    np.save(folder / "speech.npy", np.random.default_rng(0).normal(size=(6000, 40)))


def recorded(text: str) -> dict[str, float]:
    """Units by command of the record, whose rows are ``| `COMMAND` | UNITS |``."""
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, re.MULTILINE)
    return {name: float(value) for name, value in rows}


def measured() -> Iterator[tuple[str, float]]:
    """Each command with its units of CPU."""
    with TemporaryDirectory() as name:
        write_models(folder := Path(name))
        for command, call in COMMANDS.items():
            yield command, units(call, folder)


def table() -> None:
    """Print the units of all commands as the record has them."""
    print("| command | units of CPU |\n" + "| --- " * 2 + "|")
    for command, now in measured():
        print(f"| `{command}` | {now:.3g} |", flush=True)


def gate() -> int:
    """Print units now beside those of the record; 1 if one is more than a quarter from it, or is
    not recorded."""
    known, missed = recorded(RECORD.read_text(encoding="utf-8")), 0
    print("| command | units of CPU | recorded | |\n" + "| --- " * 4 + "|")
    for command, now in measured():
        then = known.get(command, float("nan"))
        met = abs(now - then) <= TOLERANCE * then
        missed += not met
        print(f"| `{command}` | {now:.3g} | {then:.3g} | {'met' if met else 'not met'} |")
    return int(missed > 0)
