"""Parts on a Dask scheduler's workers: the record is that of one process, come what may."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import dask
import pytest
from cluster_of_threads import threads
from distributed import Client
from worker_jobs import die_once, fail, square

from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.runs.executors import cluster as module
from rnnbounds.properties.runs.executors.cluster import Cluster, ClusterError
from rnnbounds.properties.runs.executors.scheduler import connect_cluster
from rnnbounds.properties.runs.parts import PartResult, chosen_claims, plan_parts
from rnnbounds.properties.runs.record import merge_record
from rnnbounds.properties.runs.run import run_parts
from rnnbounds.properties.runs.versions import describe_difference, fingerprint
from rnnbounds.reports.records.outcome import without_environment
from rnnbounds.reports.records.record import Run

CLAIMS = ("certified-norm", "projection")
ATTACKS = ("extremal",)


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_no_record() -> None:
    """Another does its part again; two processes, one of which is killed while it has parts."""
    claims, done = chosen_claims(CLAIMS), list[PartResult]()
    parts = [part for part in plan_parts(claims, ATTACKS, profile("quick")) if part.claims]

    def record(results: list[PartResult]) -> Run:
        run = merge_record(
            results, claims=chosen_claims(CLAIMS), attacks=ATTACKS, profile="quick", seed=3
        )
        return without_environment(run)

    def kill(result: PartResult) -> None:
        done.append(result)
        if len(done) == 1:
            busy = [place for place, keys in client.processing().items() if keys]
            os.kill(client.run(os.getpid)[busy[0]], signal.SIGKILL)

    with connect_cluster("local", 2) as there:
        assert there.workers == 2
        client = there._client
        run_parts(parts, profile="quick", seed=3, executor=there, progress=kill)
    here = run_parts(parts, profile="quick", seed=3)
    assert len(done) == len(parts)
    assert record(done) == record(here)


@pytest.mark.slow
def test_a_process_that_dies_in_a_part(tmp_path) -> None:
    """Its part is done again, and its own death is no answer; what dies each time is told."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        connect_cluster("local", 1) as one,
    ):
        assert list(one.map_calls(die_once, [(str(tmp_path / "marker"), 7)])) == [7]
        with pytest.raises(ClusterError, match=r"a part ended every worker .* more memory"):
            list(one.map_calls(fail, [("dies",)]))


def test_everything_is_done_once(cluster, monkeypatch) -> None:
    """Though the scheduler is told of no more than two calls at a time."""
    monkeypatch.setattr(module, "MAX_SUBMITTED", 2)
    found = list(cluster.map_calls(square, [(n,) for n in range(7)]))
    assert sorted(answer for answer, _ in found) == [n * n for n in range(7)]
    assert list(cluster.map_calls(square, [])) == []


def test_a_run_that_is_left_begins_no_more(cluster, monkeypatch) -> None:
    """Calls that wait at the scheduler are forgotten as soon as the client's thread lets go."""

    async def forgotten() -> None:
        while cluster._client.futures:
            await asyncio.sleep(0)

    monkeypatch.setattr(module, "MAX_SUBMITTED", 3)
    with closing(cluster.map_calls(square, [(n,) for n in range(9)])) as answers:
        next(answers)
    del answers
    cluster._client.sync(forgotten, callback_timeout=30)


@pytest.mark.parametrize("early", [True, False])
def test_a_machine_without_this_rnnbounds(cluster, monkeypatch, early) -> None:
    """It cannot load what is asked of it: before the run, or when it comes late."""

    class Lacking:
        def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
            return __import__, ("no_such_module",)

    monkeypatch.setattr(module, "fingerprint", lambda: Lacking())
    with pytest.raises(ClusterError, match=r"no_such_module.*; install the packages"):
        cluster.check() if early else list(cluster.map_calls(square, [(1,)]))


def test_a_worker_of_another_version_is_refused(monkeypatch) -> None:
    """Before any work, in a line that says what differs."""
    mine = fingerprint()
    told = iter([mine, mine | {"torch": "0.1"}])
    monkeypatch.setattr(module, "fingerprint", lambda: next(told))
    with (
        threads() as there,
        pytest.raises(ClusterError, match=r"^the worker tcp://\S+ has torch 0\.1 where this"),
        connect_cluster(there.scheduler_address, 0),
    ):
        pass


