"""Work shared among processes, images of this one or fresh."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import worker_jobs
from worker_jobs import fail, square

from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs import workers
from rnnbounds.properties.runs.workers import WorkerError, alone, each, hired


def test_everything_is_done_once():
    """By other processes, as many as asked for and never more than there is work."""
    found = list(each(square, [(n,) for n in range(7)], 2))
    assert sorted(answer for answer, _ in found) == [n * n for n in range(7)]
    by = {process for _, process in found}
    assert os.getpid() not in by
    assert len(by) == 2
    assert list(each(square, [], 2)) == []


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("bug", KeyError, "bug"),
        ("input", InputError, "^one thing is wrong; do another$"),
        (
            "spec",
            InputError,
            "^no; copy the spec from a failure or from the page",
        ),
        ("dies", WorkerError, "was ended by signal 9; take fewer --workers if memory is short"),
        ("exits", WorkerError, "was ended with exit code 3"),
    ],
)
def test_what_goes_wrong_there_is_said_here(kind, error, text):
    """An error keeps its kind and its message; a process that dies is an error."""
    with pytest.raises(error, match=text):
        list(each(fail, [(kind,), (kind,)], 2))


@pytest.mark.slow
def test_a_worker_that_ends_while_nothing_is_asked_of_it_is_an_error():
    """As one does that ends at its work: a crew waits between two rounds. Who asks all the same has
    a fresh crew, as large."""
    calls = [(n,) for n in range(4)]
    with hired(2) as crew:
        assert len(list(crew.each(square, calls))) == 4
        for process in crew._crew.values():
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        with pytest.raises(WorkerError, match="was ended by signal 9"):
            list(crew.each(square, calls))
        assert len({process for _, process in crew.each(square, calls)}) == 2


@pytest.mark.slow
def test_a_fresh_crew_grows_with_its_work():
    """One call needs one process, and more calls need more, up to all that may be."""
    with hired(2, image=False) as crew:
        first, second = ({by for _, by in crew.each(square, [(n,) for n in range(count)])}
                         for count in (1, 5))  # fmt: skip
        assert len(first) == 1
        assert len(second) == 2
        assert first < second


def test_where_nobody_tells_of_threads_no_image_is_taken(monkeypatch, tmp_path):
    """In a jail without /proc workers are fresh."""
    monkeypatch.setattr(workers, "THREADS", tmp_path / "absent")
    assert not alone()


IMAGES = """
import threading, worker_jobs
from rnnbounds.properties.runs.workers import each
if __name__ == "__main__":
    worker_jobs.KEPT.append(1)
    {before}
    print(list(each(worker_jobs.kept, [()] * 3, 2)))
"""
SOLVED = """
import os, worker_jobs
from rnnbounds.properties.runs.workers import each
if __name__ == "__main__":
    (solver,) = each(worker_jobs.solver, [()], 1)
    try:
        os.kill(solver, 0)
    except ProcessLookupError:
        print("ended with it")
"""
FRESH = """
import signal, threading
if __name__ == "__main__":
    from rnnbounds.properties.runs.workers import each
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    print(list(each(abs, [(-1,)], 1)))
else:
    told = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    print({signal.SIGINT, signal.SIGTERM} <= told, flush=True)
"""


def told(tmp_path: Path, program: str) -> str:
    """What a program of its own prints."""
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
