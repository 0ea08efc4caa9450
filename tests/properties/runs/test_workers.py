"""Work shared among processes, images of this one or fresh."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import worker_jobs
from worker_jobs import fail, square

from properties.errors import InputError
from properties.runs.workers import WorkerError, each


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
            "^no; take the spec from a failure or from the page as it was",
        ),
        ("dies", WorkerError, "was ended by signal 9; take fewer --workers if memory is short"),
        ("exits", WorkerError, "was ended with exit code 3"),
    ],
)
def test_what_goes_wrong_there_is_said_here(kind, error, text):
    """An error keeps its kind and its message; a process that dies is an error."""
    with pytest.raises(error, match=text):
        list(each(fail, [(kind,), (kind,)], 2))


IMAGES = """
import threading, worker_jobs
from properties.runs.workers import each
if __name__ == "__main__":
    worker_jobs.KEPT.append(1)
    {before}
    print(list(each(worker_jobs.kept, [()] * 3, 2)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no image is taken")
@pytest.mark.parametrize(
    ("before", "found"),
    [("", [1]), ("threading.Thread(target=threading.Event().wait, daemon=True).start()", [])],
)
def test_images_are_taken_of_a_process_that_is_alone(tmp_path, before, found):
    """They begin with what it kept; beside another thread, whose locks they would have, none."""
    (tmp_path / "images.py").write_text(IMAGES.format(before=before))
    path = os.pathsep.join([str(Path(worker_jobs.__file__).parent), *sys.path])
    told = subprocess.run(
        [sys.executable, tmp_path / "images.py"], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert told.stdout == f"{[found] * 3}\n"
