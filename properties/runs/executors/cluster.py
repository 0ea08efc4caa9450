"""Machines that share work: the workers of a Dask scheduler, for the time of one run.

Dask does again what a lost worker had begun, and a part is the same wherever it is done: the
answers are those that one process would give. A worker does one part at a time, since the precision
of ball arithmetic is its process's own; one that is not of the same code is refused, or retired if
it comes when the run has begun. One that is not heard of any more is retired too, once others are
there: Dask itself would wait for it for five minutes (its `worker-ttl`).
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import wait
from importlib import import_module
from itertools import count, islice
from typing import Any
from uuid import uuid4

from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging import meter
from rnnbounds.properties.runs.executors.executor import Affinity, Call, no_affinity
from rnnbounds.properties.runs.executors.processes import call_outcome
from rnnbounds.properties.runs.versions import describe_difference, fingerprint

# Seconds for a scheduler to answer, for a worker to come where none is, and from one look to the
# next, while no answer comes, at who was heard of: a heartbeat is due every second or two, but a
# worker that imports a room, or is deep in a library, may miss some.
TIMEOUT_SECONDS = 30
MAX_SILENT_CHECKS = 2  # after which a worker that was not heard of is taken for lost
SILENT_LEVEL = logging.CRITICAL + 1
MAX_SUBMITTED = 10_000  # calls that the scheduler knows of at once: it keeps some kilobytes of each
INSTALL_COMMAND = "pip install 'rnnbounds[cluster]'"


class ClusterError(InputError):
    """A cluster that does not do what is asked of it."""


class UnfitError(ClusterError):
    """A worker that cannot take part in a run."""


class Cluster:
    """The workers that were there when the run began, and those that come while it lasts; `tell` is
    told of those that it goes on without."""

    def __init__(
        self, address: str, client: Any, tell: Callable[[str], None] = lambda line: None
    ) -> None:
        self.address, self._client, self._tell = address, client, tell
        self._reported, self._retired = set[str](), 0

    @property
    def workers(self) -> int:
        """How many there are now."""
        return len(self._client.nthreads())

    def check(self) -> None:
        """Raise ClusterError unless a worker is there, and every one is fit for this run."""
        self._wait()
        for error in self._unfit_workers().values():
            raise error

    def map_calls(
        self, work: Callable[..., Any], calls: Iterable[Call], affinity: Affinity = no_affinity
    ) -> Generator[Any, None, None]:
        """As `Executor.map_calls`; the scheduler chooses the workers, whatever the affinity is.

        Calls that are not begun when the iteration is left are not begun any more. Raises
        ClusterError if a call ends the workers that do it, or all workers or the scheduler are
        lost, or none of them is fit.
        """
        run, numbers, remaining = uuid4().hex, count(), iter(calls)
        submitted = dict[str, tuple[Call, int]]()

        def submit(calls: Iterable[Call]) -> list[Any]:
            return [
                self._submit(f"rnnbounds-{run}-{next(numbers)}", work, c, submitted) for c in calls
            ]

        answers = import_dask().as_completed(
            submit(islice(remaining, MAX_SUBMITTED)), loop=self._client.loop, with_results=True,
            raise_errors=False,
        )  # fmt: skip
        try:
            while not answers.is_empty():
                self._wait_patiently(lambda: is_answer_ready(answers))
                future, answer = next(answers)
                call, retired = submitted.pop(future.key)
                repeats = self._must_repeat(answer, retired)
                future.release()
                answers.update(submit([call] if repeats else islice(remaining, 1)))
                if not repeats:
                    error, result, checks = answer
                    meter.add_checks(checks)
                    if error is not None:
                        raise error
                    yield result
        finally:
            for future in list(answers.futures):
                future.release()

    def _submit(
        self, key: str, work: Callable[..., Any], call: Call, submitted: dict[str, tuple[Call, int]]
    ) -> Any:
        """The future of a call, which is noted with how many workers were retired by then."""
        submitted[key] = call, self._retired
        try:
            arguments = fingerprint(), pickle.dumps((work, call))
            return self._client.submit(run_pickled_call, *arguments, key=key)
        except Exception:
            if self._client.status == "running":
                raise
            raise self._lost_error() from None

    def _wait_patiently(self, is_ready: Callable[[], bool]) -> None:
        """Until `is_ready`, which waits for a while, is true; as long as a worker is there, or
        comes in time. Those that are silent for some looks are retired."""
        observations = deque[Mapping[str, float]](maxlen=MAX_SILENT_CHECKS)
        while not is_ready():
            self._wait()
            heard, oldest = (
                self._last_heard(),
                observations[0] if len(observations) == MAX_SILENT_CHECKS else {},
            )
            observations.append(heard)
            silent = [worker for worker, at in heard.items() if oldest.get(worker) == at]
            for worker in silent:
                seconds = MAX_SILENT_CHECKS * TIMEOUT_SECONDS
                text = f"the worker {worker} has been silent for {seconds} s"
                if len(silent) < len(heard):
                    self._retire(worker, f"{text}; other workers do its parts; start it again")
                elif worker not in self._reported:
                    self._tell(f"{text}, and so have all others; start another to go on")
                    self._reported.add(worker)

    def _wait(self) -> None:
        """Raise ClusterError if no worker is there and none comes."""
        try:
            self._client.wait_for_workers(1, timeout=TIMEOUT_SECONDS)
        except TimeoutError:
            raise ClusterError(
                f"no worker is at the scheduler at {self.address}; start some there with: "
                f"dask worker {self.address} --nthreads 1"
            ) from None
        except OSError:  # the scheduler hung up on the question
            raise self._lost_error() from None

    def _last_heard(self) -> Mapping[str, float]:
        """When the scheduler has heard of each worker last, by its clock."""
        infos = self._client.scheduler_info(n_workers=-1).get("workers", {})
        return {worker: info["last_seen"] for worker, info in infos.items()}

    def _unfit_workers(self) -> dict[str, ClusterError]:
        """The workers that cannot take part in this run, and why."""
        request = asyncio.run_coroutine_threadsafe(
            self._client._run(unfit_reason, fingerprint(), on_error="return"),
            self._client.loop.asyncio_loop,
        )
        try:
            self._wait_patiently(lambda: bool(wait([request], TIMEOUT_SECONDS).done))
            reasons = request.result()
            connected = self._client.nthreads()
        except OSError:
            raise self._lost_error() from None
        finally:
            request.cancel()
        return {
            worker: self._missing_package_error(why)
            if isinstance(why, Exception)
            else UnfitError(f"the worker {worker} {why}")
            for worker, why in reasons.items()
            if why and worker in connected
        }

    def _must_repeat(self, answer: Any, retired: int) -> bool:
        """True if a call was not done and must be repeated, once unfit workers are retired; raises
        ClusterError if unfit workers do not explain the failure, or none is left.

        answer: from `run_pickled_call`; (type, error, traceback) if that could not be called or a
        worker was ended; a CancelledError if the scheduler is lost. retired: their number at the
        call.
        """
        if isinstance(answer, BaseException):
            raise self._lost_error()
        has_failed = isinstance(answer[0], type)
        if not has_failed and not isinstance(answer[0], UnfitError):
            return False
        if has_failed and answer[0].__name__ == "KilledWorker":
            raise ClusterError(
                "a part ended every worker that took it; give each worker more memory"
            )
        unfit_workers = self._unfit_workers()
        if has_failed and not unfit_workers and self._retired == retired:
            raise self._missing_package_error(answer[1])
        if unfit_workers and len(unfit_workers) >= self.workers:
            raise next(iter(unfit_workers.values()))
        for worker, error in unfit_workers.items():
            self._retire(worker, f"the run goes on without a worker: {error}")
        return True

    def _retire(self, worker: str, told: str) -> None:
        """Let the scheduler give its parts to others, as it does with those that it loses."""
        self._tell(told)
        self._retired += 1
        try:
            self._client.sync(
                self._client.scheduler.unregister, address=worker, stimulus_id=f"rnnbounds-{worker}"
            )
        except OSError:
            raise self._lost_error() from None

    def _lost_error(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self.address} was lost; start it and run again")

    def _missing_package_error(self, error: BaseException) -> ClusterError:
        while error.__cause__ is not None:
            error = error.__cause__
        return ClusterError(
            f"a machine at {self.address} cannot do parts of this run ({error}); install the "
            "packages of this machine there, and start its scheduler and workers again"
        )


def is_answer_ready(answers: Any) -> bool:
    """True if an answer is ready within PATIENCE seconds."""
    with answers.thread_condition:
        return bool(answers.thread_condition.wait_for(answers.has_ready, TIMEOUT_SECONDS))


def run_pickled_call(
    own_versions: dict[str, str], pickled: bytes
) -> tuple[Exception | None, Any, int]:
    """Execute one pickled call on a worker; return (error or None, answer, number of checks).

    The call is unpickled only here: the scheduler need not import it.
    """
    worker = import_dask().get_worker()
    if why := unfit_reason(own_versions, worker):  # it may have come when the run had begun
        return UnfitError(f"the worker {worker.address} {why}"), None, 0
    # Dask's own threads do, in the same process; Hypothesis draws from a generator of its own.
    warnings.filterwarnings("ignore", "Do not use the `random` module inside strategies")
    checks_before = meter.total_checks()
    return *call_outcome(*pickle.loads(pickled)), meter.total_checks() - checks_before


def unfit_reason(own_versions: dict[str, str], dask_worker: Any) -> str:
    """Why a worker cannot take part in this run, and the remedy; empty if it can."""
    if missing := describe_difference(own_versions, fingerprint()):
        return f"has {missing}; install the packages of this machine there, and start it again"
    if (threads := dask_worker.state.nthreads) != 1:
        return f"does {threads} parts at a time; start several workers with --nthreads 1"
    return ""


def import_dask() -> Any:
    """Dask's package, which says nothing by itself; raises ClusterError without it."""
    try:
        package = import_module("distributed")
    except ImportError:
        raise ClusterError(f"a cluster needs Dask; install it with: {INSTALL_COMMAND}") from None
    # One line is said, and that is ours. Dask sets a level for each of its loggers, whose parents
    # then say nothing of it.
    for name in ("asyncio", *list(logging.root.manager.loggerDict)):
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(SILENT_LEVEL)
    return package
