"""Pools of processes, forked from this one or fresh."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import worker_jobs
from worker_jobs import fail, square

from rnnbounds.properties.runs.executors import processes
from rnnbounds.properties.runs.executors.pool import WorkerError, local_executor


def test_as_many_processes_as_asked():
    """None of which is this one."""
    with local_executor(2) as pool:
        by = {process for _, process in pool.map_calls(square, [(n,) for n in range(7)])}
    assert os.getpid() not in by
    assert len(by) == 2


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dies", "was ended by signal 9; take fewer --workers if memory is short"),
        ("exits", "was ended with exit code 3"),
    ],
)
def test_a_process_that_dies_is_an_error(kind, text):
    """Its signal or exit code is in the message."""
    with pytest.raises(WorkerError, match=text), local_executor(2) as pool:
        list(pool.map_calls(fail, [(kind,), (kind,)]))


@pytest.mark.slow
def test_a_worker_that_ends_while_nothing_is_asked_of_it_is_an_error():
    """As one does that ends at its work: a pool waits between two rounds. The next round has as
    many processes, fresh ones."""
    calls = [(n,) for n in range(4)]
    with local_executor(2) as pool:
        assert len(list(pool.map_calls(square, calls))) == 4
        for process in pool._processes.values():
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        with pytest.raises(WorkerError, match="was ended by signal 9"):
            list(pool.map_calls(square, calls))
        assert len({process for _, process in pool.map_calls(square, calls)}) == 2


@pytest.mark.slow
def test_fresh_processes_are_as_many_as_calls():
    """Up to all that may be."""
    with local_executor(2, fork=False) as pool:
        first, second = ({by for _, by in pool.map_calls(square, [(n,) for n in range(count)])}
                         for count in (1, 5))  # fmt: skip
        assert len(first) == 1
        assert len(second) == 2
        assert first < second


def test_without_a_list_of_threads_nothing_is_forked(monkeypatch, tmp_path):
    """In a container without /proc."""
    monkeypatch.setattr(processes, "THREAD_DIRECTORY", tmp_path / "absent")
    assert not processes.is_single_threaded()


IMAGES = """
import threading, worker_jobs
from rnnbounds.properties.runs.executors.pool import local_executor
if __name__ == "__main__":
    worker_jobs.KEPT.append(1)
    {before}
    with local_executor(2) as pool:
        print(list(pool.map_calls(worker_jobs.kept, [()] * 3)))
"""
SOLVED = """
import os, worker_jobs
from rnnbounds.properties.runs.executors.pool import local_executor
if __name__ == "__main__":
    with local_executor(2) as pool:
        (solver,) = pool.map_calls(worker_jobs.solver, [()])
    try:
        os.kill(solver, 0)
    except ProcessLookupError:
        print("ended with it")
"""
FRESH = """
import signal, threading
if __name__ == "__main__":
    from rnnbounds.properties.runs.executors.pool import local_executor
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    with local_executor(2) as pool:
        print(list(pool.map_calls(abs, [(-1,)])))
else:
    told = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    print({signal.SIGINT, signal.SIGTERM} <= told, flush=True)
"""


def told(tmp_path: Path, program: str) -> str:
    """Run a program and return the lines it prints."""
    (tmp_path / "program.py").write_text(program)
    path = os.pathsep.join([str(Path(worker_jobs.__file__).parent), *sys.path])
    run = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    return run.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no image is taken")
@pytest.mark.parametrize(
    ("before", "found"),
    [("", [1]), ("threading.Thread(target=threading.Event().wait, daemon=True).start()", [])],
)
def test_images_are_taken_of_a_process_that_is_alone(tmp_path, before, found):
    """They begin with what it kept; beside another thread, whose locks they would have, none."""
    assert told(tmp_path, IMAGES.format(before=before)) == f"{[found] * 3}\n"


@pytest.mark.slow
def test_the_solver_of_a_worker_ends_with_it(tmp_path):
    """An image runs nothing at its exit but what is asked for in it."""
    assert told(tmp_path, SOLVED) == "ended with it\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there signals cannot wait")
def test_ctrl_c_waits_while_a_fresh_worker_begins(tmp_path):
    """The first one too: it would end in the middle of its imports, in many lines."""
    assert told(tmp_path, FRESH) == "True\n[1]\n"
