"""Jobs of the tests' workers, importable by name in a fresh process."""

import os
import signal

from rnnbounds.properties.errors import InputError, SpecError


def square(number: int) -> tuple[int, int]:
    """Capabilities of a worker."""
    return number * number, os.getpid()


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
