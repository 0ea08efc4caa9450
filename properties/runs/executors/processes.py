"""Worker processes: when they can be forked, how they start and end, how their errors travel."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import parent_process
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import Any

from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.executors.executor import Call

PR_SET_PDEATHSIG = 1  # of Linux's prctl
EXIT_SIGNALS = (signal.SIGINT, signal.SIGTERM)
THREAD_DIRECTORY = Path("/proc/self/task")
# How many threads libraries of linear algebra may start.
THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def limit_library_threads() -> None:
    """Let libraries that are loaded later start no threads, here and in processes started here:
    workers with as many threads each as there are cores would slow one another down."""
    os.environ |= dict.fromkeys(THREAD_COUNTS, "1")


def is_single_threaded() -> bool:
    """True if this process has one thread, those of libraries included, so that a fork of it holds
    no lock of another thread. Only Linux lists all threads."""
    try:
        return sys.platform == "linux" and len([*THREAD_DIRECTORY.iterdir()]) == 1
    except OSError:  # a container without /proc
        return False


@contextmanager
def block_signals() -> Iterator[None]:
    """Block SIGINT and SIGTERM, also in processes started meanwhile until they unblock them."""
    if sys.platform == "win32":
        yield
        return
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, EXIT_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)


def end_with_parent(parent: int) -> None:
    """Let this process end with its parent: killed by Linux, even inside a library; elsewhere by a
    thread that watches. SIGINT, which a terminal sends to all processes, is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    process = parent_process()
    assert process is not None
    wait([process.sentinel])
    os._exit(1)


def call_outcome(work: Callable[..., Any], call: Call) -> tuple[Exception | None, Any]:
    """(None, answer) of a call, or (error, None) with an error that can be pickled."""
    try:
        return None, work(*call)
    except Exception as error:
        return _picklable_error(error), None


def _picklable_error(error: Exception) -> Exception:
    """The error if pickling keeps its type and message, else an InputError or RuntimeError that
    says the same."""
    with suppress(Exception):
        copy = pickle.loads(pickle.dumps(error))
        if (type(copy), str(copy)) == (type(error), str(error)):
            return error
    if isinstance(error, ValueError):
        return InputError(str(error))
    return RuntimeError(traceback.format_exc())
