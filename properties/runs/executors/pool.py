"""A pool of worker processes, which end with this process, however it ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from typing import Any

from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging import meter
from rnnbounds.properties.runs.executors.executor import (
    Affinity,
    Call,
    Executor,
    InProcess,
    TaskQueue,
    no_affinity,
)
from rnnbounds.properties.runs.executors.processes import (
    EXIT_SIGNALS,
    block_signals,
    call_outcome,
    end_with_parent,
    is_single_threaded,
    limit_library_threads,
)


class WorkerError(InputError):
    """A worker process ended without an answer."""

    def __init__(self, code: int | None) -> None:
        how = f"with exit code {code}"
        if code is not None and code < 0:
            how = f"by signal {-code}"
        super().__init__(
            f"a worker process was ended {how}; take fewer --workers if memory is short"
        )


@contextmanager
def local_executor(workers: int, fork: bool = True) -> Iterator[Executor]:
    """This process for fewer than two workers, else a pool, killed if an error or a signal leaves
    the block.

    fork: False where a fork cannot use a driver that this process has loaded (CUDA).
    """
    if workers < 2:
        yield InProcess()
        return
    pool = WorkerPool(workers, fork)
    try:
        yield pool
        pool.close()
    finally:
        pool.kill()


class WorkerPool:
    """Processes forked from this one where that is safe, with all that it has imported and cached;
    else fresh ones, started when there are more calls than processes."""

    def __init__(self, workers: int, fork: bool = True) -> None:
        self.workers = workers
        self._processes: dict[Connection, BaseProcess] = {}
        limit_library_threads()
        if fork and is_single_threaded():
            self._start(workers, get_context("fork"))

    def _start(self, count: int, context: Any) -> None:
        with block_signals():
            for _ in range(count):
                parent_end, child_end = context.Pipe()
                process = context.Process(
                    target=_serve_calls,
                    args=(child_end, os.getpid(), meter.new_counter()),
                    daemon=True,
                )
                process.start()
                child_end.close()
                self._processes[parent_end] = process

    def map_calls(
        self, work: Callable[..., Any], calls: Sequence[Call], affinity: Affinity = no_affinity
    ) -> Generator[Any, None, None]:
        """As `Executor.map_calls`. Raises WorkerError if a process dies. Leaving the iteration
        before its end kills the processes; a later call starts fresh ones."""
        queue, last_affinity, busy = (
            TaskQueue(calls, affinity),
            dict[Connection, Hashable](),
            set[Connection](),
        )
        if (missing := min(self.workers, len(calls)) - len(self._processes)) > 0:
            if sys.platform != "win32":
                ensure_running()  # fresh processes need it, and its start unblocks signals
            self._start(missing, get_context("spawn"))

        def send_next(connection: Connection) -> None:
            others = {last_affinity[other] for other in busy}
            if taken := queue.take_call(last_affinity.get(connection), others):
                last_affinity[connection], call = taken
                busy.add(connection)
                with suppress(OSError):  # it has ended: that is its answer
                    connection.send((work, call))

        try:
            for connection in self._processes:
                send_next(connection)
            while busy:
                ready = wait(busy)
                for connection in [other for other in self._processes if other in ready]:
                    answer = _answer(connection, self._processes[connection])
                    busy.remove(connection)
                    send_next(connection)
                    yield answer
        finally:
            if busy:
                self.kill()

    def close(self) -> None:
        """Let idle processes end by themselves."""
        for connection in self._processes:
            with suppress(OSError):
                connection.send(None)
        for process in self._processes.values():
            process.join()

    def kill(self) -> None:
        """End all processes at once."""
        for process in self._processes.values():
            process.kill()
        while self._processes:
            connection, process = self._processes.popitem()
            process.join()
            connection.close()


def _answer(connection: Connection, process: BaseProcess) -> Any:
    try:
        error, answer = connection.recv()
    except (EOFError, OSError):
        process.join()
        raise WorkerError(process.exitcode) from None
    if error is not None:
        raise error
    return answer


def _serve_calls(connection: Connection, parent: int, count: Any) -> None:
    """Do the calls that come by the connection, until it is closed or None comes."""
    signal.set_wakeup_fd(-1)  # a fork has its parent's
    end_with_parent(parent)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, EXIT_SIGNALS)
    meter.use_counter(count)
    with suppress(EOFError, OSError):
        while request := connection.recv():
            connection.send(call_outcome(*request))
