"""Behaviour common to all executors: this process, a pool of processes, a cluster."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worker_jobs import fail, square

from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging import meter
from rnnbounds.properties.runs.executors.executor import Executor, TaskQueue
from rnnbounds.properties.runs.executors.pool import local_executor


@pytest.fixture(params=["here", "pool", "cluster"])
def executor(request: pytest.FixtureRequest):
    """One of each kind."""
    if request.param == "cluster":
        yield request.getfixturevalue("cluster")
        return
    with local_executor(2 if request.param == "pool" else 0) as found:
        yield found


def test_each_call_is_done_once(executor: Executor) -> None:
    """Any number of calls is done, twice in a row."""
    for count in (7, 0, 3):
        found = list(executor.map_calls(square, [(n,) for n in range(count)]))
        assert sorted(answer for answer, _ in found) == [n * n for n in range(count)]


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("bug", KeyError, "bug"),
        ("input", InputError, "^one thing is wrong; do another$"),
        ("spec", InputError, "^no; copy the spec from a failure or from the page"),
    ],
)
def test_an_error_keeps_its_type_and_message(executor: Executor, kind, error, text) -> None:
    """One that cannot be pickled has the nearest type that can."""
    with pytest.raises(error, match=text):
        list(executor.map_calls(fail, [(kind,), (kind,)]))


def test_checks_of_workers_are_counted_here(executor: Executor) -> None:
    """By the meter that the progress bar shows. A worker of this cluster is in this process, and
    counts once more."""
    before, here = meter.total_checks(), type(executor).__name__ == "Cluster"
    assert len(list(executor.map_calls(meter.add_checks, [(5,), (7,)]))) == 2
    assert meter.total_checks() - before == 12 * (1 + here)


def test_closing_ends_the_calls(executor: Executor) -> None:
    """Those that have not begun do not begin; the executor can be used again."""
    with closing(executor.map_calls(square, [(n,) for n in range(9)])) as answers:
        next(answers)
    assert len(list(executor.map_calls(square, [(n,) for n in range(3)]))) == 3


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 2), max_size=30))
def test_a_queue_keeps_workers_at_one_affinity(keys: list[int], turns: list[int]) -> None:
    """Each call is taken once, those of an affinity in their order. A worker goes on with its
    affinity while calls of it are left, and shares one only if no other is free."""
    calls = [(key, number) for number, key in enumerate(keys)]
    queue, at, taken = TaskQueue(calls, lambda call: call[0]), dict[int, int](), []
    for worker in turns + [0] * len(calls):
        left = {key for key, number in calls if (key, number) not in taken}
        others = {key for other, key in at.items() if other != worker}
        found = queue.take_call(at.get(worker), others)
        assert (found is None) == (not left)
        if found is None:
            break
        key, call = found
        if at.get(worker) in left:
            assert key == at[worker]
        elif left - others:
            assert key not in others
        at[worker] = key
        taken.append(call)
    assert sorted(taken) == sorted(calls)
    assert all(
        [call for call in taken if call[0] == key] == [call for call in calls if call[0] == key]
        for key in set(keys)
    )


def test_a_queue_without_affinity_keeps_the_order() -> None:
    """Calls are taken as they come."""
    queue, calls = TaskQueue([(n,) for n in range(5)]), []
    while found := queue.take_call(None, (None,)):
        calls.append(found[1])
    assert calls == [(n,) for n in range(5)]
