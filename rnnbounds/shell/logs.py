"""The log of a command: what the library notes under the logger `rnnbounds`, on standard error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rnnbounds.shell.terminal import print_error, printable

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)  # without -v, with -v, with -vv


class LineHandler(logging.Handler):
    """Each message is a printable line on standard error, as the program's other messages are."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it."""
        print_error(printable(record.getMessage()))


@contextmanager
def log_to_stderr() -> Iterator[None]:
    """While the block runs, warnings of the library are lines on standard error."""
    logger, handler = logging.getLogger("rnnbounds"), LineHandler()
    before = logger.level
    logger.addHandler(handler)
    set_verbosity(0)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def set_verbosity(count: int) -> None:
    """Set what is logged: warnings, with 1 what is done as well, with 2 and more each detail."""
    logging.getLogger("rnnbounds").setLevel(LEVELS[min(count, len(LEVELS) - 1)])
