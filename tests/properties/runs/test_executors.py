"""One worker, two, and a cluster that loses one in the middle: one record. And what is refused."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import pytest
from dask import config
from distributed import Client, LocalCluster
from worker_jobs import drawn, fail, square

from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs import executors
from rnnbounds.properties.runs.executors import (
    WorkerError,
    answers,
    cluster_executor,
    local_executor,
    outcome,
)
from rnnbounds.properties.runs.parts import PartResult, chosen_claims, plan_parts
from rnnbounds.properties.runs.record import merge_record
from rnnbounds.properties.runs.run import run_parts
from rnnbounds.properties.runs.versions import describe_difference, fingerprint
from rnnbounds.reports.records.codec import encode
from rnnbounds.reports.records.outcome import without_environment

CLAIM, ATTACKS = "instability", ("extremal",)
PARTS = [
    part for part in plan_parts(chosen_claims([CLAIM]), ATTACKS, profile("quick")) if part.claims
]


def record(results: list[PartResult]) -> bytes:
    """The bytes of the record, but for times."""
    run = merge_record(
        results, claims=chosen_claims([CLAIM]), attacks=ATTACKS, profile="quick", seed=3
    )
    return encode(without_environment(run))


@pytest.fixture(scope="module")
def here() -> bytes:
    """The record of this process."""
    return record(run_parts(PARTS, profile="quick", seed=3))


@contextmanager
def dask(**options: Any) -> Iterator[LocalCluster]:
    """A real scheduler with workers in threads of this process, unless they are to be processes."""
    given = {"n_workers": 1, "threads_per_worker": 1, "processes": False} | options
    with LocalCluster(
        protocol="tcp://", dashboard_address=":0", silence_logs=100, memory_limit=0, **given
    ) as there:
        yield there


@pytest.mark.slow
def test_two_workers_write_the_same_record(here: bytes) -> None:
    """Byte for byte; errors are those of the work, and a worker that ends is told in a line."""
    with local_executor(2) as pool:
        assert record(run_parts(PARTS, profile="quick", seed=3, executor=pool)) == here
        found = dict(answers(pool, square, [(n,) for n in range(7)]))
        assert sorted(found) == [n * n for n in range(7)]
        assert os.getpid() not in found.values()
        assert list(answers(pool, drawn, [()])) == [drawn()]
        with pytest.raises(KeyError, match="bug"):
            list(answers(pool, fail, [("bug",)]))
        with pytest.raises(WorkerError, match="a worker process was ended in a part; take fewer"):
            list(answers(pool, fail, [("dies",), ("dies",)]))


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_no_record(here: bytes) -> None:
    """Another does its part again."""
    done = list[PartResult]()

    def kill(result: PartResult) -> None:
        done.append(result)
        if len(done) == 1:
            busy = [place for place, keys in client.processing().items() if keys]
            os.kill(client.run(os.getpid)[busy[0]], signal.SIGKILL)

    executors._fresh_processes()  # the workers are forks of it
    with (
        config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        dask(n_workers=2, processes=True) as there,
        Client(there, set_as_default=False) as client,
        cluster_executor(there.scheduler_address) as (executor, workers),
    ):
        assert workers == 2
        run_parts(PARTS, profile="quick", seed=3, executor=executor, progress=kill)
    assert len(done) == len(PARTS)
    assert record(done) == here


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("bug", KeyError, "bug"),
        ("input", InputError, "^one thing is wrong; do another$"),
        ("spec", InputError, "^no; copy the spec from a failure or from the page"),
    ],
)
def test_an_error_keeps_its_type_and_message(kind: str, error: type, text: str) -> None:
    """One that cannot be pickled has the nearest type that can."""
    told, answer = outcome(fingerprint(), fail, (kind,))
    assert isinstance(told, error)
    assert answer is None
    with pytest.raises(error, match=text):
        raise told


@pytest.fixture(scope="module")
def cluster() -> Iterator[Executor]:
    """One worker at a time."""
    with dask() as there, cluster_executor(there.scheduler_address) as (executor, _):
        yield executor


def test_a_worker_that_is_not_fit_ends_the_run(cluster: Executor, monkeypatch) -> None:
    """Of another version, or without the packages: in a line that says what differs."""
    assert [answer for answer, _ in answers(cluster, square, [(3,)])] == [9]
    mine = fingerprint()

    class Lacking:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return __import__, ("no_such_module",)

    with monkeypatch.context() as patch:
        told = iter([mine, mine | {"torch": "0.1"}])
        patch.setattr(executors, "fingerprint", lambda: next(told))
        with pytest.raises(WorkerError, match=r"^a worker has torch 0\.1 where this machine has"):
            list(answers(cluster, square, [(1,)]))
    with pytest.raises(WorkerError, match="; install the packages of this machine there, and"):
        list(answers(cluster, square, [(Lacking(),)]))


def test_a_worker_with_two_threads_is_refused() -> None:
    """They would change one another's precision."""
    with (
        dask(threads_per_worker=2) as there,
        cluster_executor(there.scheduler_address) as (executor, _),
        pytest.raises(WorkerError, match="a worker does 2 parts at a time; start several"),
    ):
        list(answers(executor, square, [(1,)]))