@pytest.mark.parametrize(
    "name", ["distributed.client", "distributed.utils", "tornado.application", "asyncio"]
)
def test_dask_says_nothing_beside_our_line(name) -> None:
    """Of a scheduler that is lost it has dozens, by loggers that have levels of their own."""
    logging.getLogger(name).setLevel(logging.WARNING)
    module.import_dask()
    assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)


def test_a_worker_with_two_threads_is_refused() -> None:
    """They would change one another's precision."""
    with (
        threads(threads_per_worker=2) as there,
        pytest.raises(
            ClusterError, match="does 2 parts at a time; start several workers with --nthreads 1"
        ),
        connect_cluster(there.scheduler_address, 0),
    ):
        pass


def test_a_scheduler_without_workers(monkeypatch) -> None:
    """The remedy is the command that starts one."""
    with threads(n_workers=0) as there, Client(there, set_as_default=False) as client:
        monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.01)
        with pytest.raises(ClusterError, match=r"dask worker tcp://host:1 --nthreads 1$"):
            Cluster("tcp://host:1", client).check()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1"])
def test_nobody_answers(monkeypatch, address) -> None:
    """At the address."""
    monkeypatch.setattr("rnnbounds.properties.runs.executors.scheduler.TIMEOUT_SECONDS", 0.01)
    with (
        pytest.raises(ClusterError, match="; start one with: dask scheduler"),
        connect_cluster(address, 0),
    ):
        pass


def test_what_is_no_address(capfd) -> None:
    """Told in that line alone: Dask, which would tell more and wait, is not asked."""
    for address in (
        "", " ", "nonsense", "a:b", "tcp://", "tcp://:1", "tcp://a:99999", "ftp://x:1",
        "tls://127.0.0.1:1", "ucx://127.0.0.1:1",
    ):  # fmt: skip
        told = pytest.raises(ClusterError, match="is no scheduler's address; give")
        with told, connect_cluster(address, 0):
            pass
    gc.collect()
    assert capfd.readouterr() == ("", "")


def test_all_workers_are_lost(monkeypatch) -> None:
    """Nothing is waited for that nobody does."""
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.01)
    with threads(n_workers=0) as there, Client(there, set_as_default=False) as client:
        answers = Cluster("tcp://host:1", client).map_calls(square, [(4,)])
        with pytest.raises(ClusterError, match=r"no worker is at .* at tcp://host:1; start some"):
            next(answers)


def test_a_part_takes_as_long_as_it_likes(cluster, monkeypatch) -> None:
    """While a worker is there."""
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 1e-6)
    assert [answer for answer, _ in cluster.map_calls(square, [(3,)])] == [9]


def test_a_scheduler_that_is_lost() -> None:
    """The parts it had are not waited for."""
    with threads(n_workers=0) as there, Client(there, set_as_default=False) as client:

        def calls() -> Iterator[tuple[int]]:
            yield (1,)
            there.close()

        with pytest.raises(ClusterError, match=r"at tcp://host:1 was lost; start it and run again"):
            list(Cluster("tcp://host:1", client).map_calls(square, calls()))


def test_a_scheduler_that_is_lost_while_it_is_asked_for_workers(cluster, monkeypatch) -> None:
    """A missing package is reported in the same words."""

    def hang_up(*_: object, **__: object) -> None:
        raise OSError("closed")

    monkeypatch.setattr(cluster._client, "wait_for_workers", hang_up)
    with pytest.raises(ClusterError, match="was lost; start it and run again"):
        cluster.check()


def test_without_dask(monkeypatch) -> None:
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ClusterError, match=r"pip install 'rnnbounds\[cluster\]'$"),
        connect_cluster("x", 1),
    ):
        pass
    with (
        pytest.raises(ClusterError, match="choose --workers 1 or more"),
        connect_cluster("local", 0),
    ):
        pass


def test_what_differs() -> None:
    """Every package that results depend on, and the code itself."""
    here = fingerprint()
    assert {"rnnbounds", "torch", "numpy", "python"} <= here.keys()
    assert describe_difference(here, dict(here)) == ""
    there = {name: version for name, version in here.items() if name != "numpy"}
    assert (
        describe_difference(here, there)
        == f"numpy not installed where this machine has {here['numpy']}"
    )
