"""Time limit of one proof step: beyond it the step is not proved, with a message.

Sizes are bounded where formulas grow; the time limit is for what no bound on sizes foresees.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

from rnnbounds.theory.errors import InputError, MachineError
from rnnbounds.theory.proof.methods import Gap

CPU_SECONDS = 60.0  # of this process's CPU time: what the solver's process takes has its own limit
REPEAT_SECONDS = 1.0


class _OutOfTimeError(BaseException):
    """No Exception, so that nothing on the way takes it for a formula that it cannot treat."""


@contextmanager
def time_limit() -> Iterator[None]:
    """Raises Gap where what is done within takes too much time, is nested too deeply, or has no
    value.

    Time is bounded in the main thread, which alone hears of signals.
    """
    try:
        with _cpu_alarm():
            yield
    except _OutOfTimeError:
        raise Gap(f"out of time: more than {CPU_SECONDS:g} s of CPU time") from None
    except RecursionError:
        raise Gap("the formulas are nested too deeply") from None
    except MachineError:
        raise
    except InputError as error:  # of what has no value, and of what no method can treat
        raise Gap(str(error)) from error


@contextmanager
def _cpu_alarm() -> Iterator[None]:
    if sys.platform == "win32" or current_thread() is not main_thread():
        yield
        return
    previous_handler = signal.signal(signal.SIGPROF, _raise_timeout)
    seconds_left, _ = signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, REPEAT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, seconds_left, REPEAT_SECONDS)
        signal.signal(signal.SIGPROF, previous_handler)


def _raise_timeout(number: int, frame: FrameType | None) -> None:
    raise _OutOfTimeError
