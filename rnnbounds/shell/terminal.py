"""Output to the terminal: whole lines of printable characters, whatever their source.

Names of files, tensors and claims are chosen by others: none of them may end a line, move the
cursor or reverse the text. Imported before the rooms are known to be ours, so it uses none.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from traceback import walk_tb

from rnnbounds.errors import printable
from rnnbounds.shell.extras import MissingExtraError

LONGEST = 2_000  # characters of the one line; hostile input can be longer


def echo(text: object = "") -> None:
    """One line on standard output."""
    write(printable(text) + "\n")


def write(text: str) -> None:
    """Lines that are printable already. That nobody reads any more, as `head` does, is no failure:
    the verdict and its exit code stand."""
    if sys.stdout is not None:
        try:
            sys.stdout.write(text)
        except OSError as error:
            _stop_printing(error)


def flush() -> None:
    """Send what was printed, while a full disk can still be told."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError as error:
            _stop_printing(error)


def fail_with(message: str) -> int:
    """One line on standard error; exit code 2."""
    line = printable(" ".join(message.split()))
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    print_error(line)
    return 2


def print_error(line: str) -> None:
    """A line on standard error, if anybody reads it."""
    try:
        print(f"rnnbounds: {line}", file=sys.stderr, flush=True)
    except OSError:
        _discard_output(sys.stderr)


def reopen_streams() -> None:
    """Lead the standard streams that the caller closed nowhere. Else `print` takes standard output
    for standard error, and the first files that are opened get what a library writes to both."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it has the lowest number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115


def escape_unencodable() -> None:
    """Print characters that a stream's encoding lacks, as in the locale C, as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop_printing(error: OSError) -> None:
    """Print no more; raises the error unless it says that nobody reads."""
    _discard_output(sys.stdout)
    if error.errno != errno.EPIPE:
        raise OSError(error.errno, error.strerror, "standard output") from None


def _discard_output(stream: object) -> None:
    """Discard the text left in the buffer, so that the interpreter does not fail on it at exit."""
    if isinstance(stream, io.TextIOWrapper):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


PACKAGE_FOLDER = Path(__file__).parents[1]


def import_message(error: ImportError) -> str:
    """FILE, line N: what could not be imported; and the remedy. The file is the last of ours that
    is on the way to the error, unless none is."""
    if isinstance(error, MissingExtraError):
        return str(error)
    places = [
        f"{file}, line {line}: "
        for frame, line in walk_tb(error.__traceback__)
        if (file := Path(frame.f_code.co_filename)).is_relative_to(PACKAGE_FOLDER)
    ]
    place = places[-1] if places else ""
    return f"{place}{error}; correct that import, or install rnnbounds again, with what it needs"
