"""Processes that share work, and end with the one that asked for it, however that ends."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from pathlib import Path
from threading import Thread
from typing import Any

from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging import meter
from rnnbounds.properties.runs.queue import Call, Kin, Queue
from rnnbounds.properties.runs.threads import one_each

PR_SET_PDEATHSIG = 1  # of Linux's prctl
ENDING = (signal.SIGINT, signal.SIGTERM)
THREADS = Path("/proc/self/task")


class WorkerError(InputError):
    """A process that ended without an answer."""

    def __init__(self, code: int | None) -> None:
        how = f"with exit code {code}"
        if code is not None and code < 0:
            how = f"by signal {-code}"
        super().__init__(
            f"a worker process was ended {how}; take fewer --workers if memory is short"
        )


class Crew:
    """Processes of this machine: images of this one where that is safe, which begin with all that
    it has imported and kept, and are there at once; else fresh ones, started when there is work for
    more than there are."""

    def __init__(self, workers: int, image: bool = True) -> None:
        """``image``: whether they may be images, which the driver of a device does not survive."""
        self.workers = workers
        self._crew: dict[Connection, BaseProcess] = {}
        one_each()
        if image and alone():
            self._begin(workers, get_context("fork"))

    def _begin(self, count: int, context: Any) -> None:
        with deaf():
            for _ in range(count):
                here, there = context.Pipe()
                process = context.Process(
                    target=_serve, args=(there, os.getpid(), meter.another()), daemon=True
                )
                process.start()
                there.close()
                self._crew[here] = process

    def each(
        self, work: Callable[..., Any], calls: Sequence[Call], kin: Kin = lambda call: None
    ) -> Generator[Any, None, None]:
        """`work(*call)` of all calls, as they are done; those of one kin by one process, as far as
        none is idle for it.

        What `work` raises is raised here; raises WorkerError if a process dies. All are killed
        where the iteration is left before its end.
        """
        left, at, busy = Queue(calls, kin), dict[Connection, Hashable](), set[Connection]()
        if (fresh := min(self.workers, len(calls)) - len(self._crew)) > 0:
            if sys.platform != "win32":
                ensure_running()  # fresh processes need it, and its start lets signals in again
            self._begin(fresh, get_context("spawn"))

        def ask(connection: Connection) -> None:
            others = {at[one] for one in busy}
            if found := left.take(at.get(connection), others):
                at[connection], call = found
                busy.add(connection)
                with suppress(OSError):  # it has ended: that is its answer
                    connection.send((work, call))

        try:
            for connection in self._crew:
                ask(connection)
            while busy:
                ready = wait(busy)
                for connection in [one for one in self._crew if one in ready]:
                    answer = _answer(connection, self._crew[connection])
                    busy.remove(connection)
                    ask(connection)
                    yield answer
        finally:
            if busy:
                self.end()

    def leave(self) -> None:
        """Let them end by themselves: none of them is at work."""
        for connection in self._crew:
            with suppress(OSError):
                connection.send(None)
        for process in self._crew.values():
            process.join()

    def end(self) -> None:
        """Kill them."""
        for process in self._crew.values():
            process.kill()
        while self._crew:
            connection, process = self._crew.popitem()
            process.join()
            connection.close()


@contextmanager
def hired(workers: int, image: bool = True) -> Iterator[Crew]:
    """A crew, which is killed when it is left by an error or a signal."""
    crew = Crew(workers, image)
    try:
        yield crew
        crew.leave()
    finally:
        crew.end()


def each(
    work: Callable[..., Any], calls: Sequence[Call], workers: int
) -> Generator[Any, None, None]:
    """`work(*call)` of all calls by a crew of so many, as `Crew.each` has it."""
    with hired(min(workers, len(calls))) as crew:
        yield from crew.each(work, calls)


def alone() -> bool:
    """Whether nothing else runs in this process: an image has what other threads hold, and not
    them. Linux alone tells of all threads, a library's own among them."""
    try:
        return sys.platform == "linux" and len([*THREADS.iterdir()]) == 1
    except OSError:  # a jail, in which nobody tells
        return False


@contextmanager
def deaf() -> Iterator[None]:
    """Signals wait meanwhile, and in processes that are started until they say otherwise."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
    """Do what the connection says, until it says no more."""
    signal.set_wakeup_fd(-1)  # an image has its parent's
    end_with(parent)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    meter.write_to(count)
    with suppress(EOFError, OSError):
        while asked := connection.recv():
            connection.send(outcome(*asked))


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
