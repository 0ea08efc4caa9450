"""Room on the interpreter's stack."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from resource import RUSAGE_SELF, getrusage

from rnnbounds.properties.frames import SLOTS, with_large_frame
from rnnbounds.properties.runs.parts import run_part

CALLS, DEPTHS = 500, 200


def leaf() -> None:
    """Called in a loop; its frame is larger than those that lead to it."""


leaf.__code__ = leaf.__code__.replace(co_stacksize=64)


def pages(depth: int) -> int:
    """How many pages are fetched by calls from so deep."""
    if depth:
        return pages(depth - 1)
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        leaf()
    return getrusage(RUSAGE_SELF).ru_minflt - before


def most(start: Callable[[int], int]) -> int:
    """At the worst depth of a thread, which begins with a stretch of 16 KiB."""
    with ThreadPoolExecutor(1) as thread:
        return max(thread.map(start, range(DEPTHS)))


def test_no_depth_is_unlucky() -> None:
    """Somewhere each call fetches a page; not from a frame that has room."""
    assert most(pages) >= CALLS
    assert most(with_large_frame(pages)) < CALLS / 10


def test_parts_have_room() -> None:
    """Arguments, results and names pass through."""
    assert run_part.__code__.co_stacksize == SLOTS
    assert run_part.__name__ == "run_part"
    assert with_large_frame(divmod)(7, 4) == (1, 3)