def test_who_is_not_there(monkeypatch, capfd) -> None:
    """No scheduler, no worker, no Dask, and what is no address: a line with the remedy alone."""
    addresses = ("", " ", "local", "a:b", "tcp://:1", "tcp://a:999999", "ftp://x:1", "tls://a:1")
    with monkeypatch.context() as patch:
        patch.setattr(executors, "TIMEOUT_SECONDS", 0.01)
        for address, text in {
            "tcp://127.0.0.1:1": "; start one with: dask scheduler$",
            **dict.fromkeys(addresses, "address; give the one that dask scheduler prints"),
        }.items():
            with pytest.raises(WorkerError, match=text), cluster_executor(address):
                pass
    wait, text = Client.wait_for_workers, r"start some there with: dask worker \S+ --nthreads 1$"
    monkeypatch.setattr(Client, "wait_for_workers", lambda self, n, **_: wait(self, n, 0.01))
    with dask(n_workers=0) as there:
        told = pytest.raises(WorkerError, match=text)
        with told, cluster_executor(there.scheduler_address):
            pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    told = pytest.raises(WorkerError, match=r"pip install 'rnnbounds\[cluster\]'$")
    with told, cluster_executor("tcp://127.0.0.1:1"):
        pass
    gc.collect()
    assert capfd.readouterr() == ("", "")


def test_a_scheduler_that_is_lost() -> None:
    """The parts it had are not waited for."""
    with dask() as there, cluster_executor(there.scheduler_address) as (executor, _):
        executor._client._timeout = 0.5  # seconds in which it looks for the scheduler again

        def calls() -> Iterator[tuple[int]]:
            yield (1,)
            there.close()
            yield (2,)

        with pytest.raises(WorkerError, match=r"^the scheduler was lost; start it and run again$"):
            list(answers(executor, square, calls()))
        # As the client does by itself, sooner or later; no other error is told then.
        executor._client.sync(executor._client._close)
        with pytest.raises(WorkerError, match=r"^the scheduler was lost; start it and run again$"):
            list(answers(executor, square, [(3,)]))


@pytest.mark.parametrize("name", ["distributed.client", "tornado.application", "asyncio"])
def test_dask_says_nothing_beside_our_line(name: str) -> None:
    """Of a scheduler that is lost it has dozens, by loggers that have levels of their own."""
    logging.getLogger(name).setLevel(logging.WARNING)
    executors.import_dask()
    assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)


def test_what_differs() -> None:
    """Every package that results depend on, and the code itself."""
    mine = fingerprint()
    assert {"rnnbounds", "torch", "numpy", "python"} <= mine.keys()
    assert describe_difference(mine, dict(mine)) == ""
    there = {name: version for name, version in mine.items() if name != "numpy"}
    found = describe_difference(mine, there)
    assert found == f"numpy not installed where this machine has {mine['numpy']}"
