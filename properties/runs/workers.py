"""Fresh processes that share work, and end with the one that asked for it, however that ends."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from properties.errors import InputError
from properties.judging import meter

PR_SET_PDEATHSIG = 1  # of Linux's prctl
# What libraries of linear algebra ask how many threads they may start: as many processes each
# starting as many as there are cores would get in one another's way.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Call = tuple[Any, ...]


class WorkerError(InputError):
    """A process that ended without an answer."""

    def __init__(self, code: int | None) -> None:
        how = f"with exit code {code}"
        if code is not None and code < 0:
            how = f"by signal {-code}"
        super().__init__(
            f"a worker process was ended {how}; take fewer --workers if memory is short"
        )


def each(
    work: Callable[..., Any], calls: Sequence[Call], workers: int
) -> Generator[Any, None, None]:
    """`work(*call)` of all calls, as they are done, by so many processes.

    They are killed when the iteration is left, by an error or a signal. What `work` raises is
    raised here; raises WorkerError if a process dies.
    """
    left, crew = list(reversed(calls)), dict[Connection, BaseProcess]()
    try:
        for _ in range(min(workers, len(calls))):
            connection, process = _started()
            crew[connection] = process
            connection.send((work, left.pop()))
        while crew:
            ready = wait(list(crew))
            for connection in [one for one in crew if one in ready]:
                answer = _answer(connection, crew[connection])
                if left:
                    connection.send((work, left.pop()))
                else:
                    connection.close()
                    crew.pop(connection).join()
                yield answer
    finally:
        for process in crew.values():
            process.kill()
        for process in crew.values():
            process.join()


def _started() -> tuple[Connection, BaseProcess]:
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(
        target=_serve, args=(there, os.getpid(), meter.another()), daemon=True
    )
    os.environ |= dict.fromkeys(THREADS, "1")
    process.start()
    there.close()
    return here, process


def _answer(connection: Connection, process: BaseProcess) -> Any:
    try:
        error, answer = connection.recv()
    except (EOFError, OSError):
        process.join()
        raise WorkerError(process.exitcode) from None
    if error is not None:
        raise error
    return answer


def _serve(connection: Connection, parent: int, count: Any) -> None:
    """Do what the connection says, until it is closed."""
    end_with(parent)
    meter.write_to(count)
    while True:
        try:
            work, call = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(outcome(work, call))


def outcome(work: Callable[..., Any], call: Call) -> tuple[Exception | None, Any]:
    """The answer or the error of one call, as it can travel."""
    try:
        return None, work(*call)
    except Exception as error:
        return _portable(error), None


def _portable(error: Exception) -> Exception:
    """The error as it can travel: one that is made from other things than its message cannot."""
    with suppress(Exception):
        found = pickle.loads(pickle.dumps(error))
        if (type(found), str(found)) == (type(error), str(error)):
            return error
    if isinstance(error, ValueError):
        return InputError(str(error))
    return RuntimeError(traceback.format_exc())


def end_with(parent: int) -> None:
    """Let this process end with its parent: killed by Linux, even in the middle of a library; else
    by itself. Ctrl-C is for the parent, which ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    process = parent_process()
    assert process is not None
    wait([process.sentinel])
    os._exit(1)
