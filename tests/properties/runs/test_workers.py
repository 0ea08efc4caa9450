"""Work shared among fresh processes."""

import os

import pytest
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
