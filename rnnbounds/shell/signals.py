"""SIGINT and SIGTERM end the program and its workers within two seconds, with one line.

The signal is raised in the main thread, so that what is open is closed on the way out; a thread
waits beside it, for a main thread that is deep in a library and does not come back.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread, current_thread, main_thread
from types import FrameType

from rnnbounds.shell.terminal import flush, print_error

GRACE_SECONDS = 1.0  # that the main thread has for leaving
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class EndedError(BaseException):
    """A signal asks the program to end; no Exception, so that nothing catches it on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class ExitMessage:
    """The one line, and the exit code that shells give to a signal: 130, 143."""

    def __init__(self) -> None:
        self._lock, self._said = Lock(), False

    def __call__(self, number: int) -> int:
        """The exit code; the line is said once."""
        with self._lock:
            if not self._said:
                print_error(f"ended by {signal.Signals(number).name}; run it again")
            self._said = True
        return 128 + number


def run_guarded(program: Callable[[], int]) -> int:
    """The program's exit code, or that of the signal that ended it."""
    farewell = ExitMessage()
    if current_thread() is not main_thread():  # which alone hears of signals
        return program()
    if sys.platform != "win32":
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        Thread(target=_force_end, args=(reader, farewell), daemon=True).start()
    sys.unraisablehook = _unraisable
    for number in ENDING_SIGNALS:
        signal.signal(number, _raise_ended)
    try:
        code = program()
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # what is done is not ended any more
        return code
    except EndedError as ended:
        for note in getattr(ended, "__notes__", ()):  # what was known by then
            print_error(note)
        code = farewell(ended.number)
        with suppress(OSError):
            flush()
        os._exit(code)  # libraries that were left in the middle of a call do not tidy up quietly


def _raise_ended(number: int, frame: FrameType | None) -> None:
    for signal_number in ENDING_SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)  # once is enough
    raise EndedError(number)


def _unraisable(arguments: sys.UnraisableHookArgs) -> None:
    """A signal that comes while a finaliser runs is lost on the main thread; the other one ends."""
    if not isinstance(arguments.exc_value, EndedError):
        sys.__unraisablehook__(arguments)


def _force_end(reader: int, farewell: ExitMessage) -> None:
    """Wait for a signal, then a little for the main thread, then end."""
    number = -1
    while number not in ENDING_SIGNALS:
        number = os.read(reader, 1)[0]
    Event().wait(GRACE_SECONDS)
    if "multiprocessing" in sys.modules:  # else there are none; slow to import
        from multiprocessing import active_children

        for worker in active_children():
            worker.kill()
    if sys.stderr is not None and sys.stderr.isatty():
        print("\x1b[?25h", end="", file=sys.stderr)  # the cursor, which a bar may have hidden
    os._exit(farewell(number))
