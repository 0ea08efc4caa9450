"""Machines that share work: the workers of a Dask scheduler, for the time of one run.

Dask does again what a lost worker had begun, and a part is the same wherever it is done: the
answers are those that one process would give. A worker does one part at a time, since the precision
of ball arithmetic is its process's own; one that is not of the same code is refused.
"""

from __future__ import annotations

import logging
import os
import pickle
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from typing import Any
from uuid import uuid4

from properties.errors import InputError
from properties.judging import meter
from properties.runs.queue import Call, Kin
from properties.runs.versions import difference, fingerprint
from properties.runs.workers import end_with, outcome

LOCAL = "local"
PATIENCE = 30  # seconds for a scheduler to answer, and for a worker to come where none is
WINDOW = 10_000  # calls that the scheduler knows of at once: it keeps some kilobytes of each
# Ctrl-C leaves Dask's semaphores to the process that multiprocessing has for that, and tells.
LEFT = "ignore:resource_tracker:UserWarning"
SCHEMES = ("tcp", "ws")  # those that need nothing but an address
EXTRA = "pip install 'rnnbounds[cluster]'"


class ClusterError(InputError):
    """A cluster that does not do what is asked of it."""


class Cluster:
    """The workers that were there when the run began, and those that come while it lasts."""

    def __init__(self, address: str, client: Any) -> None:
        self.address, self._client = address, client

    @property
    def workers(self) -> int:
        """How many there are now."""
        return len(self._client.nthreads())

    def check(self) -> None:
        """Raise ClusterError unless a worker is there, and every one is fit for this run."""
        self._wait(
            f"no worker has come to the scheduler at {self.address}; start some there with: "
            f"dask worker {self.address} --nthreads 1"
        )
        found = self._client.run(unfit, fingerprint(), on_error="return")
        for worker, why in found.items():
            if isinstance(why, Exception):
                raise self._lacking(why)
            if why:
                raise ClusterError(f"the worker {worker} {why}")

    def _wait(self, told: str) -> None:
        """Raise ClusterError, so told, if no worker is there and none comes."""
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise ClusterError(told) from None
        except OSError:  # the scheduler hung up on the question
            raise self._failed("lost", None) from None

    def each(
        self, work: Callable[..., Any], calls: Iterable[Call], kin: Kin | None = None
    ) -> Generator[Any, None, None]:
        """`work(*call)` of all calls, as they are done, whatever their kin is: the scheduler says
        where; what `work` raises is raised here.

        Calls that are not begun when the iteration is left are not begun any more. Raises
        ClusterError if a call ends the workers that do it, or all workers or the scheduler are
        lost.
        """
        run, left = uuid4().hex, enumerate(calls)

        def submit(count: int) -> list[Any]:
            return [
                self._client.submit(
                    done, fingerprint(), pickle.dumps((work, call)), key=f"rnnbounds-{run}-{i}"
                )
                for i, call in islice(left, count)
            ]

        answers = _distributed().as_completed(
            submit(WINDOW), loop=self._client.loop, with_results=True, raise_errors=False
        )
        try:
            for future, answer in self._patiently(answers):
                if future.status != "finished":
                    raise self._failed(future.status, answer)
                future.release()
                answers.update(submit(1))
                error, found, checks = answer
                meter.made(checks)
                if error is not None:
                    raise error
                yield found
        finally:
            for future in list(answers.futures):
                future.release()

    def _patiently(self, answers: Any) -> Iterator[tuple[Any, Any]]:
        """The answers, as long as a worker is there to give them, or comes in time."""
        while not answers.is_empty():
            with answers.thread_condition:
                come = answers.thread_condition.wait_for(answers.has_ready, PATIENCE)
            if come:
                yield next(answers)
            else:
                self._wait(f"no worker is left at {self.address}; start some there and run again")

    def _failed(self, status: str, answer: Any) -> ClusterError:
        if status != "error":
            return ClusterError(f"the scheduler at {self.address} was lost; start it and run again")
        error: BaseException = answer[1]
        if type(error).__name__ == "KilledWorker":
            return ClusterError(
                "a part ended every worker that took it; give each worker more memory"
            )
        return self._lacking(error)

    def _lacking(self, error: BaseException) -> ClusterError:
        while error.__cause__ is not None:
            error = error.__cause__
        return ClusterError(
            f"a machine at {self.address} cannot do parts of this rnnbounds ({error}); "
            "install there what is installed here, and start its scheduler and workers again"
        )


def done(here: dict[str, str], asked: bytes) -> tuple[Exception | None, Any, int]:
    """What a worker does of one call: its error or None, its answer, and how many checks it made.

    What is asked is opened nowhere but there: the scheduler need not import it.
    """
    worker = _distributed().get_worker()
    if why := unfit(here, worker):  # it may have come when the run had begun
        return ClusterError(f"the worker {worker.address} {why}"), None, 0
    # Dask's own threads do, in the same process; Hypothesis draws from a generator of its own.
    warnings.filterwarnings("ignore", "Do not use the `random` module inside strategies")
    before = meter.total()
    return *outcome(*pickle.loads(asked)), meter.total() - before


def unfit(here: dict[str, str], dask_worker: Any) -> str:
    """Why a worker cannot take part in this run, and the remedy; empty if it can."""
    if told := difference(here, fingerprint()):
        return f"has {told}; install there what is installed here, and start it again"
    if (threads := dask_worker.state.nthreads) != 1:
        return f"does {threads} parts at a time; start it with --nthreads 1, and more of them"
    return ""


@contextmanager
def reached(address: str, workers: int) -> Iterator[Cluster]:
    """The cluster of the scheduler at an address, or one of so many processes here for ``local``.

    Raises:
        ClusterError: Dask is not installed, nobody answers there, or a worker is not fit.
    """
    if workers < 1 and address == LOCAL:
        raise ClusterError("a cluster needs workers; choose --workers 1 or more")
    distributed = _distributed()
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # of versions, which are checked here
        place: Any = address
        if address == LOCAL:
            os.environ.setdefault("PYTHONWARNINGS", LEFT)
            place = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=True, memory_limit=0,
                    dashboard_address=None, silence_logs=logging.CRITICAL + 1,
                    preload=[__name__],
                )
            )  # fmt: skip
        else:
            _check_address(address)
        try:
            client = distributed.Client(place, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} ({error}); start one with: dask scheduler"
            ) from None
        cluster = Cluster(address, stack.enter_context(client))
        cluster.check()
        yield cluster


def _check_address(address: str) -> None:
    """Raise ClusterError unless Dask can call there: a Client that cannot is never let go of."""
    addressing = import_module("distributed.comm.addressing")
    scheme, place = addressing.parse_address(address)
    try:
        host, port = addressing.parse_host_port(place)
    except ValueError:
        host, port = "", 0
    if not (scheme in SCHEMES and host.strip() and 0 < port < 2**16):
        raise ClusterError(
            f"{address!r} is no scheduler's address; give the one that dask scheduler prints, "
            f"such as tcp://127.0.0.1:8786, or {LOCAL}"
        )


def _distributed() -> Any:
    try:
        found = import_module("distributed")
    except ImportError:
        raise ClusterError(f"a cluster needs Dask; install it with: {EXTRA}") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)  # one line, and that is ours
    return found


def dask_setup(worker: Any) -> None:
    """What Dask calls in each process of a local cluster: it ends with the one that started it."""
    end_with(os.getppid())
