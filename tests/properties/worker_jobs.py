"""Jobs of the tests' workers, importable by name in a fresh process."""

import os
import signal
from pathlib import Path

from rnnbounds.properties.errors import InputError, SpecError

KEPT: list[int] = []


def kept() -> list[int]:
    """State that a forked process inherits, and a fresh one does not."""
    return KEPT


def square(number: int) -> tuple[int, int]:
    """Capabilities of a worker."""
    return number * number, os.getpid()


def solver() -> int:
    """Which process decides what is asked of z3 here."""
    from rnnbounds.theory.kernel.solver.client import SOLVER

    SOLVER.ask("(assert true)")
    assert SOLVER._process is not None
    return SOLVER._process.pid


def die_once(marker: str, number: int) -> int:
    """End the process in the middle of the work, but for the second time."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return number
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def fail(kind: str) -> None:
    """Raise what does travel, what does not, and end without a word."""
    match kind:
        case "bug":
            raise KeyError(kind)
        case "input":
            raise InputError("one thing is wrong; do another")
        case "spec":
            raise SpecError("no")
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exits":
            os._exit(3)
