"""Jobs of the tests' workers, importable by name in a fresh process."""

import os
import signal

from rnnbounds.properties.errors import InputError, SpecError


def square(number: int) -> tuple[int, int]:
    """Capabilities of a worker."""
    return number * number, os.getpid()


def drawn() -> list[str]:
    """Specs that a random search draws here, whatever modules are loaded."""
    from rnnbounds.properties.attacks.search import visit_random_specs

    found: list[str] = []
    visit_random_specs(
        "rnn", lambda spec: found.append(spec.text), examples=15, batch=4, sequences=2, seed=1
    )
    return found


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
