"""Executors of a run's parts: processes of this machine, or the workers of a Dask scheduler.

Both are `concurrent.futures.Executor`s. A part is the same wherever it is done, so that a record
does not depend on their number, nor on a worker that is lost: Dask does its parts again.
"""

from __future__ import annotations

import logging
import os
import pickle
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, as_completed
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import active_children, get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.versions import describe_difference, fingerprint

Call = tuple[Any, ...]
EXIT_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# How many threads libraries of linear algebra may start.
THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PRELOADED = "rnnbounds.properties.runs.parts"  # imported once for all processes
TIMEOUT_SECONDS = 30  # for a scheduler to answer, and for a first worker to come
ADDRESS = re.compile(r"((tcp|ws)://)?([^\s:/\[\]]+|\[[0-9a-fA-F:]+\]):[1-9]\d{0,4}")


class WorkerError(InputError):
    """Workers, or their scheduler, that do not do what is asked of them."""


def limit_library_threads() -> None:
    """Let libraries that are loaded later start no threads, here and in processes started here:
    workers with as many threads each as there are cores would slow one another down."""
    os.environ |= dict.fromkeys(THREAD_COUNTS, "1")


def begin_processes(workers: int) -> None:
    """Let the processes of `local_executor` be made ready while this one is still at its imports:
    these take as long there as here."""
    if workers > 1:
        limit_library_threads()
        _fresh_processes()


@contextmanager
def local_executor(workers: int) -> Iterator[Executor | None]:
    """None, which is this process, for fewer than two workers, else a pool of processes; these are
    killed if an error or a signal leaves the block, and end with this process, however it ends."""
    if workers < 2:
        yield None
        return
    limit_library_threads()
    others = active_children()
    pool = ProcessPoolExecutor(workers, _fresh_processes(), _begin_worker)
    try:
        yield pool
    except BaseException:
        for process in active_children():
            if process not in others:
                process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _fresh_processes() -> Any:
    """How processes are started: forked from one that has imported the code and nothing else, where
    there is such a server. It is begun with SIGINT and SIGTERM blocked, and its forks so too: a
    terminal's Ctrl-C is left to this process."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    from multiprocessing import forkserver, resource_tracker

    context = get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    resource_tracker.ensure_running()  # its start unblocks signals
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, EXIT_SIGNALS)
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return context


def _begin_worker() -> None:
    """Leave SIGINT to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, EXIT_SIGNALS)
    Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    process = parent_process()
    assert process is not None
    wait([process.sentinel])
    os._exit(1)


@contextmanager
def cluster_executor(address: str) -> Iterator[tuple[Executor, int]]:
    """The workers of the Dask scheduler at an address, and how many there are now.

    Raises:
        WorkerError: Dask is not installed, nobody answers there, or there is no worker.
    """
    if not ADDRESS.fullmatch(address):  # a Client of what is none would be one of this machine
        raise WorkerError(
            f"{address!r} is no scheduler's address; give the one that dask scheduler prints, "
            "such as tcp://127.0.0.1:8786"
        )
    distributed = import_dask()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions, which are checked here
        try:
            client = distributed.Client(address, timeout=TIMEOUT_SECONDS, set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            raise WorkerError(
                f"no Dask scheduler answers at {address} ({error}); start one with: dask scheduler"
            ) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=TIMEOUT_SECONDS)
            except TimeoutError:
                raise WorkerError(
                    f"no worker is at the scheduler at {address}; start some there with: "
                    f"dask worker {address} --nthreads 1"
                ) from None
            executor = client.get_executor(pure=False)
            try:
                yield executor, len(client.nthreads())
            finally:
                with suppress(distributed.client.ClosedClientError):  # nobody is left to be told
                    executor.shutdown(wait=False)


def import_dask() -> Any:
    """Dask's package, which says nothing by itself; raises WorkerError without it."""
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise WorkerError(
            "a cluster needs Dask; install it with: pip install 'rnnbounds[cluster]'"
        ) from None
    for name in ("asyncio", *logging.root.manager.loggerDict):  # each has a level of its own
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return distributed


def answers(
    executor: Executor | None, work: Callable[..., Any], calls: Iterable[Call]
) -> Iterator[Any]:
    """`work(*call)` of each call, in the order in which they end; in this process without an
    executor. An error of `work` is raised with its type and message.

    Raises:
        WorkerError: a worker ends, cannot do a part, or the scheduler is lost.
    """
    if executor is None:
        for call in calls:
            yield work(*call)
        return
    for error, answer in _outcomes(executor, work, calls):
        if error is not None:
            raise error
        yield answer


def _outcomes(executor: Executor, work: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
    try:
        futures = [executor.submit(outcome, fingerprint(), work, call) for call in calls]
        for future in as_completed(futures):
            yield future.result()
    except Exception as failure:
        raise WorkerError(failure_text(failure)) from None


def failure_text(failure: BaseException) -> str:
    """Why a call came to no outcome, and the remedy."""
    if isinstance(failure, BrokenExecutor) or type(failure).__name__ == "KilledWorker":
        return "a worker process was ended in a part; take fewer --workers, or give it more memory"
    if isinstance(failure, CancelledError) or type(failure).__name__ == "ClosedClientError":
        return "the scheduler was lost; start it and run again"
    return (
        f"a worker cannot do parts of this run ({failure}); install the packages of this machine "
        "there, and start it again"
    )


def outcome(
    versions: dict[str, str], work: Callable[..., Any], call: Call
) -> tuple[Exception | None, Any]:
    """(None, answer) of a call on a worker, or (error, None)."""
    try:
        if why := unfit_reason(versions):
            raise WorkerError(f"a worker {why}")
        return None, work(*call)
    except Exception as error:
        return portable_error(error), None


def unfit_reason(versions: dict[str, str]) -> str:
    """Why this process cannot take part in a run of these versions, and the remedy; empty if it
    can. The precision of ball arithmetic is a process's own: a worker does one part at a time."""
    if difference := describe_difference(versions, fingerprint()):
        return f"has {difference}; install the packages of this machine there, and start it again"
    if "distributed" in sys.modules:
        # Dask's own threads do, in the same process; Hypothesis draws from a generator of its own.
        warnings.filterwarnings("ignore", "Do not use the `random` module inside strategies")
        with suppress(ValueError):  # of a process that is none of Dask's
            if (threads := sys.modules["distributed"].get_worker().state.nthreads) != 1:
                return f"does {threads} parts at a time; start several workers with --nthreads 1"
    return ""


def portable_error(error: Exception) -> Exception:
    """The error if pickling keeps its type and message, else an InputError or RuntimeError that
    says the same."""
    with suppress(Exception):
        copy = pickle.loads(pickle.dumps(error))
        if (type(copy), str(copy)) == (type(error), str(error)):
            return error
    if isinstance(error, ValueError):
        return InputError(str(error))
    return RuntimeError(traceback.format_exc())
