"""A run goes on without workers that are not fit for it, or stop: others do their parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import Any

import pytest
from cluster_of_threads import threads
from distributed import get_worker
from worker_jobs import square

from rnnbounds.properties.runs.executors import cluster as module
from rnnbounds.properties.runs.executors.cluster import Cluster, ClusterError
from rnnbounds.properties.runs.executors.processes import call_outcome
from rnnbounds.properties.runs.executors.scheduler import connect_cluster


@contextmanager
def two(said: list[str]) -> Iterator[tuple[Cluster, str]]:
    """A cluster of two such workers, one of which is to fail; what is told goes into the list."""
    with (
        threads(n_workers=2) as there,
        connect_cluster(there.scheduler_address, 0, said.append) as found,
    ):
        yield found, there.workers[0].address


def test_a_worker_of_other_code_that_comes_late_is_retired(monkeypatch) -> None:
    """Its part is done by the other one, and it is told why."""
    said: list[str] = []
    with two(said) as (cluster, bad):
        monkeypatch.setattr(
            module,
            "unfit_reason",
            lambda here, dask_worker: "is old" if dask_worker.address == bad else "",
        )
        found = list(cluster.map_calls(square, [(n,) for n in range(9)]))
        assert sorted(answer for answer, _ in found) == [n * n for n in range(9)]
        assert said == [f"the run goes on without a worker: the worker {bad} is old"]
        assert bad not in cluster._client.nthreads()


def test_a_worker_that_lacks_what_is_asked_is_retired(monkeypatch) -> None:
    """It cannot even load that; which one that is, all are asked."""
    said: list[str] = []
    with two(said) as (cluster, bad):
        own = module.run_pickled_call

        def lacking(*given: Any) -> Any:
            if get_worker().address == bad:
                raise ImportError("no rnnbounds")
            return own(*given)

        monkeypatch.setattr(module, "run_pickled_call", lacking)
        monkeypatch.setattr(
            cluster, "_unfit_workers",
            lambda: {bad: ClusterError("no it")} if bad in cluster._client.nthreads() else {},
        )  # fmt: skip
        assert len(list(cluster.map_calls(square, [(n,) for n in range(9)]))) == 9
        assert said == ["the run goes on without a worker: no it"]


def test_no_worker_is_fit(cluster, monkeypatch) -> None:
    """Nobody is left to go on with: the reason ends the run."""
    monkeypatch.setattr(module, "unfit_reason", lambda here, dask_worker: "is old")
    with pytest.raises(ClusterError, match=r"^the worker tcp://\S+ is old$"):
        list(cluster.map_calls(square, [(1,)]))


def test_a_worker_that_stops_is_retired(monkeypatch) -> None:
    """It neither answers nor is heard of; its parts are done by the other one, and it is told."""
    said, go = list[str](), Event()
    with two(said) as (cluster, bad):
        seen, own = cluster._last_heard, call_outcome

        def stopping(*given: Any) -> Any:
            if get_worker().address == bad:
                go.wait()
            return own(*given)

        monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.01)
        monkeypatch.setattr(module, "call_outcome", stopping)
        monkeypatch.setattr(
            cluster, "_last_heard",
            lambda: {worker: 0.0 if worker == bad else monotonic() for worker in seen()},
        )  # fmt: skip
        try:
            found = list(cluster.map_calls(square, [(n,) for n in range(9)]))
        finally:
            go.set()
        assert sorted(answer for answer, _ in found) == [n * n for n in range(9)]
        silent = f"the worker {bad} has been silent for 0.02 s"
        assert said == [f"{silent}; other workers do its parts; start it again"]


def test_the_only_worker_that_stops_is_told_of_once(cluster, monkeypatch) -> None:
    """And waited for: it may go on."""
    said, looks = list[str](), iter([False] * 9)
    monkeypatch.setattr(cluster, "_tell", said.append)
    monkeypatch.setattr(cluster, "_last_heard", lambda: {"tcp://a:1": 3.0})
    cluster._wait_patiently(lambda: next(looks, True))
    (line,) = said
    assert line.startswith("the worker tcp://a:1 has been silent for 60 s, and so have all others")


def test_when_workers_were_heard_of(cluster) -> None:
    """By the scheduler's clock."""
    ((worker, at),) = cluster._last_heard().items()
    assert worker in cluster._client.nthreads()
    assert at > 0


def test_a_worker_that_stops_before_the_run_is_retired_too(monkeypatch) -> None:
    """Answers of a retired worker are not waited for: the scheduler hangs up on it."""
    said = list[str]()
    with two(said) as (cluster, bad):

        async def asked(*_: object, **__: object) -> dict[str, Any]:
            while bad in await cluster._client.scheduler.ncores(workers=None):
                await asyncio.sleep(0)
            return {bad: OSError("hung up"), cluster.address: ""}

        monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.01)
        monkeypatch.setattr(cluster._client, "_run", asked)
        monkeypatch.setattr(cluster, "_last_heard", lambda: {bad: 0.0, "tcp://a:1": monotonic()})
        cluster.check()
        assert len(said) == 1
