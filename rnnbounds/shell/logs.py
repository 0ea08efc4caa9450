"""The log of a command: what the library notes under the logger `rnnbounds`, on standard error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rnnbounds.shell.terminal import printable, tell

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)  # without -v, with -v, with -vv


class Lines(logging.Handler):
    """Each message is a printable line on standard error, as the program's other messages are."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it."""
        tell(printable(record.getMessage()))


@contextmanager
def logged() -> Iterator[None]:
    """While the block runs, warnings of the library are lines on standard error."""
    logger, handler = logging.getLogger("rnnbounds"), Lines()
    before = logger.level
    logger.addHandler(handler)
    verbosity(0)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def verbosity(count: int) -> None:
    """Set what is logged: warnings, with 1 what is done as well, with 2 and more each detail."""
    logging.getLogger("rnnbounds").setLevel(LEVELS[min(count, len(LEVELS) - 1)])
